/* SPDX-License-Identifier: BSD-2-Clause */
/* probe: the rare half: the slot was written under a row other than the caller's. */
#include "table/probe.h"

enum probe_found probe_other(struct table *table, const struct ledger_row *mine, uint32_t row,
			     const struct algo_time *t, struct probe *at)
{
	const struct ledger_row *its = recall_row(table, slot_row(at->w0));
	if (recall_stale(table))
		return PROBE_STALE;
	if (its && its->identity != mine->identity) /* a tag two keys share: one in 2^40 */
		return PROBE_ABSENT;
	at->keep = (at->w0 & ~LAYOUT_ROW_MASK) | row;
	at->converted = true;
	at->numbers = &mine->numbers;
	if (!its) {
		/* Damage: a row nobody wrote. What it counted cannot be known. It is replaced in place and
		 * not passed over, so that the key never has two slots (I1). */
		at->state = 0;
	} else if (recall_newer(its, mine)) {
		/* Someone already decides by a newer policy than ours: so do we, for this counter. The other
		 * way round, two processes would convert it to and fro, rounding up each time. */
		at->keep = at->w0;
		at->state = at->w1;
		at->numbers = &its->numbers;
		at->converted = false;
	} else {
		at->state = algo_convert(&its->numbers, &mine->numbers, at->w1, t);
	}
	return PROBE_FOUND;
}

bool probe_same(struct table *table, const struct ledger_row *mine, uint32_t row, uint64_t w0)
{
	if (slot_row(w0) == row)
		return true;
	const struct ledger_row *its = recall_row(table, slot_row(w0));
	return !its || its->identity == mine->identity;
}
