/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evict: the slot in which the least is forgotten goes (T6).
 *
 * The word itself says how much is used and when it recovers, so a slot needs neither a use bit nor a list.
 * The worth of a live slot is (share of the capacity used)^2 * (time until it has recovered). Among counters
 * of the same bucket this is their order of recovery, and a flood of keys that are touched once each
 * displaces only others of its kind. Time alone would not do across limits: a single touch of 10,000 a day
 * recovers hours after a client that has used up 5 a minute, who would be freed by inventing keys of the
 * other limit. Nor would the share times the time (the even refill of a day would still hold 8.64 s for each
 * touch): the square makes that touch worth 0.9 ms, and the limited client 60 s.
 */
#include "table/evict.h"

#include "algo/wide.h"
#include "table/hold.h"
#include "table/log_ring.h"

static bool is_log(const struct ledger_row *row)
{
	return row->numbers.kind == ALGO_SLIDING_LOG;
}

/* Nothing is remembered in it any more. A row nobody knows is damage, worth nothing. A cell of a log ends as its own
 * row says: like every counter, it is under new numbers only when somebody has asked for its key. */
static bool recovered(const struct ledger_row *row, uint64_t w1, uint64_t now)
{
	if (!row)
		return true;
	if (cell_is(w1))
		return !is_log(row) || log_cell_end(w1) <= now;
	return is_log(row) ? log_ring_until(w1) <= now : algo_recovered(&row->numbers, w1, now);
}

enum evict_kind evict_judge(struct table *table, const struct ledger_row *row, uint64_t w0, uint64_t w1,
			    uint64_t now)
{
	if (w0 == 0)
		return EVICT_EMPTY;
	if (w1 & LAYOUT_CLAIM)
		return EVICT_CLAIM;
	if (cell_is_hold(w1))
		return hold_dead(table, w1, now) ? EVICT_RECOVERED : EVICT_NEVER;
	return recovered(row, w1, now) ? EVICT_RECOVERED : EVICT_LIVE;
}

/* At most 2^64 * 2^64. The rank can be a little early, but a live slot has time left. A cell of a log weighs what
 * was used with its admission, and the ring word what was used with the newest: it outlives its cells. */
static wide worth(const struct algo_numbers *numbers, uint64_t w1, uint64_t now)
{
	uint64_t used, at;
	if (cell_is(w1)) {
		used = UINT32_MAX >> log_cell_share(w1);
		at = log_cell_end(w1);
	} else if (numbers->kind == ALGO_SLIDING_LOG) {
		used = UINT32_MAX >> log_ring_share(w1);
		at = log_ring_until(w1);
	} else {
		used = algo_used(numbers, w1, now);
		at = algo_rank(numbers, w1);
	}
	return (wide)(used * used) * (at > now ? at - now : 1);
}

bool evict_choose(struct table *table, struct slot_pair *pair, uint64_t now, struct evict_victim *out)
{
	wide least = 0;
	out->slot = NULL;
	for (unsigned i = 0; i < LAYOUT_WAYS; i++) {
		struct slot *slot = &pair->ways[i];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		const struct ledger_row *row = recall_row(table, slot_row(w0));
		enum evict_kind kind = evict_judge(table, row, w0, w1, now);
		if (kind == EVICT_NEVER || (out->slot && kind > out->kind))
			continue;
		wide rank = kind == EVICT_LIVE ? worth(&row->numbers, w1, now) : 0;
		if (out->slot && kind == out->kind && rank >= least)
			continue;
		*out = (struct evict_victim){slot, w0, w1, kind};
		least = rank;
		if (kind == EVICT_EMPTY)
			break;
	}
	return !recall_stale(table);
}
