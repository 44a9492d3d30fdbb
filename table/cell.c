/* SPDX-License-Identifier: BSD-2-Clause */
/* cell: find one among its eight candidates, and store it by one compare-and-swap. */
#include "table/cell.h"

#include "table/insert.h"

static uint64_t cell_mark(bool hold)
{
	return hold ? CELL_MARKS : CELL_MARK;
}

enum probe_found cell_find(struct table *table, const struct table_key *derived, bool hold, uint32_t row,
			   const struct ledger_row *mine, struct cell *out)
{
	struct slot_pair *pair = slot_pair(table, derived);
	uint64_t tag = slot_tag(derived), want = cell_mark(hold);

	*out = (struct cell){.keep = tag | row, .row = mine};
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		struct slot *slot = &pair->ways[__builtin_ctz(mask)];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		if (!slot_has_tag(w0, tag) || (w1 & (LAYOUT_CLAIM | CELL_MARKS)) != want)
			continue;
		const struct ledger_row *its = mine;
		if (slot_row(w0) != row) {
			its = recall_row(table, slot_row(w0));
			if (recall_stale(table))
				return PROBE_STALE;
			if (its && its->identity != mine->identity) /* a tag two keys share: one in 2^40 */
				continue;
		}
		if (!slot_still(slot, w0, w1)) /* torn */
			return PROBE_STALE;
		/* I5: the older publication, and another plan, gives way; a row nobody knows is damage, and replaced. */
		bool newer = its && recall_newer(its, mine);
		*out = (struct cell){slot, w0, w1, newer ? w0 : tag | row, its};
		return PROBE_FOUND;
	}
	return PROBE_ABSENT;
}

bool cell_remove(const struct cell *cell)
{
	return atomic_cas_pair(&cell->slot->w0, cell->w0, cell->w1, 0, 0); /* I2 */
}

enum cell_stored cell_store(struct table *table, const struct table_key *derived, bool hold, uint32_t row,
			    const struct ledger_row *mine, const struct cell *cell, uint64_t data,
			    uint64_t now)
{
	uint64_t word = cell_mark(hold) | (data & CELL_DATA), tag = slot_tag(derived);
	struct insert_claim claim;

	if (cell->slot) /* I2, I5: from what was judged */
		return atomic_cas_pair(&cell->slot->w0, cell->w0, cell->w1, cell->keep, word) ? CELL_STORED
											      : CELL_CHANGED;
	enum insert_made made = insert_try(table, slot_pair(table, derived), tag, row, mine, cell_mark(hold),
					   now, &claim);
	if (made != INSERT_MADE)
		return made == INSERT_FULL ? CELL_NO_ROOM : CELL_CHANGED;
	/* I1: only from the very claim that was looked around from. */
	if (!atomic_cas_pair(&claim.slot->w0, claim.w0, claim.w1, tag | row, word))
		return CELL_CHANGED;
	stats_add(&table->area->process.inserted, 1);
	return CELL_STORED;
}
