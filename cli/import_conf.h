/* SPDX-License-Identifier: BSD-2-Clause */
/* import_conf: an nginx configuration as a tree of directives, each with its place; nothing is understood yet. The bytes may be
 * anything: files, their size, depth and the number of directives are bounded. Memory is the arena's. */
#ifndef WEIR_CLI_IMPORT_CONF_H
#define WEIR_CLI_IMPORT_CONF_H

#include "policy/arena.h"

#define CONF_FILES_MAX	    2000u
#define CONF_FILE_MAX	    ((size_t)16 << 20)
#define CONF_DIRECTIVES_MAX 200000u
#define CONF_ENTRIES_MAX    20000u /* of a map or geo; a longer one is left out whole, and does not count */
#define CONF_DEPTH_MAX	    64u	   /* of blocks, and of files that include each other */

struct conf_place {
	const char *file; /* as it is shown */
	unsigned order;	  /* of the file among those read */
	unsigned line, column;
};

struct conf_directive {
	struct conf_place place;
	struct text *words; /* the name and its arguments, unquoted; at least one */
	size_t count;
	bool block;
	bool cut; /* more entries than CONF_ENTRIES_MAX: it has no children */
	bool lua; /* a block of Lua, which limits by resty.limit */
	struct conf_directive *children, *next;
};

/* Files that could not be read: nginx would not start, but the file may be absent only from here. */
struct conf_unread {
	struct conf_place place; /* of the include line */
	const char *name, *why;
	struct conf_unread *next;
};

struct conf {
	struct arena *arena;
	const char *first; /* file, as it was named */
	const char *
		folder; /* of the first file, with its slash; "" the current one: what includes are relative to */
	bool no_files; /* include reads nothing */
	unsigned files, directives, depth;
	const struct conf_stack *stack; /* the files being read */
	struct conf_directive *list;	/* the map or geo whose entries are being read; NULL: none */
	unsigned list_end;		/* how many directives there may be when it is read */
	struct conf_unread *unread;
	/* the first mistake of the syntax; message NULL: none */
	struct conf_place wrong_at;
	const char *message;
};

/* Reads `path` and all that it includes. NULL after a mistake (conf->message) or if it cannot be read (conf->unread);
 * an empty file gives an empty block named "". */
struct conf_directive *conf_read(struct conf *conf, const char *path);
/* The same of a text that is called `name`. */
struct conf_directive *conf_read_text(struct conf *conf, struct text text, const char *name);

/* The directives of one text, appended at *tail; false after a mistake. */
bool conf_parse(struct conf *conf, struct text text, const char *name, struct conf_directive ***tail);
/* Appends what an include line brings in. */
bool conf_include(struct conf *conf, const struct conf_directive *line, struct conf_directive ***tail);
/* Notes the first mistake; always false. */
bool conf_wrong(struct conf *conf, struct conf_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static inline bool conf_is(const struct conf_directive *directive, const char *name)
{
	return text_equal(directive->words[0], text_of(name));
}
/* The last child of that name; NULL: none. */
const struct conf_directive *conf_last(const struct conf_directive *block, const char *name);

#endif
