/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control: keeps a table's policy equal to its file. It watches the file with its includes and pages; an edit
 * that checks is published, one that does not is reported and changes nothing. It stands off the request
 * path: doors go on deciding without it.
 *
 * One thread, no loop of its own: whoever runs it (weir control, weir run) polls and calls control_work.
 */
#ifndef WEIR_CONTROL_CONTROL_H
#define WEIR_CONTROL_CONTROL_H

#include "table/table.h"

struct control; /* opaque */

struct control_options {
	const char *policy; /* absolute path; NULL: nothing is published, the table is only written down */
	const char *table;  /* the table's path; the file may come and go, its folder must be there */
	/* Where the table is written down each second, and a last time by control_close; NULL: nowhere. */
	const char *snapshot;
	const char *last_good; /* folder for the last good source; NULL: the table's path + ".last-good" */
	const char *
		said; /* findings that were told already (policy_findings_text): not again until they change; or NULL */
	/* What happened, one line without its end each. */
	void (*say)(void *context, const char *line);
	void *context;
};

/* Takes the table's control lock. Nothing is read or published yet. On failure NULL with a sentence in `why`.
 */
struct control *control_open(const struct control_options *options, char *why, size_t size);
/* Gives the lock up; what is published stays. */
void control_close(struct control **control);

/* For poll(2): readable when a file may have changed; -1: none. */
int control_descriptor(const struct control *control);
/* How long to wait at most before control_work, in ms. now_ms: any monotonic clock, the same in every call.
 */
int control_timeout(const struct control *control, uint64_t now_ms);
/* Does what is due: at its first call reads and publishes. */
void control_work(struct control *control, uint64_t now_ms);

/* How many edits without errors have been read since control_open. */
uint64_t control_edits(const struct control *control);
/* True after the policy's file has been read without errors since control_open, until the next broken edit.
 */
bool control_sound(const struct control *control);

#endif
