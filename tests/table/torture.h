/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture: the books that outlive killed workers, and what one worker does until it is killed.
 *
 * A worker writes down what it is about to charge (`pending`), charges, counts, and clears the note. So what
 * is counted was charged for certain, and the bound on what is counted holds whenever the table's does; what
 * was charged and not counted is at most the note a dead worker left, and the parent adds it up as lost. A
 * charge that will be given back leaves the count before it leaves the table.
 */
#ifndef WEIR_TESTS_TABLE_TORTURE_H
#define WEIR_TESTS_TABLE_TORTURE_H

#include <stdatomic.h>

#include "tests/table/rig.h"

#define TORTURE_WORKERS 3u
#define TORTURE_SLOTS	8u
#define TORTURE_BURST	20000u /* and rate per second: a second without any worker loses nothing */
#define TORTURE_WINDOW	500u
#define TORTURE_PERIOD	(RIG_SECOND / 20)
#define FRESH_KEYS	32u /* per epoch: nobody has ever charged them before */
#define FRESH_BURST	5u
#define FRESH_RATE	2u /* per second: keys of old epochs recover, the table never fills */
#define FRESH_EPOCHS	32768u
#define TORTURE_IMAGES	4096u

enum torture_limit {
	HOT_TOKEN,
	HOT_LEAKY,
	HOT_WINDOW,
	HOT_CLOCK,
	HOT_COUNT,
	FRESH = HOT_COUNT,
	ROWS,
	CHURN = ROWS
};

struct fresh {
	_Atomic uint64_t last; /* latest table time at which anybody charged it */
	_Atomic uint32_t counted;
};

struct torture {
	struct rig rig;
	struct algo_numbers numbers[ROWS];
	uint32_t row[ROWS];
	uint64_t begin;
	_Atomic uint32_t epoch;
	_Atomic uint32_t churn_row[TORTURE_IMAGES]; /* what an image would name, by generation */
	_Atomic uint64_t counted[HOT_COUNT], last[HOT_COUNT];
	_Atomic uint32_t pending[TORTURE_WORKERS]; /* limit << 8 | cost; 0: nothing under way */
	_Atomic uint64_t lost[HOT_COUNT];	   /* notes of the dead */
	_Atomic uint64_t charges, no_room, wrong, published;
	uint64_t opened[FRESH_EPOCHS]; /* table time at which the epoch began */
	struct fresh fresh[FRESH_EPOCHS][FRESH_KEYS];
};

static inline void torture_latest(_Atomic uint64_t *last, uint64_t now)
{
	for (uint64_t seen = atomic_load(last);
	     now > seen && !atomic_compare_exchange_weak(last, &seen, now);)
		;
}

static inline bool torture_charge(struct torture *torture, struct table *table, const struct table_key *key,
				  uint32_t row, const struct algo_time *t, uint32_t cost)
{
	struct table_look look;
	enum table_charge result = table_charge(table, key, row, t, cost, &look);
	if (result == TABLE_NO_ROOM)
		atomic_fetch_add(&torture->no_room, 1);
	else if (look.allowed != (result == TABLE_CHARGED))
		atomic_fetch_add(&torture->wrong, 1);
	return result == TABLE_CHARGED;
}

static inline void torture_hot(struct torture *torture, unsigned worker, struct table *table, unsigned limit,
			       uint32_t cost, bool regret)
{
	struct table_key key = rig_key(table, 1, limit);
	struct algo_time t;
	table_time(table, &t);
	torture_latest(&torture->last[limit], t.now);
	atomic_store(&torture->pending[worker], (uint32_t)limit << 8 | cost);
	if (torture_charge(torture, table, &key, torture->row[limit], &t, cost)) {
		atomic_fetch_add(&torture->counted[limit], cost);
		atomic_fetch_add(&torture->charges, 1);
		if (regret) {
			atomic_fetch_sub(&torture->counted[limit], cost);
			table_uncharge(table, &key, torture->row[limit], &t, t.now, cost);
		}
	}
	atomic_store(&torture->pending[worker], 0);
}

static inline void torture_fresh(struct torture *torture, struct table *table, unsigned id)
{
	uint32_t epoch = atomic_load(&torture->epoch);
	struct fresh *fresh = &torture->fresh[epoch][id];
	struct table_key key = rig_key(table, 2, (uint64_t)epoch * FRESH_KEYS + id);
	struct algo_time t;
	table_time(table, &t);
	torture_latest(&fresh->last, t.now);
	if (torture_charge(torture, table, &key, torture->row[FRESH], &t, 1)) {
		atomic_fetch_add(&fresh->counted, 1);
		atomic_fetch_add(&torture->charges, 1);
	}
}

/* What a door does at each request (N4): the row of the published image, held before it is used. */
static inline uint32_t torture_churn_row(struct torture *torture, struct table *table, uint64_t *held)
{
	for (uint64_t now; (now = table_generation(table)) != *held; *held = now)
		table_hold_generation(table, now);
	return atomic_load(&torture->churn_row[*held % TORTURE_IMAGES]);
}

/* Keys without a bound: they are here to be in the way. */
static inline void torture_churn(struct torture *torture, struct table *table, uint64_t roll, uint64_t *held)
{
	struct table_key key = rig_key(table, 3, roll % 5000);
	uint32_t row = torture_churn_row(torture, table, held);
	struct algo_time t;
	struct table_look look;
	table_time(table, &t);
	if ((roll >> 44 & 2047) == 0)
		table_forget_limit(table, 100 + CHURN);
	switch (roll >> 40 & 7) {
	case 0:
		table_forget(table, &key);
		break;
	case 1:
		table_punish(table, &key, row, &t, 1, &look);
		break;
	case 2:
		table_peek(table, &key, row, &t, 1, &look);
		break;
	default:
		torture_charge(torture, table, &key, row, &t, 1);
	}
}

/* A new policy: the churned limit gets other numbers, the rest keeps its rows. Whoever dies here holds the
 * ledger's lock. */
static inline void torture_publish(struct torture *torture, struct table *table)
{
	enum weir_error error = ledger_lock(table, 5000);
	uint64_t generation = table_generation(table) + 1;
	uint32_t row = 0;
	for (unsigned i = 0; !error && i < ROWS; i++) {
		error = ledger_row_for(table, 100 + i, &torture->numbers[i], 0, "kept", (uint32_t)generation,
				       &row);
		if (row != torture->row[i])
			atomic_fetch_add(&torture->wrong, 1);
	}
	struct algo_numbers numbers = rig_token(100, RIG_SECOND, 5 + (uint32_t)generation % 2);
	if (!error)
		error = ledger_row_for(table, 100 + CHURN, &numbers, 0, "churned", (uint32_t)generation, &row);
	if (!error) {
		atomic_store(&torture->churn_row[generation % TORTURE_IMAGES], row);
		table_set_generation(table, generation);
		atomic_fetch_add(&torture->published, 1);
	} else {
		atomic_fetch_add(&torture->wrong, 1);
	}
	ledger_unlock(table);
}

/* Never returns: the parent kills it. */
_Noreturn static inline void torture_worker(struct torture *torture, unsigned worker, uint64_t seed)
{
	struct table *table = rig_open(&torture->rig);
	for (uint64_t held = 0;;) {
		uint64_t roll = rig_random(&seed);
		unsigned what = (unsigned)(roll >> 56);
		if (what < 100)
			torture_hot(torture, worker, table, (unsigned)(roll % HOT_COUNT),
				    1 + (uint32_t)(roll >> 8) % 3, false);
		else if (what < 120)
			torture_hot(torture, worker, table, (unsigned)(roll % 2), 1, true);
		else if (what < 200)
			torture_fresh(torture, table, (unsigned)(roll % FRESH_KEYS));
		else if (what < 255 || (roll & 63))
			torture_churn(torture, table, roll, &held);
		else
			torture_publish(torture, table);
	}
}

#endif
