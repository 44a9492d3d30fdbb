/* SPDX-License-Identifier: BSD-2-Clause */
/* forget: empty slots by hand (`weir reset`). An empty slot and a recovered one mean the same, so this may
 * happen at any moment of anyone's decision: their compare-and-swap fails and they look again. */
#include "table/probe.h"

#define TRIES 1024u

bool table_forget(struct table *table, const struct table_key *key)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);
	bool was_there = false;

	if (table->read_only)
		return false;
	/* One pass: a key that is decided on meanwhile may come back at once, and that is its right. */
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		struct slot *slot = &pair->ways[__builtin_ctz(mask)];
		for (unsigned try = 0; try < TRIES; try++) {
			uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
			if (!slot_has_tag(w0, tag))
				break;
			if (!atomic_cas_pair(&slot->w0, w0, w1, 0, 0)) /* I2 */
				continue;
			was_there |= !(w1 & LAYOUT_CLAIM);
			break;
		}
	}
	return was_there;
}

static bool forget_slot(struct table *table, struct slot *slot, uint64_t identity)
{
	for (unsigned try = 0; try < TRIES; try++) {
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		if (w0 == 0)
			return false;
		recall_fresh(table);
		const struct ledger_row *row = recall_row(table, slot_row(w0));
		if (recall_stale(table))
			continue;
		if (!row || row->identity != identity)
			return false;
		if (atomic_cas_pair(&slot->w0, w0, w1, 0, 0)) /* I2 */
			return !(w1 & LAYOUT_CLAIM);
	}
	return false;
}

uint64_t table_forget_limit(struct table *table, uint64_t identity)
{
	uint64_t count = 0;
	for (uint64_t i = 0; !table->read_only && i < table->pair_count; i++)
		for (unsigned way = 0; way < LAYOUT_WAYS; way++)
			count += forget_slot(table, &table->pairs[i].ways[way], identity);
	return count;
}
