/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy: from a YAML file to a published image.
 *
 *   policy_load      read, check, compile; findings on the way    (anyone)
 *   policy_publish   rows from the ledger, rename, generation      (publisher, gate)
 *   policy_current   read the published image                      (every door)
 */
#ifndef WEIR_POLICY_POLICY_H
#define WEIR_POLICY_POLICY_H

#include "policy/image.h"
#include "table/table.h"

#define POLICY_FINDINGS_MAX 20

enum policy_severity { POLICY_ERROR, POLICY_WARNING };
struct policy_finding {
	enum policy_severity severity;
	const char *file;	      /* as the user named it */
	unsigned line, column, width; /* from 1; width of the underlined text, at least 1 */
	char *message;		      /* one sentence, with a suggestion where there is one */
	char *source;		      /* the line itself, or NULL */
};

struct policy { /* what policy_load gives; free with policy_free */
	/* NULL if there was an error; rows not yet assigned; malloc()ed, image->size bytes */
	struct image *image;
	struct policy_finding findings[POLICY_FINDINGS_MAX]; /* in order of place */
	size_t finding_count;				     /* kept */
	size_t errors, warnings;			     /* found in all, kept or not */
	/* For a watcher, NULL-terminated: every file read (the policy, includes, pages), and the folders that
	 * the patterns of includes look into. */
	char **files, **folders;
};

struct policy_options {
	const char *path;	/* the policy file, "-": standard input */
	const char *text;	/* if set: the text itself; path is only its name */
	const char *name_space; /* part of every counter's identity; "policy" by default */
	const char *to;		/* `weir run --to`: the backend, instead of the file's */
	const char *instead_of,
		*instead; /* a file, as policy.files names it, and the text to read in its place; NULL: none */
	int64_t wall; /* seconds since 1970: judges `until`, reads zones from then on, becomes compiled_at; 0: now */
};
/* Never fails but by findings (an unreadable file is one). */
void policy_load(const struct policy_options *options, struct policy *out);
void policy_free(struct policy *policy);
/* As `weir check` prints them: one finding a line, with source and caret; a count if some were left out. */
char *policy_findings_text(const struct policy *policy); /* malloc()ed */

/* Sentences for each limit: what it says, and its worst case ("at most 9 in any minute, 5 at once"). One a
 * line, malloc()ed. */
char *policy_read_aloud(const struct image *image);

/* Schema: as Markdown (docs/policy.md) and JSON Schema (`weir schema`). malloc()ed. */
char *policy_schema_markdown(void);
char *policy_schema_json(void);

struct publish_report {
	uint64_t generation;
	bool unchanged;	    /* the very same image was already current: nothing was done */
	uint32_t converted; /* counters whose numbers changed and are carried over */
	uint32_t started;   /* counters that the old image does not have (a new limit, or key) */
	uint32_t dropped;   /* counters of the old image that the new one no longer has */
	uint32_t anew; /* lines of words that say of a limit that its counters begin anew; they stand first */
	char words[1024]; /* the same in sentences, naming limits, one a line without the last newline */
};
/* Publishes a copy of `image`: assigns rows, writes path.policy privately, renames it, sets the generation.
 * Atomic: a reader sees the old or the new one; on any error nothing has changed. Waits at most `wait_ms` for
 * another publisher (one that is stopped holds its lock for as long): then WEIR_BUSY. Who answers requests
 * waits next to nothing and tries again later. */
enum weir_error policy_publish_within(struct table *table, const struct image *image, unsigned wait_ms,
				      struct publish_report *report, char *why, size_t size);
/* The same with the patience of a command: 5 s. */
enum weir_error policy_publish(struct table *table, const struct image *image, struct publish_report *report,
			       char *why, size_t size);

/* The published image in memory of our own (small, and nobody can cut it short under us); the process's own
 * reference count (not for threads). */
struct policy_image {
	const struct image *image;
	size_t size;
	unsigned references;
};
/* Reads what is published now and verifies it: image, checksum, its rows in the ledger. *out has one
 * reference. It is never older than table_generation was before the call, but can be newer (a publisher tells
 * last, and may be killed before): remember the generation read before the call, and call again when that has
 * changed. */
enum weir_error policy_current(struct table *table, struct policy_image **out, char *why, size_t size);
/* Of an image that was mapped before, for who has given its slot back meanwhile (table_retire, table_resume) and so held
 * no generation: do all its rows still stand? If so its generation is held again. No ledger is waited for longer than
 * 20 ms: false then, too. */
bool policy_take_up(struct table *table, const struct image *image);
struct policy_image *policy_hold(struct policy_image *image);
void policy_drop(struct policy_image **image); /* NULL-safe; frees at the last one */

#endif
