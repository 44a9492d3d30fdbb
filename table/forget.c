/* SPDX-License-Identifier: BSD-2-Clause */
/* forget: empty slots by hand (`weir reset`). An empty slot and a recovered one mean the same, so this may
 * happen at any moment of anyone's decision: their compare-and-swap fails and they look again. */
#include "table/evict.h"
#include "table/log_ring.h"

#define TRIES 1024u

/* One pass: a key that is decided on meanwhile may come back at once, and that is its right. */
static bool forget_word(struct table *table, const struct table_key *key)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);
	bool was_there = false;
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		struct slot *slot = &pair->ways[__builtin_ctz(mask)];
		for (unsigned try = 0; try < TRIES; try++) {
			uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
			if (!slot_has_tag(w0, tag) || cell_is(w1))
				break;
			if (!atomic_cas_pair(&slot->w0, w0, w1, 0, 0)) /* I2 */
				continue;
			was_there |= !(w1 & LAYOUT_CLAIM);
			break;
		}
	}
	return was_there;
}

/* The row of a slot that bears the tag and is a log's; `mark` 0: its ring word, else a cell of it. */
static const struct ledger_row *log_row(struct table *table, const struct table_key *key, uint64_t mark,
					uint32_t *number)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		struct slot *slot = &pair->ways[__builtin_ctz(mask)];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		if (!slot_has_tag(w0, tag) || (w1 & (LAYOUT_CLAIM | CELL_MARKS)) != mark)
			continue;
		const struct ledger_row *row = recall_row(table, slot_row(w0));
		if (row && row->numbers.kind == ALGO_SLIDING_LOG) {
			*number = slot_row(w0);
			return row;
		}
	}
	return NULL;
}

/* Cells first: if we are killed, the ring word still says that there is something to forget. One whose ring word is
 * gone is known by its first cell. */
static bool forget_cells(struct table *table, const struct table_key *key)
{
	struct table_key first = cell_key(key, false, 0);
	uint32_t number;
	recall_fresh(table);
	const struct ledger_row *row = log_row(table, key, 0, &number);
	if (!row)
		row = log_row(table, &first, CELL_MARK, &number);
	if (!row)
		return false;
	struct log_view view = {.table = table, .key = key, .row = number, .mine = row};
	view.count = (uint32_t)row->numbers.capacity;
	view.period = row->numbers.scale;
	return log_forget(&view) > 0;
}

bool table_forget(struct table *table, const struct table_key *key)
{
	if (table->read_only)
		return false;
	bool had_cells = forget_cells(table, key);
	return forget_word(table, key) || had_cells;
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
		if (!row || row->identity != identity || cell_is_hold(w1))
			return false;
		if (atomic_cas_pair(&slot->w0, w0, w1, 0, 0)) /* I2 */
			return cell_is_counter(w1);
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
