/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger_census: which rows can be given to other numbers.
 *
 * A row is free when no slot carries it and nobody can write it any more (I8). Who can write a row? A
 * process whose image names it: that image is at least as new as the generation the process holds. Or a
 * process that found it in a slot: that only puts it back where it is. So a row last named by a generation
 * older than everything published or held, and carried by no slot now, is carried by none ever after.
 */
#include <stdlib.h>

#include "table/atomic.h"
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

static void mark_slots(const struct table *table, unsigned char *carried)
{
	for (uint64_t i = 0; i < table->pair_count; i++)
		for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
			uint32_t row = (uint32_t)(atomic_get(&table->pairs[i].ways[way].w0) &
						  LAYOUT_ROW_MASK);
			carried[row / 8] |= (unsigned char)(1u << row % 8);
		}
}

uint32_t ledger_census(struct table *table)
{
	struct ledger_writer *writer = table->ledger.writer;
	if (!writer)
		return 0;
	uint32_t freed = 0;
	uint64_t oldest = oldest_held(table);
	unsigned char *carried = calloc((LEDGER_ROW_MAX + 1u) / 8, 1);
	if (!carried)
		return 0;

	/* Holds first, slots second: a row written after the slots were read was named by someone who held
	 * it. */
	mark_slots(table, carried);
	for (uint32_t row = 1; row < writer->count; row++) {
		struct ledger_block *block = ledger_block(writer->map, row);
		struct ledger_row *at = &block->rows[row % LEDGER_BLOCK_ROWS];
		if (at->generation == 0 || block->named[row % LEDGER_BLOCK_ROWS] >= oldest ||
		    carried[row / 8] & 1u << row % 8)
			continue;
		memset(at, 0, sizeof *at);
		freed++;
	}
	free(carried);
	if (freed) {
		ledger_name_census(table, writer);
		ledger_index_build(writer);
		writer->epoch_raised = false;
	}
	return freed;
}
