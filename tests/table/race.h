/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race: workers that charge one table at the same moment, as threads or as processes.
 *
 * A worker's body runs with a handle of its own. What it finds it adds to the shared struct race; the
 * assertions are made afterwards, by the parent. Time is either the table's clock or a virtual one that
 * moves on with each attempt: then what is offered does not depend on the scheduler's mood.
 */
#ifndef WEIR_TESTS_TABLE_RACE_H
#define WEIR_TESTS_TABLE_RACE_H

#include <sched.h>
#include <stdatomic.h>

#include "tests/table/rig.h"
#include "tests/tap.h"

/* Sanitizers make each step 5 to 20 times slower: fewer rounds, the same story. */
#if defined(__SANITIZE_THREAD__)
#define RACE_ROUNDS(n) ((n) / 20)
#elif defined(__SANITIZE_ADDRESS__)
#define RACE_ROUNDS(n) ((n) / 5)
#else
#define RACE_ROUNDS(n) (n)
#endif

#define RACE_COUNTS  200000
#define RACE_BASE    (UINT64_C(100) * RIG_SECOND) /* where virtual time begins */
#define RACE_WORKERS 4

struct race {
	struct rig rig;
	unsigned workers;
	_Atomic unsigned arrived, turn;
	uint64_t begin, end;	/* table time */
	_Atomic uint64_t clock; /* virtual time */
	uint64_t step;		/* by how much an attempt moves it on */
	struct algo_numbers old, new;
	uint32_t old_row, new_row, other_row;
	unsigned rounds, keys, burst;
	_Atomic uint64_t admitted, no_room, wrong, held, most_held, running;
	_Atomic uint32_t count[RACE_COUNTS]; /* admissions of each key, or of each key under `old` */
	_Atomic uint32_t count_new[RACE_COUNTS];
};

typedef void race_body(struct race *race, unsigned worker, struct table *table);

/* Run `body` in `workers` threads or processes (the including program says which), each with its own
 * handle, and wait for all of them. */
static void race_run(struct race *race, race_body *body, unsigned workers);

/* A new race over a table of its own. The caller keeps the handle for as long as it pleases. */
static inline struct race *race_new(uint64_t size)
{
	struct race *race = rig_shared(sizeof *race);
	race->rig = rig_new(size, 8);
	atomic_store(&race->clock, RACE_BASE);
	race->step = 100;
	return race;
}

static inline void race_free(struct race *race)
{
	rig_free(&race->rig);
	munmap(race, sizeof *race);
}

/* Workers that begin on one processor may stay there, taking turns: no race at all. */
static inline void race_spread(unsigned worker)
{
	cpu_set_t allowed, mine;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return;
	unsigned nth = worker % (unsigned)CPU_COUNT(&allowed);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && nth-- == 0) {
			CPU_ZERO(&mine);
			CPU_SET(cpu, &mine);
			sched_setaffinity(0, sizeof mine, &mine);
			return;
		}
}

/* All workers leave at the same moment. Spins first: a round must begin within nanoseconds to be a race. */
static inline void race_meet(struct race *race)
{
	unsigned turn = atomic_load(&race->turn);
	if (atomic_fetch_add(&race->arrived, 1) + 1 == race->workers) {
		atomic_store(&race->arrived, 0);
		atomic_fetch_add(&race->turn, 1);
		return;
	}
	for (unsigned spins = 0; atomic_load(&race->turn) == turn; spins++)
		if (spins > 5000)
			sched_yield();
}

static inline struct algo_time race_tick(struct race *race)
{
	return (struct algo_time){.now = atomic_fetch_add(&race->clock, race->step)};
}

/* Charge and keep the books of what went wrong. */
static inline bool race_charge(struct race *race, struct table *table, const struct table_key *key,
			       uint32_t row, const struct algo_time *t, struct table_look *look)
{
	enum table_charge result = table_charge(table, key, row, t, 1, look);
	if (result == TABLE_NO_ROOM)
		atomic_fetch_add(&race->no_room, 1);
	else if (look->allowed != (result == TABLE_CHARGED))
		atomic_fetch_add(&race->wrong, 1);
	return result == TABLE_CHARGED;
}

/* What every race must leave behind. */
static inline void race_sound(struct race *race, const char *what)
{
	char text[160];
	snprintf(text, sizeof text, "%s: the table is sound, every charge had its place", what);
	uint64_t broken = rig_broken(&race->rig);
	if (!ok(!broken && !atomic_load(&race->no_room) && !atomic_load(&race->wrong), text))
		note("broken %" PRIu64 ", no room %" PRIu64 ", answer and look differ %" PRIu64, broken,
		     atomic_load(&race->no_room), atomic_load(&race->wrong));
}

/* Exactly `expected` admissions of each of the first `keys` keys. */
static inline void race_each(struct race *race, unsigned keys, unsigned expected, const char *what)
{
	unsigned over = 0, under = 0, first = keys;
	for (unsigned i = 0; i < keys; i++) {
		uint32_t count = atomic_load(&race->count[i]);
		over += count > expected;
		under += count < expected;
		if (count != expected && first == keys)
			first = i;
	}
	if (!ok(over + under == 0, what))
		note("of %u keys %u admitted more than %u, %u fewer; the first is %u with %u", keys, over,
		     expected, under, first, atomic_load(&race->count[first]));
}

#endif
