/* SPDX-License-Identifier: BSD-2-Clause */
/* source: the bytes of one policy file, checked to be text. */
#ifndef WEIR_POLICY_SOURCE_H
#define WEIR_POLICY_SOURCE_H

#include <sys/types.h>

#include "policy/model.h"

#define SOURCE_FILE_MAX	    ((size_t)4 << 20)  /* of one file */
#define SOURCE_TOTAL_MAX    ((size_t)64 << 20) /* of a policy with all its includes */
#define SOURCE_INCLUDES_MAX 1000u

struct load;

struct source {
	const char *name; /* as the user named it; a mark's `file` is this very pointer */
	struct text text; /* UTF-8 without a byte order mark; its lines end in LF, CR LF or CR */
	dev_t device;
	ino_t inode;		       /* 0: not a file */
	const struct source *includer; /* NULL: the policy file itself */
};

/* Reads a whole file of at most `max` bytes into the arena. False, with the system's or our reason in *why,
 * if it cannot be read. `source` (NULL for pages and lists) gets device and inode. Only the policy itself, a
 * source that nothing includes, may be "-" (standard input) or a pipe. */
bool source_slurp(struct load *load, const char *path, size_t max, struct text *out, struct source *source,
		  const char **why);

/* A new source: the file `name`, or `text` under that name if text.data is set. NULL if there was a finding,
 * which stands at `mark` (an include line) or, if mark.file is NULL, at the file's first line. */
struct source *source_read(struct load *load, const char *name, struct text text,
			   const struct source *includer, struct model_mark mark);

/* `path` as seen from the folder of the file `from`, in the arena. */
const char *source_beside(struct load *load, const char *from, struct text path);

/* Line number `line` (from 1) without its end; empty if there is none. */
struct text source_line(const struct source *source, unsigned line);

#endif
