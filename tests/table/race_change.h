/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_change: counters whose numbers change under load (T2), charges that are given back, and a census
 * that walks the table while all of it goes on.
 */
#ifndef WEIR_TESTS_TABLE_RACE_CHANGE_H
#define WEIR_TESTS_TABLE_RACE_CHANGE_H

#include "tests/table/race.h"

/* Worker 0 still decides with the old image, the others with the new one; each round has a key of its own.
 * `look` says under which numbers a request was judged, whatever the worker asked for. */
static void change_rows(struct race *race, unsigned worker, struct table *table)
{
	uint32_t row = worker == 0 ? race->old_row : race->new_row;
	for (unsigned round = 0; round < race->rounds; round++) {
		struct table_key key = rig_key(table, 7, round);
		struct algo_time t = {.now = RACE_BASE};
		struct table_look look;
		bool seen_new = false;
		race_meet(race);
		/* on one processor there is no race: the first round is mixed for certain */
		while (round == 0 && worker == 1 && atomic_load(&race->count[0]) == 0)
			sched_yield();
		for (unsigned i = 0; i < (round == 0 && worker == 0 ? 1 : 250); i++) {
			bool charged = race_charge(race, table, &key, row, &t, &look);
			bool is_new = look.numbers.capacity == race->new.capacity;
			if (seen_new && !is_new) /* the newer generation wins, for good */
				atomic_fetch_add(&race->wrong, 1);
			seen_new = is_new;
			if (charged)
				atomic_fetch_add(is_new ? &race->count_new[round] : &race->count[round], 1);
		}
	}
}

/* Half used stays half used: what was admitted before, as a share, plus what is admitted after it is the
 * new capacity: never more, and at most one less (a share is rounded up). */
static void change_check_rows(const struct algo_numbers *before, uint64_t old_size,
			      const struct algo_numbers *after, uint64_t new_size, const char *name)
{
	struct race *race = race_new(4 << 20);
	struct table *table = rig_open(&race->rig);
	char text[160];
	race->old = *before;
	race->new = *after;
	race->old_row = rig_row(table, 9, before, 1);
	race->new_row = rig_row(table, 9, after, 2);
	table_close(&table);
	race->rounds = RACE_ROUNDS(2000);
	race_run(race, change_rows, 2);
	unsigned over = 0, under = 0, mixed = 0;
	for (unsigned i = 0; i < race->rounds; i++) {
		uint64_t old = atomic_load(&race->count[i]), new = atomic_load(&race->count_new[i]);
		uint64_t used = (old * new_size + old_size - 1) / old_size + new;
		over += used > new_size;
		under += used + 1 < new_size;
		mixed += old && new;
	}
	snprintf(text, sizeof text, "%s: half used stays half used, whoever comes first", name);
	if (!ok(over + under == 0, text))
		note("of %u keys %u admitted more than their share, %u less", race->rounds, over, under);
	ok(mixed > 0 && rig_stats(&race->rig).converted >= mixed, "  and some were converted in mid-use");
	note("%s: %u of %u keys used under both", name, mixed, race->rounds);
	race_sound(race, name);
	race_free(race);
}

/* Charge, hold, give back: never more than the burst is held, and at the end nothing is owed. */
static void change_give_back(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 8, 1);
	struct table_look look;
	(void)worker;
	for (unsigned i = 0; i < race->rounds; i++) {
		struct algo_time t = race_tick(race);
		if (!race_charge(race, table, &key, race->old_row, &t, &look))
			continue;
		uint64_t held = atomic_fetch_add(&race->held, 1) + 1;
		for (uint64_t most = atomic_load(&race->most_held);
		     held > most && !atomic_compare_exchange_weak(&race->most_held, &most, held);)
			;
		atomic_fetch_add(&race->admitted, 1);
		atomic_fetch_sub(&race->held, 1);
		table_uncharge(table, &key, race->old_row, &t, t.now, 1);
	}
}

static void change_check_give_back(void)
{
	struct race *race = race_new(1 << 20);
	struct algo_numbers numbers = rig_token(1, RIG_YEAR, 2);
	struct table *table = rig_open(&race->rig);
	struct table_look look;
	race->old_row = rig_row(table, 1, &numbers, 1);
	race->rounds = RACE_ROUNDS(100000);
	table_close(&table);
	race_run(race, change_give_back, 3);
	ok(atomic_load(&race->most_held) <= 2, "give back: never more than the burst is held");
	ok(atomic_load(&race->admitted) >= race->rounds, "give back: most were admitted");
	table = rig_open(&race->rig);
	struct table_key key = rig_key(table, 8, 1);
	struct algo_time t = race_tick(race);
	uint64_t left = 0;
	while (race_charge(race, table, &key, race->old_row, &t, &look))
		left++;
	is_u64(left, 2, "give back: at the end nothing is owed");
	table_close(&table);
	race_sound(race, "give back");
	race_free(race);
}

/* The last worker looks; the others insert, charge, punish, convert, give back and forget. */
static void change_churn(struct race *race, unsigned worker, struct table *table)
{
	uint64_t seed = worker + 21;
	if (worker == race->workers - 1) {
		while (atomic_load(&race->running)) {
			struct table *looker = rig_open_as(&race->rig, true);
			struct stats_process sum;
			struct census census;
			atomic_fetch_add(&race->wrong, census_check(looker, rig_say, NULL));
			census_take(looker, &census);
			if (census.live + census.recovered + census.claimed + census.empty != census.slots)
				atomic_fetch_add(&race->wrong, 1);
			stats_process_sum(looker, &sum);
			table_close(&looker);
			atomic_fetch_add(&race->admitted, 1);
		}
		return;
	}
	for (unsigned i = 0; i < race->rounds; i++) {
		uint64_t roll = rig_random(&seed);
		struct table_key key = rig_key(table, 9, roll % 600);
		struct algo_time t = race_tick(race);
		struct table_look look;
		uint32_t row = roll >> 20 & 1 ? race->old_row : race->new_row;
		switch (roll >> 32 & 7) {
		case 0:
			table_forget(table, &key);
			break;
		case 1:
			table_punish(table, &key, row, &t, 1, &look);
			break;
		case 2:
			table_uncharge(table, &key, row, &t, t.now, 1);
			break;
		case 3:
			table_peek(table, &key, race->other_row, &t, 1, &look);
			break;
		default:
			table_charge(table, &key, row, &t, 1, &look);
		}
		if (i % 4096 == 4095)
			table_forget_limit(table, 1);
	}
	atomic_fetch_sub(&race->running, 1);
}

static void change_check_churn(unsigned workers)
{
	struct race *race = race_new(TABLE_SIZE_MIN);
	struct algo_numbers before = rig_token(1000, RIG_SECOND, 10), after = rig_token(1000, RIG_SECOND, 20);
	struct algo_numbers window = rig_window(10, RIG_SECOND, ALGO_FIRST_REQUEST);
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, &before, 1);
	race->new_row = rig_row(table, 1, &after, 2);
	race->other_row = rig_row(table, 2, &window, 2);
	table_close(&table);
	race->rounds = RACE_ROUNDS(200000);
	atomic_store(&race->running, workers - 1);
	race_run(race, change_churn, workers);
	ok(atomic_load(&race->admitted) > 0, "churn: the census looked while the others worked");
	race_sound(race, "churn");
	race_free(race);
}

static void change_all(void)
{
	struct algo_numbers small = rig_token(1, RIG_YEAR, 100), large = rig_token(1, RIG_YEAR, 200);
	change_check_rows(&small, 100, &large, 200, "token bucket doubled");
	change_check_rows(&large, 200, &small, 100, "token bucket halved");
	small = rig_leaky(1, RIG_YEAR, 99), large = rig_leaky(1, RIG_YEAR, 199);
	change_check_rows(&small, 100, &large, 200, "leaky bucket doubled");
	small = rig_window(100, RIG_SECOND, ALGO_FIRST_REQUEST);
	large = rig_window(200, RIG_SECOND, ALGO_FIRST_REQUEST);
	change_check_rows(&small, 100, &large, 200, "window doubled");
	change_check_rows(&large, 200, &small, 100, "window halved");
	change_check_give_back();
	change_check_churn(2);
	change_check_churn(3);
}

#endif
