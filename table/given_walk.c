/* SPDX-License-Identifier: BSD-2-Clause */
/* given_walk: who is banned, slot by slot, without a name. */
#include "algo/ban.h"
#include "table/cell.h"
#include "table/given.h"
#include "table/recall.h"

uint64_t table_bans_each(struct table *table, uint64_t now,
			 void (*each)(void *context, uint64_t identity, uint64_t until), void *context)
{
	uint64_t count = 0;
	recall_fresh(table);
	for (uint64_t i = 0; i < table->pair_count; i++)
		for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
			const struct slot *slot = &table->pairs[i].ways[way];
			uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
			if (w0 == 0 || !cell_is_counter(w1))
				continue;
			const struct ledger_row *row = recall_row(table, slot_row(w0));
			if (!row || row->numbers.kind != ALGO_BAN || now >= ban_until(w1) ||
			    !slot_still(slot, w0, w1))
				continue;
			count++;
			each(context, row->identity, ban_until(w1));
		}
	return count;
}
