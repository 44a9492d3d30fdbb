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

#include "algo/ban.h"
#include "table/hold.h"
#include "table/log_ring.h"
#include "table/quota.h"

#define BANNED ((wide)1 << 126) /* a ban that holds is worth more than all that is counted */

uint64_t evict_end(const struct algo_numbers *numbers, uint64_t w1)
{
	if (cell_is(w1))
		return log_cell_end(w1);
	return numbers->kind == ALGO_SLIDING_LOG ? log_ring_until(w1) : algo_rank(numbers, w1);
}

bool evict_recovered(const struct algo_numbers *numbers, uint64_t w1, uint64_t now)
{
	if (numbers->kind == ALGO_SLIDING_LOG)
		return evict_end(numbers, w1) <= now;
	return cell_is(w1) || algo_recovered(numbers, w1, now);
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
	/* A row nobody knows is damage, worth nothing. */
	return !row || evict_recovered(&row->numbers, w1, now) ? EVICT_RECOVERED : EVICT_LIVE;
}

wide evict_worth(const struct algo_numbers *numbers, uint64_t w1, uint64_t now)
{
	uint64_t used, end = evict_end(numbers, w1);
	if (cell_is(w1))
		used = UINT32_MAX >> log_cell_share(w1);
	else if (numbers->kind == ALGO_SLIDING_LOG)
		used = UINT32_MAX >> log_ring_share(w1);
	else
		used = algo_used(numbers, w1, now);
	wide worth = (wide)(used * used) * (end > now ? end - now : 1); /* below 2^64 * 2^62 */
	return numbers->kind == ALGO_BAN && now < ban_until(w1) ? worth + BANNED : worth;
}

bool evict_choose(struct table *table, struct slot_pair *pair, const struct ledger_row *mine, uint64_t now,
		  struct evict_victim *out)
{
	unsigned quotas = 0;
	wide least = 0;
	out->slot = NULL;
	for (unsigned i = 0; i < LAYOUT_WAYS; i++) {
		struct slot *slot = &pair->ways[i];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		const struct ledger_row *row = recall_row(table, slot_row(w0));
		enum evict_kind kind = evict_judge(table, row, w0, w1, now);
		if (kind == EVICT_NEVER || (out->slot && kind > out->kind))
			continue;
		if (kind == EVICT_LIVE)
			quotas |= quota_of(row);
		wide rank = kind == EVICT_LIVE ? evict_weight(&row->numbers, row->flags, w1, now) : 0;
		if (out->slot && kind == out->kind && rank >= least)
			continue;
		*out = (struct evict_victim){slot, w0, w1, kind};
		least = rank;
		if (kind == EVICT_EMPTY)
			break;
	}
	if (__builtin_expect(quotas && out->kind == EVICT_LIVE, 0))
		quota_choose(table, pair, mine, now, out);
	return !recall_stale(table);
}
