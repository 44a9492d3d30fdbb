/* SPDX-License-Identifier: BSD-2-Clause */
/* census: count what the slots hold at this moment. Nothing is written. */
#include "table/census.h"

#include "table/cell.h"
#include "table/evict.h"

static void count_slot(struct table *table, const struct slot *slot, uint64_t now, struct census *out)
{
	uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
	if (w0 == 0) {
		out->empty++;
	} else {
		const struct ledger_row *row = recall_row(table, slot_row(w0));
		enum evict_kind kind = evict_judge(table, row, w0, w1, now);
		out->claimed += kind == EVICT_CLAIM;
		out->recovered += kind == EVICT_RECOVERED;
		out->live += kind >= EVICT_LIVE;
		out->cells += kind >= EVICT_LIVE && cell_is(w1);
		out->held += kind == EVICT_NEVER;
	}
}

void census_take(struct table *table, struct census *out)
{
	struct algo_time t;
	table_time(table, &t);
	*out = (struct census){
		.bytes = table->size,
		.slots = table->pair_count * LAYOUT_WAYS,
		.process_slots = table->process_slots,
		.ledger_rows = ledger_rows(table),
		.ledger_bytes = table->ledger.size,
		.generation = table_generation(table),
	};
	for (uint64_t i = 0; i < table->pair_count; i++)
		for (unsigned way = 0; way < LAYOUT_WAYS; way++)
			count_slot(table, &table->pairs[i].ways[way], t.now, out);
	for (uint32_t i = 0; i < table->process_slots; i++) {
		uint64_t held = atomic_get(&table->processes[i].held);
		if (!process_alive(table, i))
			continue;
		out->processes++;
		if (held && held < out->generation && out->generation - held > out->newest_generation_lag)
			out->newest_generation_lag = out->generation - held;
	}
}
