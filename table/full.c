/* SPDX-License-Identifier: BSD-2-Clause */
/* full: asked by those outside, when a charge has found no room, or whether one would. */
#include "table/full.h"

#include "table/evict.h"
#include "table/probe.h"
#include "table/recall.h"

enum table_full table_on_full(struct table *table, uint32_t row)
{
	recall_fresh(table);
	const struct ledger_row *mine = recall_row(table, row);
	return mine ? full_wants(mine) : TABLE_EVICT;
}

#define TRIES 8u /* the ledger moves on when a policy is published */

bool table_peek_room(struct table *table, const struct table_key *key, uint32_t row,
		     const struct algo_time *t)
{
	struct slot_pair *pair = slot_pair(table, key);
	for (unsigned try = 0; try < TRIES; try++) {
		struct probe at;
		struct evict_victim victim;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, row);
		if (!mine)
			break;
		enum probe_found found = probe_find(table, pair, slot_tag(key), row, mine, t, &at);
		if (found == PROBE_FOUND)
			break;
		if (found == PROBE_ABSENT && evict_choose(table, pair, mine, t->now, &victim))
			return victim.slot && (victim.kind != EVICT_LIVE || full_wants(mine) == TABLE_EVICT);
	}
	return true;
}
