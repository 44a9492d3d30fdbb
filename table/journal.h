/* SPDX-License-Identifier: BSD-2-Clause */
/* journal: what has changed since a base, appended batch by batch. For the keeper. */
#ifndef WEIR_TABLE_JOURNAL_H
#define WEIR_TABLE_JOURNAL_H

#include "table/snapshot_file.h"

struct journal {
	int fd;		 /* -1: none */
	uint64_t base;	 /* which it belongs to */
	uint64_t end;	 /* what stands before it is on disk and whole */
	uint64_t number; /* of the next batch */
};

/* An empty one for a base that is in place, instead of the one before. On failure journal->fd is -1. */
enum weir_error journal_begin(struct journal *journal, const struct snapshot_place *place, uint64_t base,
			      const struct why *why);
void journal_end(struct journal *journal);

/* Appends what differs, and waits until it is on disk. Both are sorted as snapshot_take sorts; they are of the same table.
 * *changes: entries and rows written; if there are none nothing is written, unless `always`. On failure what
 * was there before is as it was, and the next attempt writes over what is left of this one. */
enum weir_error journal_append(struct journal *journal, const struct snapshot *before,
			       const struct snapshot *after, bool always, uint64_t *changes,
			       const struct why *why);

#endif
