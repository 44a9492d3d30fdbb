/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_hold: many reach for few places. In flight are never more than N, by a counter of their own; what is charged
 * of what was reserved is never more than the capacity; whenever places are free, exactly as many get one; and in
 * the end each unit can be had again.
 */
#ifndef WEIR_TESTS_TABLE_RACE_HOLD_H
#define WEIR_TESTS_TABLE_RACE_HOLD_H

#include "tests/table/race.h"

static inline bool hold_race_take(struct race *race, struct table *table, const struct table_key *key,
				  uint32_t cost, struct table_ticket *ticket)
{
	struct algo_time t = race_tick(race);
	struct table_look look;
	enum table_charge result = table_take(table, key, race->old_row, &t, cost, TABLE_RESERVE, ticket,
					      &look);
	if (result == TABLE_NO_ROOM)
		atomic_fetch_add(&race->no_room, 1);
	else if (look.allowed != (result == TABLE_CHARGED) || ticket->live != look.allowed)
		atomic_fetch_add(&race->wrong, 1);
	return ticket->live;
}

static inline void hold_race_end(struct race *race, struct table *table, struct table_ticket *ticket,
				 uint32_t cost)
{
	struct algo_time t = race_tick(race);
	if (!table_settle(table, ticket, &t, cost) || table_settle(table, ticket, &t, cost))
		atomic_fetch_add(&race->wrong, 1);
}

/* Each until it has been in `rounds` times: nobody starves. */
static void hold_race_flight(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	uint64_t seed = worker;
	for (unsigned i = 0; i < race->rounds;) {
		struct table_ticket ticket;
		if (!hold_race_take(race, table, &key, 1, &ticket)) {
			sched_yield();
			continue;
		}
		uint64_t now = atomic_fetch_add(&race->running, 1) + 1, most = atomic_load(&race->most_held);
		while (now > most && !atomic_compare_exchange_weak(&race->most_held, &most, now))
			;
		for (uint64_t spin = rig_random(&seed) % 300; spin > 0; spin--)
			atomic_load(&race->running);
		atomic_fetch_sub(&race->running, 1);
		hold_race_end(race, table, &ticket, 1);
		i++;
	}
}

/* Everybody at once, once; nobody gives back before all have tried. */
static void hold_race_exact(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	(void)worker;
	for (unsigned i = 0; i < race->rounds; i++) {
		struct table_ticket ticket;
		race_meet(race);
		if (hold_race_take(race, table, &key, 1, &ticket))
			atomic_fetch_add(&race->count[i], 1);
		race_meet(race);
		if (ticket.live)
			hold_race_end(race, table, &ticket, 0);
		race_meet(race);
	}
}

/* Reserve one to three, settle fewer, all or none, several tickets at a time. */
static void hold_race_settle(struct race *race, unsigned worker, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct table_ticket tickets[8] = {0};
	uint64_t seed = worker + 77;
	for (unsigned i = 0; i < race->rounds; i++) {
		struct table_ticket *ticket = &tickets[rig_random(&seed) % 8];
		if (ticket->live) {
			uint32_t cost = (uint32_t)(rig_random(&seed) % (ticket->cost + 1));
			hold_race_end(race, table, ticket, cost);
			atomic_fetch_add(&race->admitted, cost);
		} else {
			hold_race_take(race, table, &key, 1 + (uint32_t)(rig_random(&seed) % 3), ticket);
		}
	}
	for (unsigned i = 0; i < 8; i++)
		if (tickets[i].live)
			hold_race_end(race, table, &tickets[i], 0);
}

static struct race *hold_race_new(const struct algo_numbers *numbers)
{
	struct race *race = race_new(TABLE_SIZE_MIN);
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, numbers, 1);
	table_close(&table);
	return race;
}

/* Units that one who is alone can hold at the end, all at once. */
static uint32_t hold_race_left(struct race *race, uint32_t most)
{
	struct table *table = rig_open(&race->rig);
	struct table_key key = rig_key(table, 1, 1);
	struct table_ticket ticket;
	uint32_t left = most;
	while (left > 0 && !hold_race_take(race, table, &key, left, &ticket))
		left--;
	if (left > 0)
		hold_race_end(race, table, &ticket, 0);
	table_close(&table);
	return left;
}

static void hold_check_flight(unsigned workers, uint32_t places)
{
	struct algo_numbers numbers;
	char text[128];
	if (!algo_concurrent(places, &numbers))
		rig_die("algo_concurrent", "refused");
	struct race *race = hold_race_new(&numbers);
	race->rounds = RACE_ROUNDS(10000);
	race_run(race, hold_race_flight, workers);
	snprintf(text, sizeof text, "in flight, %u places, %u workers: never more", places, workers);
	if (!ok(atomic_load(&race->most_held) <= places, text))
		note("%" PRIu64 " at once", atomic_load(&race->most_held));
	is_u64(hold_race_left(race, places + 1), places, "  and every place can be had again");
	race_sound(race, "in flight");
	race_free(race);
}

static void hold_check_exact(unsigned workers, const struct algo_numbers *numbers, uint32_t places,
			     const char *name)
{
	char text[128];
	struct race *race = hold_race_new(numbers);
	race->rounds = RACE_ROUNDS(3000);
	race_run(race, hold_race_exact, workers);
	snprintf(text, sizeof text, "%s, %u places, %u at once: exactly so many get one", name, places,
		 workers);
	race_each(race, race->rounds, places < workers ? places : workers, text);
	is_u64(hold_race_left(race, places + 1), places, "  and every place can be had again");
	race_sound(race, name);
	race_free(race);
}

static void hold_check_settle(unsigned workers, const struct algo_numbers *numbers, uint32_t most,
			      const char *name)
{
	char text[128];
	struct race *race = hold_race_new(numbers);
	race->step = 1;
	race->rounds = RACE_ROUNDS(40000);
	race_run(race, hold_race_settle, workers);
	uint64_t charged = atomic_load(&race->admitted);
	snprintf(text, sizeof text, "%s, %u workers: charged is never more than there was", name, workers);
	ok(charged <= most, text);
	uint32_t left = hold_race_left(race, most + 1);
	if (!is_u64(charged + left, most, "  and what is not charged is there"))
		note("charged %" PRIu64 ", left %u", charged, left);
	race_sound(race, name);
	race_free(race);
}

static void hold_all(unsigned workers)
{
	struct algo_numbers flight[2];
	struct algo_numbers token = rig_token(1, RIG_YEAR, 2), large = rig_token(1, RIG_YEAR, 20000);
	struct algo_numbers window = rig_window(20000, RIG_YEAR, ALGO_FIRST_REQUEST);
	for (uint32_t places = 1; places <= 3; places += 2) {
		if (!algo_concurrent(places, &flight[places / 2]))
			rig_die("algo_concurrent", "refused");
		hold_check_flight(workers, places);
		hold_check_exact(workers, &flight[places / 2], places, "in flight");
	}
	hold_check_exact(workers, &token, 2, "reserved");
	hold_check_settle(workers, &large, 20000, "bucket, reserved and settled");
	hold_check_settle(workers, &window, 20000, "window, reserved and settled");
}

#endif
