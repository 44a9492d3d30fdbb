/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_rate: one hot key and many keys, by several workers: what is admitted is the burst plus the rate
 * times the elapsed table time, never more, and not less than 99 % of it when plenty is offered.
 */
#ifndef WEIR_TESTS_TABLE_RACE_RATE_H
#define WEIR_TESTS_TABLE_RACE_RATE_H

#include "tests/table/race.h"

#define RATE_PER_SECOND 200000u
#define RATE_BURST	100000u /* half a second of it: a worker that lost its processor loses no tokens */

/* Until the end of the race, then at the end itself until refused: nothing is left behind because
 * everybody slept through the last moment. */
static void rate_hot(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	uint64_t admitted = 0;
	(void)worker;
	for (bool last = false, charged = true; !last || charged;) {
		struct algo_time t;
		struct table_look look;
		table_time(table, &t);
		last = t.now >= race->end;
		if (last)
			t.now = race->end;
		charged = race_charge(race, table, &key, race->old_row, &t, &look);
		admitted += charged;
	}
	atomic_fetch_add(&race->admitted, admitted);
}

static void rate_check_bucket(const struct algo_numbers *numbers, unsigned workers, const char *name)
{
	struct race *race = race_new(1 << 20);
	struct table *table = rig_open(&race->rig);
	struct algo_time t;
	struct table_look look;
	char text[160];
	race->old_row = rig_row(table, 1, numbers, 1);

	/* Empty the bucket at `begin`, so that the rest is rate times time to the last token. */
	table_time(table, &t);
	race->begin = t.now;
	race->end = t.now + RIG_SECOND * 3 / 10;
	struct table_key key = rig_key(table, 1, 1);
	uint64_t burst = 0;
	while (race_charge(race, table, &key, race->old_row, &t, &look))
		burst++;
	snprintf(text, sizeof text, "%s: a full bucket is %u at once", name, RATE_BURST);
	is_u64(burst, RATE_BURST, text);
	table_close(&table);

	race_run(race, rate_hot, workers);
	uint64_t bound = burst + (uint64_t)RATE_PER_SECOND * (race->end - race->begin) / RIG_SECOND;
	uint64_t admitted = burst + atomic_load(&race->admitted);
	snprintf(text, sizeof text, "%s, %u workers: never above burst + rate * time", name, workers);
	bool fine = ok(admitted <= bound, text);
	snprintf(text, sizeof text, "%s, %u workers: at least 99 %% of it", name, workers);
	fine &= ok(admitted * 100 >= bound * 99, text);
	if (!fine)
		note("admitted %" PRIu64 " of %" PRIu64, admitted, bound);
	race_sound(race, name);
	race_free(race);
}

static void rate_hot_window(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	uint64_t admitted = 0;
	(void)worker;
	for (struct algo_time t = race_tick(race); t.now < race->end; t = race_tick(race)) {
		struct table_look look;
		admitted += race_charge(race, table, &key, race->old_row, &t, &look);
	}
	atomic_fetch_add(&race->admitted, admitted);
}

/* Windows of 1 ms and 1000 requests, in virtual time: 5000 attempts fall into each. */
static void rate_check_window(enum algo_align align, unsigned workers, const char *name)
{
	const uint64_t windows = RACE_ROUNDS(200), period = 1000000;
	struct race *race = race_new(1 << 20);
	struct algo_numbers numbers = rig_window(1000, period, align);
	struct table *table = rig_open(&race->rig);
	char text[160];
	race->old_row = rig_row(table, 1, &numbers, 1);
	table_close(&table);
	race->step = 200;
	race->end = RACE_BASE + windows * period;

	race_run(race, rate_hot_window, workers);
	uint64_t bound = 1000 * windows, admitted = atomic_load(&race->admitted);
	snprintf(text, sizeof text, "%s, %u workers: never above N a window", name, workers);
	bool fine = ok(admitted <= bound, text);
	snprintf(text, sizeof text, "%s, %u workers: at least 99 %% of it", name, workers);
	fine &= ok(admitted * 100 >= bound * 99, text);
	if (!fine)
		note("admitted %" PRIu64 " of %" PRIu64, admitted, bound);
	race_sound(race, name);
	race_free(race);
}

/* Every worker offers each key more than it may admit, in an order of its own. */
static void rate_many(struct race *race, unsigned worker, struct table *table)
{
	uint64_t seed = worker + 1;
	for (unsigned i = 0; i < 4 * race->keys; i++) {
		unsigned id = (unsigned)(rig_random(&seed) % race->keys);
		if (i >= 3 * race->keys) /* the last sweep leaves out nobody */
			id = i - 3 * race->keys;
		struct table_key key = rig_key(table, 2, id);
		struct algo_time t = race_tick(race);
		for (unsigned tries = 0; tries < 1 + (i >= 3 * race->keys) * race->burst; tries++) {
			struct table_look look;
			if (race_charge(race, table, &key, race->old_row, &t, &look))
				atomic_fetch_add(&race->count[id], 1);
		}
	}
}

static void rate_check_many(unsigned workers)
{
	struct race *race = race_new(8 << 20);
	struct algo_numbers numbers = rig_token(1, RIG_YEAR, 5);
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, &numbers, 1);
	table_close(&table);
	race->keys = RACE_ROUNDS(20000);
	race->burst = 5;
	race_run(race, rate_many, workers);
	race_each(race, race->keys, 5, "many keys: each admits exactly its burst");
	struct stats_process stats = rig_stats(&race->rig);
	is_u64(stats.inserted, race->keys, "many keys: each was inserted once");
	is_u64(stats.evicted_live, 0, "many keys: none lost its place");
	race_sound(race, "many keys");
	race_free(race);
}

static void rate_all(unsigned workers)
{
	struct algo_numbers token = rig_token(RATE_PER_SECOND, RIG_SECOND, RATE_BURST);
	struct algo_numbers leaky = rig_leaky(RATE_PER_SECOND, RIG_SECOND, RATE_BURST - 1);
	rate_check_bucket(&token, workers, "token bucket");
	rate_check_bucket(&leaky, workers, "leaky bucket");
	rate_check_window(ALGO_FIRST_REQUEST, workers, "window from the first request");
	rate_check_window(ALGO_CLOCK, workers, "window on the clock");
	rate_check_many(workers);
}

#endif
