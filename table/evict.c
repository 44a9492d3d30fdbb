/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evict: the slot that recovers soonest goes (T6).
 *
 * The word itself says when it recovers, so a slot needs neither a use bit nor a list. A flood of keys
 * that are touched once each displaces only others of its kind: a throttled key recovers later than they.
 */
#include "table/evict.h"

#include "table/recall.h"
#include "table/slot.h"

static enum evict_kind judge(struct table *table, uint64_t w0, uint64_t w1, uint64_t now, uint64_t *rank)
{
	*rank = 0;
	if (w0 == 0)
		return EVICT_EMPTY;
	if (w1 & LAYOUT_CLAIM)
		return EVICT_CLAIM;
	const struct ledger_row *row = recall_row(table, slot_row(w0));
	if (!row || algo_recovered(&row->numbers, w1, now)) /* a row nobody knows: damage, worth nothing */
		return EVICT_RECOVERED;
	*rank = algo_rank(&row->numbers, w1);
	return EVICT_LIVE;
}

bool evict_choose(struct table *table, struct slot_pair *pair, uint64_t now, struct evict_victim *out)
{
	uint64_t best_rank = 0;
	out->slot = NULL;
	for (unsigned i = 0; i < LAYOUT_WAYS; i++) {
		struct slot *slot = &pair->ways[i];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1), rank;
		enum evict_kind kind = judge(table, w0, w1, now, &rank);
		if (out->slot && (kind > out->kind || (kind == out->kind && rank >= best_rank)))
			continue;
		*out = (struct evict_victim){slot, w0, w1, kind};
		best_rank = rank;
		if (kind == EVICT_EMPTY)
			break;
	}
	return !recall_stale(table);
}
