/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: the sliding log. N in every window of its length, wherever it starts.
 *
 * Each admitted unit is a cell (cell.h) that says when it ends; a cell is taken only if it is absent or has ended,
 * so no window anywhere holds more than N, whoever races and is killed when. The word under the key itself
 * (the ring word) only says where to look. Semantics and proofs: table/DESIGN.md, "Logs".
 */
#ifndef WEIR_TABLE_LOG_H
#define WEIR_TABLE_LOG_H

#include "table/table.h"

struct log_taken {	/* what a charge took, for giving it back */
	uint32_t cell;	/* the first of its cells; the others follow it, not always at once */
	uint64_t stamp; /* table time at which its cells end, under the numbers of the look */
};

/* Would it fit? Writes nothing. *out as table_peek: numbers, state (the ring word), allowed, used, fits_at, empty_at. */
void log_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
	      uint32_t cost, struct table_look *out);

/* Takes `cost` cells, or none. `taken` may be NULL. TABLE_REFUSED: look says when it fits. A cost of 0 is a peek. */
enum table_charge log_charge(struct table *table, const struct table_key *key, uint32_t row,
			     const struct algo_time *t, uint32_t cost, struct log_taken *taken,
			     struct table_look *out);

/* Gives back at most `cost` of what was taken: cells that have ended, or are gone, owe nothing; and in a log of more than
 * 1,024 none is given back: it ends in its time. A hole makes every charge read all the cells for as long as a
 * window, which is some 20 us there and would be 10 ms at 60,000. To give back a part of it, say how much; the rest stays, and can be given back later with the same `taken`. */
void log_uncharge(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		  const struct log_taken *taken, uint32_t cost);

/* The stamp of what was charged at `charged_at`, if nobody with a clock ahead of it had been there before. */
uint64_t log_stamp(const struct algo_numbers *numbers, uint64_t charged_at);

#endif
