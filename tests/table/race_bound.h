/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_bound: one counter of the kind nginx, asked by several with bursts of their own; several of them at once, of
 * which a charge is given back when another refuses; rates that change meanwhile; and places of which each asker has a
 * number of his own.
 */
#ifndef WEIR_TESTS_TABLE_RACE_BOUND_H
#define WEIR_TESTS_TABLE_RACE_BOUND_H

#include "tests/table/race.h"

static struct algo_numbers bound_nginx(uint32_t rate, bool exact, uint32_t burst)
{
	struct algo_numbers numbers;
	if (!(exact ? algo_limit_req_exact : algo_limit_req)(rate, RIG_SECOND, burst, 0, &numbers))
		rig_die("algo_limit_req", "numbers refused");
	return numbers;
}

static inline bool bound_charge(struct race *race, struct table *table, const struct table_key *key,
				uint32_t row, const struct algo_time *t, uint32_t burst,
				struct table_look *look)
{
	const struct algo_bound bound = {.burst = burst, .at_once = burst};
	enum table_charge result = table_charge_bound(table, key, row, t, &bound, look);
	if (result == TABLE_NO_ROOM)
		atomic_fetch_add(&race->no_room, 1);
	else if (look->allowed != (result == TABLE_CHARGED) ||
		 (look->allowed &&
		  algo_excess(&look->numbers, look->state, t->now, true) > burst * UINT64_C(1000)))
		atomic_fetch_add(&race->wrong, 1);
	return result == TABLE_CHARGED;
}

/* ---- bursts of their own ---- */

static const uint32_t bound_bursts[RACE_WORKERS] = {999, 9, 499, 0};

/* Time stands still, so each admission has a place in the row of them: its excess. A key a round; worker 0 asks until it
 * is refused; worker 1 has an older row, if there are two. Each excess may be there once. */
static void bound_bursts_race(struct race *race, unsigned worker, struct table *table)
{
	const struct algo_time t = {.now = RACE_BASE};
	uint32_t burst = bound_bursts[worker], row = worker == 1 ? race->old_row : race->new_row;
	for (unsigned round = 0; round < race->rounds; round++) {
		struct table_key key = rig_key(table, 30, round);
		struct table_look look;
		race_meet(race);
		/* on one processor there is no race: the first round is mixed for certain */
		while (round == 0 && worker != 1 && atomic_load(&race->running) == 0)
			sched_yield();
		for (unsigned refused = 0; refused < (worker == 0 ? 1u : 20u);) {
			bool charged = bound_charge(race, table, &key, row, &t, burst, &look);
			atomic_store(&race->running, 1);
			if (!charged) {
				refused++;
				continue;
			}
			uint64_t place = algo_excess(&look.numbers, look.state, t.now, true);
			if (place % 1000)
				atomic_fetch_add(&race->wrong, 1);
			atomic_fetch_add(&race->count[round * (race->burst + 1) + place / 1000], 1);
		}
	}
}

static void bound_check_bursts(const struct algo_numbers *old, const struct algo_numbers *new,
			       unsigned workers, const char *name)
{
	char text[160];
	struct race *race = race_new(1 << 20);
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, old, 1);
	race->new_row = rig_row(table, 1, new, 2);
	table_close(&table);
	race->burst = bound_bursts[0];
	race->rounds = RACE_ROUNDS(200);
	race_run(race, bound_bursts_race, workers);
	snprintf(text, sizeof text, "%s, %u askers: burst + 1 of the largest, each excess once", name,
		 workers);
	race_each(race, race->rounds * (race->burst + 1), 1, text);
	if (race->old_row != race->new_row)
		ok(rig_stats(&race->rig).converted > 0, "  and some were converted in mid-use");
	race_sound(race, name);
	race_free(race);
}

/* ---- several limits ---- */

/* Units of a limit that somebody has, admitted or not yet given back: count_new[limit], and most of them ever:
 * count[limit]. */
static inline void bound_has(struct race *race, unsigned limit)
{
	uint32_t has = atomic_fetch_add(&race->count_new[limit], 1) + 1,
		 most = atomic_load(&race->count[limit]);
	while (has > most && !atomic_compare_exchange_weak(&race->count[limit], &most, has))
		;
}

/* Both of them or none; some look first, as nginx does. Half of the workers the other way round: so each limit has
 * charges that the other one refuses. */
static void bound_limits_race(struct race *race, unsigned worker, struct table *table)
{
	const struct table_key keys[2] = {rig_key(table, 31, 0), rig_key(table, 31, 1)};
	const uint32_t rows[2] = {race->old_row, race->other_row};
	const struct algo_bound bounds[2] = {{.burst = race->burst}, {.burst = race->burst / 2}};
	const unsigned first = worker & 1, second = !first;
	for (unsigned i = 0; i < race->rounds; i++) {
		struct algo_time t = race_tick(race);
		struct table_look look;
		bool fits = true;
		for (unsigned limit = 0; limit < 2 && i % 4 == 0; limit++) {
			table_peek_bound(table, &keys[limit], rows[limit], &t, &bounds[limit], &look);
			fits &= look.allowed;
		}
		if (!fits ||
		    !bound_charge(race, table, &keys[first], rows[first], &t, bounds[first].burst, &look))
			continue;
		bound_has(race, first);
		if (bound_charge(race, table, &keys[second], rows[second], &t, bounds[second].burst, &look)) {
			bound_has(race, second);
			atomic_fetch_add(&race->admitted, 1);
			continue;
		}
		atomic_fetch_add(&race->held, 1);
		atomic_fetch_sub(&race->count_new[first], 1);
		table_uncharge_bound(table, &keys[first], rows[first], &t, t.now, &bounds[first]);
	}
}

/* What one who is alone is given at `now`. */
static uint32_t bound_left(struct race *race, unsigned id, uint32_t row, uint64_t now, uint32_t burst)
{
	struct table *table = rig_open(&race->rig);
	struct table_key key = rig_key(table, 31, id);
	const struct algo_time t = {.now = now};
	struct table_look look;
	uint32_t left = 0;
	while (bound_charge(race, table, &key, row, &t, burst, &look))
		left++;
	table_close(&table);
	return left;
}

/* `step_ns` 0: time stands still, and the books are exact. */
static void bound_check_limits(unsigned workers, const struct algo_numbers *numbers, uint64_t step_ns,
			       const char *name)
{
	char text[160];
	struct race *race = race_new(1 << 20);
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, numbers, 1);
	race->other_row = rig_row(table, 2, numbers, 1);
	table_close(&table);
	race->step = step_ns;
	race->burst = 400;
	race->rounds = RACE_ROUNDS(40000);
	race_run(race, bound_limits_race, workers);
	uint64_t end = atomic_load(&race->clock), admitted = atomic_load(&race->admitted);
	uint64_t drained = (end - RACE_BASE) / (RIG_SECOND / 1000); /* all of the rate 1000r/s */
	snprintf(text, sizeof text, "two limits, %s, %u workers: never above burst + 1 and what drains", name,
		 workers);
	bool fine = ok(admitted <= race->burst / 2 + 1 + drained, text);
	if (step_ns == 0) {
		fine &= is_u64(admitted, race->burst / 2 + 1, "  and all of it");
		fine &= ok(atomic_load(&race->count[0]) <= race->burst + 1 &&
				   atomic_load(&race->count[1]) <= race->burst / 2 + 1,
			   "  nor have more than so many a unit of one, with the other or without");
		fine &= is_u64(bound_left(race, 0, race->old_row, end, race->burst),
			       race->burst + 1 - admitted,
			       "  what was given back of the first is there, once");
		fine &= is_u64(bound_left(race, 1, race->other_row, end, race->burst / 2), 0,
			       "  and nothing of the second");
	} else {
		fine &= ok(admitted >= race->burst / 2 + 1, "  and at least what there was to begin with");
	}
	if (!fine)
		note("admitted %" PRIu64 ", given back %" PRIu64 ", drained %" PRIu64, admitted,
		     atomic_load(&race->held), drained);
	note("%" PRIu64 " were given back", atomic_load(&race->held));
	race_sound(race, name);
	race_free(race);
}

/* ---- places ---- */

static const uint32_t bound_places[RACE_WORKERS] = {1, 3, 2, 1};

/* Everybody says in count[] when he is in: an odd number, another each time. Who was in when one with N reached for a
 * place and is still in when he has it came before him: of those there are less than N. */
static void bound_places_race(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 32, 1);
	const struct algo_bound bound = {.burst = bound_places[worker] - 1};
	for (unsigned i = 0; i < race->rounds;) {
		struct table_ticket ticket;
		struct table_look look;
		struct algo_time t = race_tick(race);
		uint32_t before[RACE_WORKERS], stayed = 0;
		for (unsigned w = 0; w < race->workers; w++)
			before[w] = atomic_load(&race->count[w]);
		enum table_charge result = table_take_bound(table, &key, race->old_row, &t, &bound, &ticket,
							    &look);
		if (result == TABLE_NO_ROOM)
			atomic_fetch_add(&race->no_room, 1);
		if (result != TABLE_CHARGED) {
			sched_yield();
			continue;
		}
		for (unsigned w = 0; w < race->workers; w++)
			stayed += (before[w] & 1) && atomic_load(&race->count[w]) == before[w];
		atomic_fetch_add(&race->count[worker], 1);
		if (stayed >= bound_places[worker] || look.held > bound_places[worker] ||
		    look.numbers.capacity != bound_places[worker])
			atomic_fetch_add(&race->wrong, 1);
		uint64_t now = atomic_fetch_add(&race->running, 1) + 1, most = atomic_load(&race->most_held);
		while (now > most && !atomic_compare_exchange_weak(&race->most_held, &most, now))
			;
		if (i % 16 == 0) /* long enough to be in somebody's way */
			sched_yield();
		atomic_fetch_sub(&race->running, 1);
		atomic_fetch_add(&race->count[worker], 1);
		if (!table_give_back(table, &ticket, &t))
			atomic_fetch_add(&race->wrong, 1);
		i++;
	}
}

static void bound_check_places(unsigned workers)
{
	struct algo_numbers numbers;
	char text[160];
	if (!algo_concurrent(3, &numbers))
		rig_die("algo_concurrent", "refused");
	struct race *race = race_new(TABLE_SIZE_MIN);
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, &numbers, 1);
	table_close(&table);
	race->rounds = RACE_ROUNDS(5000);
	race_run(race, bound_places_race, workers);
	snprintf(text, sizeof text, "places of 1, 3, 2, 1, %u askers: never more than the largest", workers);
	if (!ok(atomic_load(&race->most_held) <= 3, text))
		note("%" PRIu64 " at once", atomic_load(&race->most_held));
	race_sound(race, "places of one's own, everybody by his own count");
	table = rig_open(&race->rig);
	struct table_key key = rig_key(table, 32, 1);
	struct algo_time t = race_tick(race);
	struct table_look look;
	table_peek_bound(table, &key, race->old_row, &t, &(struct algo_bound){0}, &look);
	ok(look.allowed && look.held == 0, "  and in the end nobody is in");
	table_close(&table);
	race_free(race);
}

static void bound_all(unsigned workers)
{
	struct algo_numbers slow = bound_nginx(2, false, 999), fast = bound_nginx(1000, false, 999);
	struct algo_numbers exact = bound_nginx(2000, true, 999);
	bound_check_bursts(&fast, &fast, workers, "bursts of their own");
	bound_check_bursts(&slow, &fast, workers, "a faster rate meanwhile");
	bound_check_bursts(&fast, &slow, workers, "a slower rate meanwhile");
	bound_check_bursts(&fast, &exact, workers, "another clock meanwhile");
	bound_check_limits(workers, &fast, 0, "time stands still");
	bound_check_limits(workers, &fast, 1000, "time goes on");
	bound_check_places(workers);
}

#endif
