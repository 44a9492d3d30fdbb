/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture_log: sliding logs. Every admission is written down, and afterwards every window is looked at that ends with
 * one of them: none holds more than N, wherever it begins.
 */
#ifndef WEIR_TESTS_TABLE_TORTURE_LOG_H
#define WEIR_TESTS_TABLE_TORTURE_LOG_H

#include "tests/table/torture_books.h"

/* NULL: the book is full, nothing is offered to logs any more. */
static struct torture_record *log_record(struct torture *torture, unsigned limit, uint64_t at, uint32_t cost)
{
	uint32_t index = atomic_fetch_add(&torture->records, 1);
	if (index >= TORTURE_RECORDS) {
		atomic_store(&torture->records, TORTURE_RECORDS);
		return NULL;
	}
	struct torture_record *record = &torture->record[index];
	record->limit = limit;
	atomic_store(&record->cost, cost);
	atomic_store(&record->at, at);
	return record;
}

static void log_charge_one(struct torture_worker *w, unsigned limit, uint32_t cost, bool regret,
			   uint32_t actual)
{
	struct torture *torture = w->torture;
	const struct torture_limit *l = &torture_limits[limit];
	struct torture_book *book = &torture->book[limit];
	struct table *table = w->table[l->rig];
	struct table_key key = torture_key(w, limit, 1);
	struct algo_time t = torture_time(w, limit);
	struct table_ticket ticket;
	struct table_look look;
	torture_pend(w, limit, cost);
	enum table_charge result = table_take(table, &key, torture->row[limit], &t, cost, TABLE_CHARGE,
					      &ticket, &look);
	torture_judge(torture, limit, result, look.allowed);
	if (result == TABLE_CHARGED) {
		struct torture_record *record = log_record(torture, limit, t.now, cost);
		atomic_fetch_add(&book->counted, cost);
		atomic_fetch_add(&torture->charges, 1);
		if (regret && record) {
			struct algo_time later = torture_time(w, limit);
			atomic_store(&record->cost, actual);
			atomic_fetch_sub(&book->counted, cost - actual);
			if (!table_settle(table, &ticket, &later, actual) ||
			    table_settle(table, &ticket, &later, 0))
				atomic_fetch_add(&torture->wrong, 1);
		}
	} else if (result == TABLE_REFUSED) {
		torture_full(torture, limit, t.now / l->period);
	}
	torture_settled(w);
}

static void log_work(struct torture_worker *w, unsigned limit, uint64_t roll)
{
	uint32_t cost = 1 + (uint32_t)(roll >> 8) % torture_limits[limit].cost;
	if (atomic_load(&w->torture->records) < TORTURE_RECORDS)
		log_charge_one(w, limit, cost, (roll >> 16 & 7) == 0, (uint32_t)(roll >> 20) % cost);
}

struct log_entry {
	uint64_t at;
	uint32_t limit, cost;
};

static int log_order(const void *a, const void *b)
{
	const struct log_entry *x = a, *y = b;
	return x->limit != y->limit ? (x->limit < y->limit ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

/* Windows above their N, also while workers work; most[limit]: units in the fullest. */
static uint64_t log_over(struct torture *torture, uint64_t most[LIMITS])
{
	uint32_t records = atomic_load(&torture->records), count = 0, first = 0;
	uint64_t over = 0, units = 0;
	records = records < TORTURE_RECORDS ? records : TORTURE_RECORDS;
	struct log_entry *entry = malloc((records + 1) * sizeof *entry);
	if (!entry)
		rig_die("malloc", "no memory");
	for (uint32_t i = 0; i < records; i++) {
		struct torture_record *record = &torture->record[i];
		uint64_t at = atomic_load(&record->at);
		if (at)
			entry[count++] = (struct log_entry){at, record->limit, atomic_load(&record->cost)};
	}
	qsort(entry, count, sizeof *entry, log_order);
	for (uint32_t i = 0; i < count; i++) {
		const struct torture_limit *l = &torture_limits[entry[i].limit];
		units += entry[i].cost;
		for (; entry[first].limit != entry[i].limit || entry[i].at - entry[first].at >= l->period;
		     first++)
			units -= entry[first].cost;
		if (units > l->n && over++ < 10)
			fprintf(stderr, "# %s: %" PRIu64 " of %u in the window to %" PRIu64 "\n", l->name,
				units, l->n, entry[i].at);
		if (units > most[entry[i].limit])
			most[entry[i].limit] = units;
	}
	free(entry);
	return over;
}

static void log_check(struct torture *torture, uint64_t over)
{
	static const unsigned logs[] = {LOG_ONE, LOG_MANY, LOG_DENYING, HELD_LOG};
	uint64_t most[LIMITS] = {0};
	char text[160];
	is_u64(over + log_over(torture, most), 0, "logs: no window anywhere holds more than N");
	ok(atomic_load(&torture->records) < TORTURE_RECORDS, "  and all admissions are in the books");
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		unsigned limit = logs[i];
		const struct torture_limit *l = &torture_limits[limit];
		uint64_t counted = atomic_load(&torture->book[limit].counted);
		note("%s: counted %" PRIu64 ", most in one window %" PRIu64 " of %u", l->name, counted,
		     most[limit], l->n);
		if (limit == HELD_LOG || l->rig != ROOMY)
			continue;
		snprintf(text, sizeof text, "%s: what was offered was used", l->name);
		uint64_t full = torture_windows_full(torture, limit);
		/* A window of the time that is full reaches into the one before it, and some is given back. */
		ok(full > 0 && 4 * (counted + atomic_load(&torture->book[limit].lost)) >= full * l->n, text);
	}
}

#endif
