/* SPDX-License-Identifier: BSD-2-Clause */
/* probe: find a key's charged slot among its eight candidates, and read it under the right numbers (T2). */
#ifndef WEIR_TABLE_PROBE_H
#define WEIR_TABLE_PROBE_H

#include "table/recall.h"
#include "table/slot.h"

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

/* The slot's row is not the caller's: is it the same counter, and who judges? `at` has slot, w0, w1; the rest
 * is filled. PROBE_ABSENT: another counter's slot. */
enum probe_found probe_other(struct table *table, const struct ledger_row *mine, uint32_t row,
			     const struct algo_time *t, struct probe *at);

/* Is the slot of this counter? The tag is equal already. A row nobody knows is damage; the tag says whose. */
bool probe_same(struct table *table, const struct ledger_row *mine, uint32_t row, uint64_t w0);

static inline enum probe_found probe_find(struct table *table, struct slot_pair *pair, uint64_t tag,
					  uint32_t row, const struct ledger_row *mine,
					  const struct algo_time *t, struct probe *at)
{
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		at->slot = &pair->ways[__builtin_ctz(mask)];
		at->w0 = atomic_get(&at->slot->w0);
		at->w1 = atomic_get(&at->slot->w1);
		if (at->w1 & LAYOUT_CLAIM) /* nobody has charged it: it holds nothing (I3) */
			continue;
		if (__builtin_expect((at->w0 ^ tag) == row, 1)) {
			at->keep = at->w0;
			at->state = at->w1;
			at->numbers = &mine->numbers;
			at->converted = false;
			return PROBE_FOUND;
		}
		if (!slot_has_tag(at->w0, tag)) /* taken by another key since the compare */
			continue;
		enum probe_found found = probe_other(table, mine, row, t, at);
		if (found != PROBE_ABSENT)
			return found;
	}
	return PROBE_ABSENT;
}

#endif
