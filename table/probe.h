/* SPDX-License-Identifier: BSD-2-Clause */
/* probe: find a key's charged slot among its eight candidates, and read it under the right numbers (T2). */
#ifndef WEIR_TABLE_PROBE_H
#define WEIR_TABLE_PROBE_H

#include "table/recall.h"
#include "table/slot.h"

#define PROBE_MARKED                                                                                         \
	(UINT64_C(1) << 62) /* from here on a word is no counter's: a claim, or a cell (cell.h) */

struct probe { /* a charged slot of the key, as read at one moment */
	struct slot *slot;
	uint64_t w0, w1;		    /* what it held */
	uint64_t keep;			    /* w0 to store with a new state: tag and row */
	uint64_t state;			    /* under `numbers` */
	const struct algo_numbers *numbers; /* to judge by */
	bool converted;			    /* `state` was carried over from the slot's row to the caller's */
};

enum probe_found {
	PROBE_ABSENT,
	PROBE_FOUND,
	PROBE_STALE, /* the ledger has moved on: recall_fresh, and begin again */
};

/* What is told of a key that cannot be judged (no such row, no room, no end of tries): it is as if it were absent. */
static inline void probe_unknown(struct table_look *out)
{
	*out = (struct table_look){.allowed = true};
}

/* The slot's row is not the caller's: is it the same counter, and who judges? `at` has slot, w0, w1; the rest
 * is filled. PROBE_ABSENT: another counter's slot. */
enum probe_found probe_other(struct table *table, const struct ledger_row *mine, uint32_t row,
			     const struct algo_time *t, struct probe *at);

/* Is the slot of this counter? The tag is equal already. A row nobody knows is damage; the tag says whose. */
bool probe_same(struct table *table, const struct ledger_row *mine, uint32_t row, uint64_t w0);

/* Absent: *at has the caller's numbers and a recovered word. */
static inline __attribute__((always_inline)) enum probe_found
probe_find(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row,
	   const struct ledger_row *mine, const struct algo_time *t, struct probe *at)
{
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		struct slot *slot = &pair->ways[__builtin_ctz(mask)];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		if (w1 >= PROBE_MARKED) /* nobody has charged it: it holds nothing (I3); or a cell */
			continue;
		if (__builtin_expect((w0 ^ tag) == row, 1)) {
			*at = (struct probe){slot, w0, w1, w0, w1, &mine->numbers, false};
			return PROBE_FOUND;
		}
		if (!slot_has_tag(w0, tag)) /* taken by another key since the compare */
			continue;
		struct probe other = {.slot = slot, .w0 = w0, .w1 = w1}; /* *at stays in registers */
		enum probe_found found = probe_other(table, mine, row, t, &other);
		*at = other;
		if (found != PROBE_ABSENT)
			return found;
	}
	*at = (struct probe){.keep = tag | row, .numbers = &mine->numbers}; /* absent is recovered */
	return PROBE_ABSENT;
}

#endif
