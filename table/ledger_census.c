/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger_census: which rows can be given to other numbers.
 *
 * A row is free when no slot carries it and nobody can write it any more (I8). Who can write a row? A process whose
 * image names it: that image is at least as new as the generation the process holds. A process that found it in a
 * slot: that only puts it back where it is. Or one that settles a reservation by the row its own hold carries, which
 * may be older than every image: that writes to the key's slots the hold's row, or a newer one that is found there of
 * the same counter, and then the hold may go. So the slots are looked at twice, and holds count for all rows of
 * their counter. Once would not do: the key's slot is looked at, the settlement puts the row there, another key
 * takes the slot of the hold, and that is looked at.
 *
 * Let a row be last named by a generation older than everything published or held, and the first look find no hold of
 * its counter that carries such a row. No new hold comes to carry one, so after that look there is none; a settlement
 * lowers its hold when it has written (I14), so nobody writes our row anywhere new after that look. What the second
 * look does not find is carried by no slot ever after.
 */
#include <stdlib.h>

#include "table/hold.h"
#include "table/ledger_file.h"

/* Oldest generation whose image anyone may still use. A process that has not said yet (0) keeps everything;
 * but the publisher's own handle, which decides nothing until it says so, does not keep what it is about to
 * free. */
static uint64_t oldest_held(struct table *table)
{
	/* In one order with hold_current: either we see their hold, or they see our generation. */
	uint64_t oldest = atomic_get_ordered(&table->header->published.generation);
	for (uint32_t i = 0; i < table->process_slots; i++) {
		uint64_t held = atomic_get_ordered(&table->processes[i].held);
		bool own = table->process && i == table->process_index;
		if (held < oldest && !(own && held == 0) && process_alive(table, i))
			oldest = held;
	}
	return oldest;
}

struct marks { /* a bit for each row there can be */
	unsigned char carried[(LEDGER_ROW_MAX + 1u) / 8], held[(LEDGER_ROW_MAX + 1u) / 8];
};

static bool marked(const unsigned char *bits, uint32_t row)
{
	return bits[row / 8] >> row % 8 & 1;
}

static void mark(unsigned char *bits, uint32_t row)
{
	bits[row / 8] |= (unsigned char)(1u << row % 8);
}

static void mark_slots(const struct table *table, struct marks *marks)
{
	for (uint64_t i = 0; i < table->pair_count; i++)
		for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
			const struct slot *slot = &table->pairs[i].ways[way];
			uint64_t w0 = atomic_get(&slot->w0);
			mark(marks->carried, slot_row(w0));
			uint64_t w1 = atomic_get(&slot->w1);
			if (cell_is_hold(w1) && hold_units(w1))
				mark(marks->held, slot_row(w0));
		}
}

static struct ledger_row *row_at(const struct ledger_writer *writer, uint32_t row)
{
	return &ledger_block(writer->map, row)->rows[row % LEDGER_BLOCK_ROWS];
}

/* Nobody who decides can name it. */
static bool is_old(const struct ledger_writer *writer, uint32_t row, uint64_t oldest)
{
	return row_at(writer, row)->generation != 0 &&
	       ledger_block(writer->map, row)->named[row % LEDGER_BLOCK_ROWS] < oldest;
}

/* All rows of the counters of which an old one is held. Old ones are few, and the holds that carry them end. */
static void mark_counters(const struct ledger_writer *writer, uint64_t oldest, struct marks *marks)
{
	for (uint32_t held = 1; held < writer->count; held++)
		if (marked(marks->held, held) && is_old(writer, held, oldest))
			for (uint32_t row = 1; row < writer->count; row++)
				if (row_at(writer, row)->identity == row_at(writer, held)->identity)
					mark(marks->carried, row);
}

uint32_t ledger_census(struct table *table)
{
	struct ledger_writer *writer = table->ledger.writer;
	if (!writer)
		return 0;
	uint32_t freed = 0;
	uint64_t oldest = oldest_held(table);
	struct marks *marks = calloc(1, sizeof *marks);
	if (!marks)
		return 0;

	/* Generations first, slots second: a row written after the slots were read was named by someone who held
	 * it. */
	mark_slots(table, marks);
	mark_counters(writer, oldest, marks);
	mark_slots(table, marks);
	for (uint32_t row = 1; row < writer->count; row++) {
		if (!is_old(writer, row, oldest) || marked(marks->carried, row))
			continue;
		memset(row_at(writer, row), 0, sizeof(struct ledger_row));
		freed++;
	}
	free(marks);
	if (freed) {
		ledger_name_census(table, writer);
		ledger_index_build(writer);
		writer->epoch_raised = false;
	}
	return freed;
}
