/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_log: sliding logs charged by several workers at the same moment. No window of a log's length, wherever it
 * begins, holds more than N: every admission is written down with its own clock and its stamp, and all windows
 * are looked at afterwards.
 */
#ifndef WEIR_TESTS_TABLE_RACE_LOG_H
#define WEIR_TESTS_TABLE_RACE_LOG_H

#include "table/log.h"
#include "tests/table/race.h"

#define LOG_KEYS     3u
#define LOG_RECORDS  400000u
#define LOG_HOLD_MAX 64u

struct log_record {
	uint32_t key, cost;
	uint64_t at, stamp;
};

struct log_book {
	struct race *race;
	uint32_t n, cost;
	uint64_t period;
	uint32_t row;
	_Atomic uint32_t records;
	_Atomic int64_t held, most;
	_Atomic uint64_t refused_early;
	struct log_record record[LOG_RECORDS];
};

static struct log_book *log_book; /* shared memory, made before the workers are */

static uint32_t log_row_of(struct race *race, uint64_t identity, uint32_t n, uint64_t period)
{
	struct algo_numbers numbers;
	struct table *table = rig_open(&race->rig);
	if (!algo_sliding_log(n, period, &numbers))
		rig_die("log", "numbers");
	uint32_t row = rig_row(table, identity, &numbers, 1);
	table_close(&table);
	return row;
}

static enum table_charge log_try(struct race *race, struct table *table, const struct table_key *key,
				 const struct algo_time *t, uint32_t cost, struct log_taken *taken)
{
	struct table_look look;
	enum table_charge result = log_charge(table, key, log_book->row, t, cost, taken, &look);
	if (result == TABLE_NO_ROOM)
		atomic_fetch_add(&race->no_room, 1);
	else if (look.allowed != (result == TABLE_CHARGED) || look.used > log_book->n)
		atomic_fetch_add(&race->wrong, 1);
	return result;
}

static void log_hot(struct race *race, unsigned worker, struct table *table)
{
	uint64_t seed = worker + 5;
	for (;;) {
		uint64_t roll = rig_random(&seed);
		struct algo_time t = race_tick(race);
		if (t.now >= race->end)
			return;
		uint32_t which = (uint32_t)(roll % LOG_KEYS),
			 cost = 1 + (uint32_t)(roll >> 8) % log_book->cost;
		struct table_key key = rig_key(table, 30, which);
		struct log_taken taken;
		if (log_try(race, table, &key, &t, cost, &taken) != TABLE_CHARGED)
			continue;
		uint32_t at = atomic_fetch_add(&log_book->records, 1);
		if (at < LOG_RECORDS)
			log_book->record[at] = (struct log_record){which, cost, t.now, taken.stamp};
		atomic_fetch_add(&race->admitted, cost);
	}
}

static int log_by_at(const void *a, const void *b)
{
	const struct log_record *x = a, *y = b;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

static int log_by_stamp(const void *a, const void *b)
{
	const struct log_record *x = a, *y = b;
	return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->stamp < y->stamp ? -1 : x->stamp > y->stamp;
}

/* Windows that hold more than N units: by the callers' clocks, or by the stamps. */
static unsigned log_windows(struct log_record *record, uint32_t count, uint32_t n, uint64_t period,
			    bool stamps, uint32_t *most)
{
	unsigned over = 0;
	uint64_t units = 0;
	uint32_t first = 0;
	qsort(record, count, sizeof *record, stamps ? log_by_stamp : log_by_at);
	for (uint32_t i = 0; i < count; i++) {
		units += record[i].cost;
		for (; record[first].key != record[i].key ||
		       (stamps ? record[i].stamp - record[first].stamp : record[i].at - record[first].at) >=
			       period;
		     first++)
			units -= record[first].cost;
		over += units > n;
		if (units > *most)
			*most = (uint32_t)units;
	}
	return over;
}

static void log_check_hot(uint32_t n, uint64_t period, uint32_t cost, uint64_t windows, unsigned workers)
{
	struct race *race = race_new(1 << 20);
	char text[160];
	log_book = rig_shared(sizeof *log_book);
	*log_book = (struct log_book){.n = n, .cost = cost, .period = period};
	log_book->row = log_row_of(race, 1, n, period);
	race->step = period / (n * 30);
	windows = RACE_ROUNDS(windows) ? RACE_ROUNDS(windows) : 1;
	race->end = RACE_BASE + windows * period;
	race_run(race, log_hot, workers);

	uint32_t count = atomic_load(&log_book->records), most = 0;
	if (count > LOG_RECORDS)
		rig_die("log", "too few records");
	snprintf(text, sizeof text, "log of %u, costs up to %u, %u workers: no window holds more", n, cost,
		 workers);
	unsigned over = log_windows(log_book->record, count, n, period, false, &most);
	is_u64(over, 0, text);
	over = log_windows(log_book->record, count, n, period, true, &most);
	is_u64(over, 0, "  nor by the stamps");
	uint64_t bound = (uint64_t)n * windows * LOG_KEYS, admitted = atomic_load(&race->admitted);
	ok(most > n - cost && admitted * 10 >= bound * 7, "  and they were filled");
	note("%" PRIu64 " admitted, %" PRIu64 " in windows end to end, most in one %u", admitted, bound,
	     most);
	race_sound(race, "hot log");
	munmap(log_book, sizeof *log_book);
	race_free(race);
}

/* A key nobody has seen, by all workers at the same time: exactly N. */
static void log_fresh(struct race *race, unsigned worker, struct table *table)
{
	(void)worker;
	for (unsigned round = 0; round < race->rounds; round++) {
		struct algo_time t = {.now = RACE_BASE + round};
		struct table_key key = rig_key(table, 31, round);
		struct log_taken taken;
		race_meet(race);
		for (unsigned i = 0; i < log_book->n + 1; i++)
			if (log_try(race, table, &key, &t, 1, &taken) == TABLE_CHARGED)
				atomic_fetch_add(&race->count[round], 1);
	}
}

static void log_check_fresh(uint32_t n, unsigned rounds, unsigned workers)
{
	struct race *race = race_new(32 << 20);
	char text[160];
	log_book = rig_shared(sizeof *log_book);
	*log_book = (struct log_book){.n = n, .period = RIG_SECOND};
	log_book->row = log_row_of(race, 1, n, RIG_SECOND);
	race->rounds = rounds;
	race_run(race, log_fresh, workers);
	snprintf(text, sizeof text, "%u fresh logs of %u, %u workers at once: each admits exactly that",
		 rounds, n, workers);
	race_each(race, rounds, n, text);
	is_u64(rig_stats(&race->rig).evicted_live, 0, "  none lost its place");
	race_sound(race, "fresh logs");
	munmap(log_book, sizeof *log_book);
	race_free(race);
}

/* Time stands still; units are taken and given back without end. */
static void log_juggle(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 32, 1);
	struct algo_time t = {.now = RACE_BASE};
	struct log_taken taken[LOG_HOLD_MAX];
	uint32_t cost[LOG_HOLD_MAX] = {0};
	uint64_t seed = worker + 99;
	int64_t mine = 0;
	for (unsigned round = 0; round < race->rounds; round++) {
		uint64_t roll = rig_random(&seed);
		unsigned i = (unsigned)(roll % LOG_HOLD_MAX);
		if (cost[i]) {
			mine -= cost[i];
			atomic_fetch_sub(&log_book->held, cost[i]); /* before: so that it is never too much */
			log_uncharge(table, &key, log_book->row, &t, &taken[i], cost[i]);
			cost[i] = 0;
			continue;
		}
		uint32_t wanted = 1 + (uint32_t)(roll >> 8) % log_book->cost;
		if (log_try(race, table, &key, &t, wanted, &taken[i]) != TABLE_CHARGED)
			continue;
		cost[i] = wanted;
		mine += wanted;
		int64_t held = atomic_fetch_add(&log_book->held, wanted) + wanted,
			most = atomic_load(&log_book->most);
		while (held > most && !atomic_compare_exchange_weak(&log_book->most, &most, held))
			;
	}
}

static void log_check_juggle(uint32_t n, uint32_t cost, unsigned rounds, unsigned workers)
{
	struct race *race = race_new(1 << 20);
	char text[160];
	log_book = rig_shared(sizeof *log_book);
	*log_book = (struct log_book){.n = n, .cost = cost, .period = RIG_SECOND};
	log_book->row = log_row_of(race, 1, n, RIG_SECOND);
	race->rounds = rounds;
	race_run(race, log_juggle, workers);
	int64_t held = atomic_load(&log_book->held), most = atomic_load(&log_book->most);
	snprintf(text, sizeof text, "log of %u, taken and given back by %u workers: never more", n, workers);
	ok(most <= (int64_t)n && held >= 0, text);
	ok(most > (int64_t)(n - cost), "  and it was full");
	note("at most %" PRId64 ", %" PRId64 " at last", most, held);

	struct table *table = rig_open(&race->rig);
	struct table_key key = rig_key(table, 32, 1);
	struct algo_time t = {.now = RACE_BASE};
	struct table_look look;
	uint64_t left = 0;
	log_peek(table, &key, log_book->row, &t, 1, &look);
	is_u64(look.used, (uint64_t)held, "  what is used is what was not given back");
	while (table_charge(table, &key, log_book->row, &t, 1, &look) == TABLE_CHARGED)
		left++;
	is_u64(left + (uint64_t)held, n, "  and the rest can be had");
	table_close(&table);
	race_sound(race, "given back");
	munmap(log_book, sizeof *log_book);
	race_free(race);
}

static void log_all(void)
{
	log_check_hot(5, 1000000, 1, 3000, 2);
	log_check_hot(10, 1000000, 1, 2000, 4);
	log_check_hot(100, RIG_SECOND, 7, 60, 4);
	log_check_fresh(3, RACE_ROUNDS(20000), 2);
	log_check_fresh(5, RACE_ROUNDS(10000), 4);
	log_check_juggle(40, 1, RACE_ROUNDS(100000), 2);
	log_check_juggle(60, 5, RACE_ROUNDS(50000), 4);
}

#endif
