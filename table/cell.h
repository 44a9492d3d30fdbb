/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell: a slot that holds one part of a counter: an admission of a log (log.c), or what one process holds of a
 * key (hold.c). Cells are ordinary slots under keys of their own, derived from the counter's key, so inserting,
 * evicting, snapshots and kills are what they are for every slot; only the word is another:
 *
 *   bit 63  claim, as everywhere      bit 62  1: a cell      bit 61  1: a hold, 0: an admission of a log
 */
#ifndef WEIR_TABLE_CELL_H
#define WEIR_TABLE_CELL_H

#include "table/probe.h"

#define CELL_MARK  PROBE_MARKED
#define CELL_HOLD  (UINT64_C(1) << 61)
#define CELL_MARKS (CELL_MARK | CELL_HOLD)
#define CELL_DATA  (CELL_HOLD - 1) /* what a cell says: 61 bits */

static inline bool cell_is(uint64_t w1)
{
	return (w1 & (LAYOUT_CLAIM | CELL_MARK)) == CELL_MARK;
}

static inline bool cell_is_hold(uint64_t w1)
{
	return (w1 & (LAYOUT_CLAIM | CELL_MARKS)) == CELL_MARKS;
}

/* Bits that a counter's word never has: neither claim nor cell. */
static inline bool cell_is_counter(uint64_t w1)
{
	return w1 < CELL_MARK;
}

/* Bits that nobody can choose: the key is a keyed hash already, so an unkeyed mix of it and a small number will
 * do (splitmix64's finaliser). */
static inline uint64_t cell_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* The key of a log's cell `number`, or of what process slot `number` holds. */
static inline struct table_key cell_key(const struct table_key *key, bool hold, uint32_t number)
{
	uint64_t step = ((uint64_t)number + 1) * UINT64_C(0x9e3779b97f4a7c15) + hold;
	uint64_t line = cell_mix(key->line_word + step);
	return (struct table_key){.tag_word = cell_mix(key->tag_word ^ line), .line_word = line};
}

struct cell {			      /* as read at one moment */
	struct slot *slot;	      /* NULL: absent */
	uint64_t w0, w1;	      /* what it held */
	uint64_t keep;		      /* w0 to store: tag, and the newer of both rows */
	const struct ledger_row *row; /* the one it was written under; the caller's if absent; NULL: damage */
};

/* Finds the cell of a derived key. `mine`: the row `row`. PROBE_STALE: begin again after recall_fresh. */
enum probe_found cell_find(struct table *table, const struct table_key *derived, bool hold, uint32_t row,
			   const struct ledger_row *mine, struct cell *out);

/* Makes it absent. False: it has changed. */
bool cell_remove(const struct cell *cell);

enum cell_stored {
	CELL_STORED,
	CELL_CHANGED, /* not what was read: look again */
	CELL_NO_ROOM, /* absent, and no slot to be had (insert.h) */
};
/* Puts `data` in its place, or into a new slot if it was absent (I1, I2). */
enum cell_stored cell_store(struct table *table, const struct table_key *derived, bool hold, uint32_t row,
			    const struct ledger_row *mine, const struct cell *cell, uint64_t data,
			    uint64_t now);

#endif
