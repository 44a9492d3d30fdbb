/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_load: a snapshot's counters into a table that nobody else sees yet, and the ledger they need. */
#ifndef WEIR_TABLE_SNAPSHOT_LOAD_H
#define WEIR_TABLE_SNAPSHOT_LOAD_H

#include "table/file.h"
#include "table/snapshot.h"

/* The rows of a snapshot that can be believed, and the numbers they get. */
struct snapshot_rows {
	const struct snapshot *snapshot;
	uint32_t *number; /* of each row of the snapshot in the new ledger; 0: refused */
	uint32_t *place;  /* of each number: which row of the snapshot, from 1; 0: none */
	uint32_t count;	  /* numbers there are, 0 included */
	uint32_t newest;  /* generation */
};
/* Rows keep their numbers, unless these are so large that the ledger would be mostly holes (not with `keep`). False: out
 * of memory. */
bool snapshot_rows(const struct snapshot *snapshot, bool keep, struct snapshot_rows *out);
void snapshot_rows_free(struct snapshot_rows *rows);

/* Puts the entries that are live at `now` into the private table's slots. Fills the counts of *out. */
void snapshot_fill(const struct snapshot_rows *rows, struct table *table, uint64_t now,
		   struct table_restored *out);

/* The pairs of a table of `pairs` pairs that pair i of `from` may be: *first to *last. i < from. */
void snapshot_pairs(uint64_t i, uint64_t from, uint64_t pairs, uint64_t *first, uint64_t *last);

/* Makes the ledger of the private table, and its statistics entries, and names it in place of any that is there. */
enum weir_error snapshot_ledger(const struct snapshot_rows *rows, struct table *table, int folder,
				const char *name, const struct why *why);
/* Is the ledger that lies there this table's already (a resizing)? Then rows that it has otherwise are refused. */
bool snapshot_share_ledger(struct snapshot_rows *rows, struct table *table, int folder, const char *name);

#endif
