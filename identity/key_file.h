/* SPDX-License-Identifier: BSD-2-Clause */
/* key_file: a file of keys, read when it is another than it was. */
#ifndef WEIR_IDENTITY_KEY_FILE_H
#define WEIR_IDENTITY_KEY_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "policy/text.h"

struct key_file {
	const char *path;
	size_t max;	  /* bytes */
	struct stat seen; /* how it was when it was read last, or failed to be */
	int error;	  /* errno of that; 0: it was there */
};

/* Is it another than at the last reading? One stat. */
bool key_file_changed(const struct key_file *file);
/* The whole of it; *bytes is the caller's: key_file_free. False: `why` (a sentence without the file's name). Whoever could write it
 * could make keys, so it must be a regular file of root's, of our own user's or of its folder's owner's, which neither its group nor others may
 * write. Symbolic links are followed (so are files given to containers, and swapped); what counts is the file at their end, and its folder.
 * file->seen is how it was before the first byte was read. */
bool key_file_read(struct key_file *file, struct text *bytes, char *why, size_t size);
void key_file_free(struct text *bytes); /* wiped */
/* May others than its owner and group read it? */
bool key_file_is_open(const struct key_file *file);

#endif
