/* SPDX-License-Identifier: BSD-2-Clause */
/* find_slot: the pairs that the place may mean, one or (in tables of more than 2 GiB) several. */
#include "table/find_slot.h"

#include "table/cell.h"
#include "table/slot.h"

static bool is_it(const struct slot *slot, uint32_t tag, uint64_t *w0, uint64_t *w1)
{
	*w0 = atomic_get(&slot->w0);
	*w1 = atomic_get(&slot->w1);
	return *w0 && (uint32_t)(*w0 >> LAYOUT_ROW_BITS) == tag && cell_is_counter(*w1) &&
	       slot_still(slot, *w0, *w1);
}

bool find_slot(struct table *table, uint64_t part, struct found_slot *out)
{
	struct table_key key = {.line_word = part << 40};
	uint64_t first = slot_pair_index(table, &key), last, w0, w1;
	uint32_t tag = (uint32_t)(part >> 24);

	key.line_word |= (UINT64_C(1) << 40) - 1;
	last = slot_pair_index(table, &key);
	for (uint64_t i = first; i <= last; i++)
		for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
			const struct ledger_row *row;

			if (!is_it(&table->pairs[i].ways[way], tag, &w0, &w1))
				continue;
			row = ledger_row(table, slot_row(w0));
			if (!row)
				continue;
			out->row = *row;
			out->word = w1;
			return true;
		}
	return false;
}
