/* SPDX-License-Identifier: BSD-2-Clause */
/* quota: how many ways of a pair a limit keeps from the newcomers of others (I18). Asked only where a pair is full, or a hold
 * is to be stored. */
#ifndef WEIR_TABLE_QUOTA_H
#define WEIR_TABLE_QUOTA_H

#include "table/evict.h"
#include "table/recall.h"
#include "table/slot.h"

/* Ways, 1..8; 0: none. Of a row as it was copied out: more than 8 is never reached, and harmless. */
static inline unsigned quota_of(const struct ledger_row *row)
{
	return (unsigned)row->flags >> LEDGER_QUOTA_SHIFT & LEDGER_QUOTA_MAX;
}

/* Of a pair without a free way: which live entry goes for a newcomer of the row `mine`. First of the limits that have more
 * than their quota here, or none; then, or together with those if `mine` has its own quota already, of its own limit; only
 * where neither is to be had, of all. Among these the one in which the least is forgotten. *out as evict_choose's; what has
 * become free meanwhile is taken at once. */
void quota_choose(struct table *table, struct slot_pair *pair, const struct ledger_row *mine, uint64_t now,
		  struct evict_victim *out);

/* May the limit of the row `mine`, whose key holds nothing in this pair yet, hold something in it? Without a quota always;
 * else in at most so many ways, and, unless it has all eight, never in the last way that nobody holds. */
bool quota_may_hold(struct table *table, struct slot_pair *pair, const struct ledger_row *mine, uint64_t now);

#endif
