/* SPDX-License-Identifier: BSD-2-Clause */
/* check: are the invariants of table/DESIGN.md true here? Safe while others decide. */
#include <stdarg.h>
#include <stdio.h>

#include "table/census.h"
#include "table/geometry.h"
#include "table/hold.h"
#include "table/log_ring.h"

#define READS 100u

struct report {
	void (*found)(void *context, const char *sentence);
	void *context;
	uint64_t count;
};

__attribute__((format(printf, 2, 3))) static void tell(struct report *report, const char *format, ...)
{
	char sentence[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	report->count++;
	report->found(report->context, sentence);
}

/* The pair as it was at one moment: read twice alike. False: it never stood still, and is judged by nobody. */
static bool read_pair(const struct slot_pair *pair, struct slot out[LAYOUT_WAYS])
{
	for (unsigned read = 0; read < READS; read++) {
		bool same = true;
		for (unsigned i = 0; i < LAYOUT_WAYS; i++) {
			out[i].w0 = atomic_get(&pair->ways[i].w0);
			out[i].w1 = atomic_get(&pair->ways[i].w1);
		}
		for (unsigned i = 0; i < LAYOUT_WAYS; i++)
			same = same && slot_still(&pair->ways[i], out[i].w0, out[i].w1);
		if (same)
			return true;
	}
	return false;
}

static bool same_key(struct table *table, uint64_t a, uint64_t b)
{
	if (!slot_has_tag(a, b & ~LAYOUT_ROW_MASK))
		return false;
	const struct ledger_row *row = recall_row(table, slot_row(a));
	uint64_t identity = row ? row->identity : 0;
	const struct ledger_row *other = recall_row(table, slot_row(b));
	return row && other && other->identity == identity;
}

/* What stands in a charged slot must be what its row's limit stores. */
static void check_word(struct table *table, unsigned long long number, unsigned way, const struct slot *slot,
		       struct report *report)
{
	const struct ledger_row *row = recall_row(table, slot_row(slot->w0));
	if (!row || recall_stale(table) || slot->w1 & LAYOUT_CLAIM)
		return;
	bool log = row->numbers.kind == ALGO_SLIDING_LOG;
	uint32_t next = (uint32_t)(slot->w1 & ((1u << LOG_NEXT_BITS) - 1));
	if (cell_is_hold(slot->w1)) {
		if (hold_process(slot->w1) >= table->process_slots)
			tell(report, "I15: pair %llu way %u: held by process slot %u, which does not exist",
			     number, way, hold_process(slot->w1));
	} else if (cell_is(slot->w1)) {
		if (!log)
			tell(report,
			     "I5: pair %llu way %u: an admission of a log, under row %u, which is none",
			     number, way, slot_row(slot->w0));
	} else if (row->numbers.kind == ALGO_CONCURRENT) {
		tell(report, "I5: pair %llu way %u: a word of row %u, which only counts what is in flight",
		     number, way, slot_row(slot->w0));
	} else if (log && next >= row->numbers.capacity && slot->w1) {
		tell(report, "I17: pair %llu way %u: a log of %llu goes on at cell %u", number, way,
		     (unsigned long long)row->numbers.capacity, next);
	}
}

static void check_pair(struct table *table, uint64_t index, struct report *report)
{
	unsigned long long number = index;
	struct slot ways[LAYOUT_WAYS];
	if (!read_pair(&table->pairs[index], ways))
		return;
	for (unsigned i = 0; i < LAYOUT_WAYS; i++) {
		uint64_t w0 = ways[i].w0, w1 = ways[i].w1;
		if (w0 == 0) {
			if (w1 != 0)
				tell(report, "I2: pair %llu way %u: empty, but holds a word", number, i);
			continue;
		}
		if (slot_has_tag(w0, 0))
			tell(report, "I2: pair %llu way %u: a row without a tag", number, i);
		if (!recall_row(table, slot_row(w0)) && !recall_stale(table))
			tell(report, "I6: pair %llu way %u: row %u is not in the ledger", number, i,
			     slot_row(w0));
		uint64_t maker = (w1 & ~LAYOUT_CLAIM) >> LAYOUT_NONCE_BITS;
		if (w1 & LAYOUT_CLAIM && maker >= table->process_slots)
			tell(report,
			     "I4: pair %llu way %u: a claim by process slot %llu, which does not exist",
			     number, i, (unsigned long long)maker);
		check_word(table, number, i, &ways[i], report);
		for (unsigned j = 0; j < i; j++)
			if (ways[j].w0 && !((w1 | ways[j].w1) & LAYOUT_CLAIM) &&
			    (w1 & CELL_MARKS) == (ways[j].w1 & CELL_MARKS) && same_key(table, w0, ways[j].w0))
				tell(report, "I1: pair %llu ways %u and %u: one key is charged twice", number,
				     j, i);
	}
}

static void check_processes(struct table *table, uint64_t now, struct report *report)
{
	uint64_t generation = table_generation(table);
	for (uint32_t i = 0; i < table->process_slots; i++) {
		uint64_t held = atomic_get(&table->processes[i].held);
		if (held > generation && process_alive(table, i) && held > table_generation(table))
			tell(report, "I7: process slot %u holds generation %llu, which is not published", i,
			     (unsigned long long)held);
	}
	uint64_t stamp = atomic_get(&table->header->clock.stamp);
	if (stamp > now) {
		struct algo_time later;
		table->clock.next = 0; /* it may have jumped (table_catch_up) */
		table_time(table, &later);
		if (stamp > later.now)
			tell(report, "I9: the last stamp lies %llu ns in the future",
			     (unsigned long long)(stamp - later.now));
	}
}

uint64_t census_check(struct table *table, void (*found)(void *context, const char *sentence), void *context)
{
	struct report report = {found, context, 0};
	struct algo_time t;
	table_time(table, &t);
	recall_fresh(table);
	if (table->header->fixed.check != geometry_checksum(&table->header->fixed))
		tell(&report, "the header does not add up any more");
	check_processes(table, t.now, &report);
	for (uint64_t i = 0; i < table->pair_count; i++)
		check_pair(table, i, &report);
	return report.count;
}
