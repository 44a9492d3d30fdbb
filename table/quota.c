/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quota: limits that share a table, and do not share their ways.
 *
 * By what would be forgotten alone, a flood of used up keys of one limit pushes out everybody who is limited by another, and
 * what is held, which nobody may push out, fills pairs until nothing can be counted in them. So each limit with a quota
 * has its part of every pair for sure, and the rest for as long as nobody asks for it.
 */
#include "table/quota.h"

struct way { /* as read at one moment: live or held */
	struct slot *slot;
	uint64_t w0, w1;
	const struct ledger_row *row; /* NULL: a hold of a row nobody knows */
	bool held;		      /* never to be evicted */
};

static unsigned ways_of(const struct way *ways, uint64_t identity)
{
	unsigned count = 0;
	for (unsigned i = 0; i < LAYOUT_WAYS; i++)
		count += ways[i].row && ways[i].row->identity == identity;
	return count;
}

/* The lower, the sooner it goes. */
static unsigned order_of(const struct way *ways, const struct ledger_row *its, const struct ledger_row *mine)
{
	if (its->identity == mine->identity)
		return ways_of(ways, its->identity) < quota_of(mine);
	unsigned quota = quota_of(its);
	return quota == 0 || ways_of(ways, its->identity) > quota ? 0 : 2;
}

void quota_choose(struct table *table, struct slot_pair *pair, const struct ledger_row *mine, uint64_t now,
		  struct evict_victim *out)
{
	struct way ways[LAYOUT_WAYS];
	unsigned first = 0;
	wide least = 0;
	for (unsigned i = 0; i < LAYOUT_WAYS; i++) {
		struct slot *slot = &pair->ways[i];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		const struct ledger_row *row = recall_row(table, slot_row(w0));
		enum evict_kind kind = evict_judge(table, row, w0, w1, now);
		if (kind < EVICT_LIVE) {
			*out = (struct evict_victim){slot, w0, w1, kind};
			return;
		}
		ways[i] = (struct way){slot, w0, w1, row, kind == EVICT_NEVER};
	}
	out->slot = NULL;
	for (const struct way *way = ways; way < ways + LAYOUT_WAYS; way++) {
		if (way->held)
			continue;
		unsigned order = order_of(ways, way->row, mine);
		wide worth = evict_weight(&way->row->numbers, way->row->flags, way->w1, now);
		if (out->slot && (order > first || (order == first && worth >= least)))
			continue;
		*out = (struct evict_victim){way->slot, way->w0, way->w1, EVICT_LIVE};
		first = order;
		least = worth;
	}
}

bool quota_may_hold(struct table *table, struct slot_pair *pair, const struct ledger_row *mine, uint64_t now)
{
	unsigned quota = quota_of(mine), all = 0, own = 0;
	for (unsigned i = 0; quota > 0 && i < LAYOUT_WAYS; i++) {
		uint64_t w0 = atomic_get(&pair->ways[i].w0), w1 = atomic_get(&pair->ways[i].w1);
		const struct ledger_row *row = recall_row(table, slot_row(w0));
		if (evict_judge(table, row, w0, w1, now) != EVICT_NEVER)
			continue;
		all++;
		own += row && row->identity == mine->identity;
	}
	return quota == 0 || (own < quota && (all < LAYOUT_WAYS - 1 || quota >= LAYOUT_WAYS));
}
