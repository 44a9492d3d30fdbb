/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_fill: where an entry belongs in a table of another size.
 *
 * The file keeps of a key's hash the tag and the pair. Pair i of N may be any of the pairs floor(i M / N) to
 * ceil((i + 1) M / N) - 1 of M: into a larger table an entry goes into each of them, one is the key's, and the
 * others are copies that nobody asks for and that recover. In a smaller one pairs are merged, and where more than
 * eight meet those stay in which the most would be forgotten (T6, as in evict.c).
 */
#include "table/cell.h"
#include "table/evict.h"
#include "table/given_latest.h"
#include "table/snapshot_file.h"
#include "table/snapshot_judge.h"
#include "table/snapshot_load.h"

void snapshot_pairs(uint64_t i, uint64_t from, uint64_t pairs, uint64_t *first, uint64_t *last)
{
	*first = (uint64_t)((wide)i * pairs / from);
	*last = (uint64_t)(((wide)(i + 1) * pairs + from - 1) / from) - 1;
}

static const struct snapshot_row *row_of(const struct snapshot_rows *rows, const struct slot *slot)
{
	return &rows->snapshot->rows[rows->place[slot_row(slot->w0)] - 1];
}

/* False: it or another one had no room. */
static bool put(const struct snapshot_rows *rows, struct slot_pair *pair, const struct snapshot_row *row,
		uint64_t w0, uint64_t w1, uint64_t now)
{
	struct slot *least = NULL;
	wide worth = 0;
	for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
		struct slot *slot = &pair->ways[way];
		if (slot->w0 == 0) {
			*slot = (struct slot){w0, w1};
			return true;
		}
		const struct snapshot_row *its = row_of(rows, slot);
		/* I1: the same key, a copy of an earlier enlargement, or forged */
		if (slot_has_tag(slot->w0, w0 & ~LAYOUT_ROW_MASK) && its->identity == row->identity &&
		    !((w1 ^ slot->w1) & CELL_MARK)) {
			if (snapshot_later(&its->numbers, &slot->w1, &row->numbers, w1, now))
				*slot = (struct slot){w0, w1};
			return true;
		}
		wide its_worth = evict_weight(&its->numbers, its->flags, slot->w1, now);
		if (!least || its_worth < worth) {
			least = slot;
			worth = its_worth;
		}
	}
	if (evict_weight(&row->numbers, row->flags, w1, now) > worth)
		*least = (struct slot){w0, w1};
	return false;
}

void snapshot_fill(const struct snapshot_rows *rows, struct table *table, uint64_t now,
		   struct table_restored *out)
{
	const struct snapshot *from = rows->snapshot;
	for (size_t i = 0; i < from->entry_count; i++) {
		struct snapshot_entry entry = from->entries[i];
		const struct snapshot_row *row = snapshot_row(from, slot_row(entry.w0));
		uint32_t number = row ? rows->number[row - from->rows] : 0;
		enum judged judged = JUDGED_REFUSED;
		if (number && entry.pair < from->pairs)
			judged = snapshot_judge(&row->numbers, entry.w0, &entry.w1, from->time, now);
		out->expired += judged == JUDGED_EXPIRED;
		out->refused += judged == JUDGED_REFUSED;
		if (judged != JUDGED_LIVE)
			continue;
		uint64_t first, last, w0 = (entry.w0 & ~LAYOUT_ROW_MASK) | number;
		bool crowded = false;
		given_latest(table, &row->numbers, entry.w1); /* I19: nobody sees the table yet */
		snapshot_pairs(entry.pair, from->pairs, table->pair_count, &first, &last);
		for (uint64_t at = first; at <= last; at++)
			crowded |= !put(rows, &table->pairs[at], row, w0, entry.w1, now);
		out->crowded += crowded;
		out->entries += !crowded;
	}
}
