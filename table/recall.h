/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recall: ledger rows as a decision sees them: private copies, checked once.
 *
 * A row that was freed and given to other numbers raises the epoch in the header before any slot can
 * carry it again (I8). So: recall_fresh before one's own row is looked up, recall_stale after a row that
 * was read out of a slot.
 */
#ifndef WEIR_TABLE_RECALL_H
#define WEIR_TABLE_RECALL_H

#include "table/atomic.h"
#include "table/handle.h"

/* Not remembered yet: copies the row out of the ledger. NULL: no such row, damaged, or no memory. */
const struct ledger_row *recall_load(struct table *table, uint32_t row);
/* Forgets every row: the epoch has changed. Memory stays, so pointers stay readable. */
void recall_forget(struct table *table);

static inline bool recall_stale(const struct table *table)
{
	return atomic_get(&table->header->published.ledger_epoch) != table->ledger.epoch;
}

static inline void recall_fresh(struct table *table)
{
	if (__builtin_expect(recall_stale(table), 0))
		recall_forget(table);
}

/* If it is remembered. `row` may come from anywhere. */
static inline const struct ledger_row *recall_known(const struct table *table, uint32_t row)
{
	if (row > LAYOUT_ROW_MASK)
		return NULL;
	const struct ledger_row *chunk = table->ledger.chunks[row / HANDLE_CHUNK_ROWS];
	if (__builtin_expect(chunk != NULL && chunk[row % HANDLE_CHUNK_ROWS].generation != 0, 1))
		return &chunk[row % HANDLE_CHUNK_ROWS];
	return NULL;
}

/* I5: does `its`, the row of a slot, judge instead of `mine`, the asker's? If somebody decides by a newer policy already: so does
 * everybody, for this counter. Rows of different plans are never older or newer: each client is judged by his own. */
static inline bool recall_newer(const struct ledger_row *its, const struct ledger_row *mine)
{
	return its->generation > mine->generation && its->plan == mine->plan;
}

/* The pointer is good until recall_forget. */
static inline const struct ledger_row *recall_row(struct table *table, uint32_t row)
{
	const struct ledger_row *known = recall_known(table, row);
	return known ? known : recall_load(table, row);
}

#endif
