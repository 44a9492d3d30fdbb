/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_insert: a fresh key, inserted by several workers at the same moment, is one counter (T4); and a
 * counter in use keeps its place while others flood the table.
 *
 * Two inserts of one key meet in one slot, unless the workers see different free slots. So the table is
 * kept half full of keys that recover all the time, the workers' clocks differ by up to a microsecond, and
 * used keys are forgotten while the next ones come in: "keep the higher-ranked of the two" admits hundreds
 * of doubles in a million such rounds.
 */
#ifndef WEIR_TESTS_TABLE_RACE_INSERT_H
#define WEIR_TESTS_TABLE_RACE_INSERT_H

#include "tests/table/race.h"

#define INSERT_BURST 3u

static void insert_fresh(struct race *race, unsigned worker, struct table *table)
{
	uint64_t seed = worker + 77;
	struct table_look look;
	for (unsigned round = 0; round < race->rounds; round++) {
		struct algo_time t = {.now = RACE_BASE + round * UINT64_C(1000) + rig_random(&seed) % 1000};
		struct table_key key = rig_key(table, 3, round);
		struct table_key filler[4];
		for (unsigned i = 0; i < race->keys; i++)
			filler[i] = rig_key(table, 4, rig_random(&seed));
		race_meet(race);
		for (unsigned i = 0; i < INSERT_BURST + 1; i++)
			if (race_charge(race, table, &key, race->old_row, &t, &look))
				atomic_fetch_add(&race->count[round], 1);
		for (unsigned i = 0; i < race->keys; i++)
			race_charge(race, table, &filler[i], race->other_row, &t, &look);
		if (worker == 0 && round > 0 &&
		    race->keys) { /* nobody needs the key of the round before any more */
			struct table_key used = rig_key(table, 3, round - 1);
			if (!table_forget(table, &used) || table_forget(table, &used))
				atomic_fetch_add(&race->held, 1);
		}
	}
}

/* `keys` keys touched once each, at even distances in the time before the race. */
static void insert_before(struct race *race, struct table *table, unsigned keys, uint64_t time)
{
	struct table_look look;
	for (unsigned i = 0; i < keys; i++) {
		struct table_key key = rig_key(table, 10, i);
		struct algo_time t = {.now = RACE_BASE - time + time * i / keys};
		race_charge(race, table, &key, race->other_row, &t, &look);
	}
}

static void insert_check_fresh(unsigned workers, unsigned rounds)
{
	struct race *race = race_new(256 << 10);
	struct algo_numbers hard = rig_token(1, RIG_YEAR, INSERT_BURST);
	struct algo_numbers soft = rig_token(1000, RIG_SECOND, 10); /* a touch recovers after 1000 rounds */
	struct table *table = rig_open(&race->rig);
	struct census census;
	char text[160];
	race->old_row = rig_row(table, 1, &hard, 1);
	race->other_row = rig_row(table, 2, &soft, 1);
	insert_before(race, table, 40000, 5000000); /* every slot used, half of them recovered */
	table_close(&table);
	race->rounds = rounds;
	race->keys = 4;
	race_run(race, insert_fresh, workers);
	snprintf(text, sizeof text, "%u fresh keys, %u workers at once: each admits exactly its burst",
		 rounds, workers);
	race_each(race, rounds, INSERT_BURST, text);
	is_u64(atomic_load(&race->held), 0, "fresh keys: each was there once, and forgotten at once");

	/* Not vacuous: inserts met full, recovered and free places. */
	table = rig_open_as(&race->rig, true);
	census_take(table, &census);
	table_close(&table);
	struct stats_process stats = rig_stats(&race->rig);
	ok(stats.inserted >= 4 * (uint64_t)rounds && stats.evicted > rounds,
	   "fresh keys: the table was full of keys that came and went");
	note("%" PRIu64 " slots, inserted %" PRIu64 ", replaced %" PRIu64 ", evicted live %" PRIu64
	     ", retries %" PRIu64,
	     census.slots, stats.inserted, stats.evicted, stats.evicted_live, stats.retries);
	race_sound(race, "fresh keys");
	race_free(race);
}

/* Every pair is full of counters that recover later than a fresh one ever will: the fresh key itself, charged
 * once by the other worker, is the first to go, and must not be taken for its own sake. */
static void insert_check_crowded(unsigned rounds)
{
	struct race *race = race_new(TABLE_SIZE_MIN);
	struct algo_numbers fresh = rig_token(1, 3600 * RIG_SECOND, INSERT_BURST);
	struct algo_numbers crowd = rig_token(1, RIG_YEAR, 10);
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, &fresh, 1);
	race->other_row = rig_row(table, 2, &crowd, 1);
	insert_before(race, table, 40000, 1000);
	table_close(&table);
	race->rounds = rounds;
	race_run(race, insert_fresh, 2);
	race_each(race, rounds, INSERT_BURST, "fresh keys in a crowded table: each admits exactly its burst");
	ok(rig_stats(&race->rig).evicted_live >= rounds, "crowded: each pushed another one out");
	race_sound(race, "crowded");
	race_free(race);
}

/* The first worker floods with keys touched once, the others charge keys they share. */
static void insert_flood(struct race *race, unsigned worker, struct table *table)
{
	uint64_t seed = worker + 5;
	struct table_look look;
	if (worker == 0) {
		while (atomic_load(&race->running)) {
			struct table_key key = rig_key(table, 5, rig_random(&seed));
			struct algo_time t = race_tick(race);
			race_charge(race, table, &key, race->other_row, &t, &look);
		}
		return;
	}
	for (unsigned i = 0; i < race->keys * race->burst * 2; i++) {
		unsigned id = i % race->keys;
		struct table_key key = rig_key(table, 6, id);
		struct algo_time t;
		while ((t.now = atomic_load(&race->clock)) < RACE_BASE + i * 2 * race->step)
			sched_yield(); /* two floods for each charge */
		if (race_charge(race, table, &key, race->old_row, &t, &look))
			atomic_fetch_add(&race->count[id], 1);
	}
	atomic_fetch_sub(&race->running, 1);
}

static void insert_check_flood(unsigned workers)
{
	struct race *race = race_new(TABLE_SIZE_MIN);
	struct algo_numbers hard = rig_token(1, RIG_YEAR, RACE_ROUNDS(500));
	struct algo_numbers soft = rig_token(100, RIG_SECOND, 10); /* 10 ms: 100,000 live keys */
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, &hard, 1);
	race->other_row = rig_row(table, 2, &soft, 1);
	insert_before(race, table, 12000, 1000);
	table_close(&table);
	race->keys = 32;
	race->burst = RACE_ROUNDS(500);
	atomic_store(&race->running, workers - 1);
	race_run(race, insert_flood, workers);
	race_each(race, race->keys, race->burst, "flood of single-touch keys: no used counter is forgotten");
	struct stats_process stats = rig_stats(&race->rig);
	ok(stats.evicted_live > (uint64_t)race->keys * race->burst / 2,
	   "flood: keys that had not recovered were pushed out");
	race_sound(race, "flood");
	race_free(race);
}

static void insert_all(void)
{
	insert_check_fresh(2, RACE_ROUNDS(120000));
	insert_check_fresh(3, RACE_ROUNDS(4000));
	insert_check_crowded(RACE_ROUNDS(100000));
	insert_check_flood(2);
	insert_check_flood(3);
}

#endif
