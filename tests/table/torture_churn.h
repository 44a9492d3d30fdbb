/* SPDX-License-Identifier: BSD-2-Clause */
/* torture_churn: a limit that is published anew all the time, each time as another kind, under keys in use. Nothing is
 * counted: it is here to be in the way. */
#ifndef WEIR_TESTS_TABLE_TORTURE_CHURN_H
#define WEIR_TESTS_TABLE_TORTURE_CHURN_H

#include "tests/table/torture_books.h"

#define CHURN_KEYS 1500u

static struct algo_numbers churn_numbers(uint64_t generation)
{
	struct algo_numbers numbers = rig_token(100, RIG_SECOND, 5 + (uint32_t)generation % 2);
	uint32_t n = 4 + (uint32_t)generation % 3;
	switch (generation / 2 % 5) {
	case 1:
		algo_sliding_log(n, 50 * MS, &numbers);
		break;
	case 2:
		algo_fixed_window(n, 50 * MS, ALGO_FIRST_REQUEST, &numbers);
		break;
	case 3:
		algo_concurrent(n, &numbers);
		break;
	case 4:
		algo_sliding_window(n, 50 * MS, &numbers);
		break;
	}
	return numbers;
}

/* What a door does at each request (N4): the row of the published image, held before it is used. */
static uint32_t churn_row(struct torture_worker *w)
{
	struct table *table = w->table[ROOMY];
	for (uint64_t now; (now = table_generation(table)) != w->generation; w->generation = now)
		table_hold_generation(table, now);
	return atomic_load(&w->torture->churn_row[w->generation % TORTURE_IMAGES]);
}

/* Taken under one policy, ended under a later one. */
static void churn_hold(struct torture_worker *w, const struct table_key *key, uint32_t row,
		       const struct algo_time *t, uint64_t roll)
{
	struct table *table = w->table[ROOMY];
	struct table_ticket *ticket = &w->churn_ticket[roll % TORTURE_TICKETS];
	struct table_look look;
	if (ticket->live) {
		if (!table_settle(table, ticket, t, (uint32_t)(roll >> 8) % 3))
			atomic_fetch_add(&w->torture->wrong, 1);
		return;
	}
	enum table_charge result = table_take(table, key, row, t, 1, TABLE_RESERVE, ticket, &look);
	torture_judge(w->torture, CHURN, result, look.allowed);
}

static void churn_work(struct torture_worker *w, uint64_t roll)
{
	struct table *table = w->table[ROOMY];
	struct table_key key = rig_key(table, CHURN, (roll & 0xffffff) % CHURN_KEYS);
	uint32_t row = churn_row(w);
	struct algo_time t;
	struct table_look look;
	enum table_charge result;
	table_time(table, &t);
	if ((roll >> 44 & 2047) == 0)
		table_forget_limit(table, 100 + CHURN);
	switch (roll >> 40 & 15) {
	case 0:
		table_forget(table, &key);
		break;
	case 1:
		table_punish(table, &key, row, &t, 1, &look);
		break;
	case 2:
		table_peek(table, &key, row, &t, 1, &look);
		break;
	case 3:
		table_peek_held(table, &key, row, &t, 1, &look);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		churn_hold(w, &key, row, &t, roll >> 8);
		break;
	default:
		result = table_charge(table, &key, row, &t, 1, &look);
		torture_judge(w->torture, CHURN, result, look.allowed);
	}
}

/* A new policy: the churned limit gets other numbers, the rest keeps its rows. Whoever dies here holds the
 * ledger's lock. */
static void churn_publish(struct torture *torture, struct table *table)
{
	enum weir_error error = ledger_lock(table, 5000);
	uint64_t generation = table_generation(table) + 1;
	uint32_t row = 0;
	for (unsigned i = 0; !error && i < LIMITS; i++) {
		if (torture_limits[i].rig != ROOMY)
			continue;
		error = ledger_row_for(table, 100 + i, 0, &torture->numbers[i], 0, "kept",
				       (uint32_t)generation, &row);
		if (row != torture->row[i])
			atomic_fetch_add(&torture->wrong, 1);
	}
	struct algo_numbers numbers = churn_numbers(generation);
	if (!error)
		error = ledger_row_for(table, 100 + CHURN, 0, &numbers, 0, "churned", (uint32_t)generation,
				       &row);
	if (!error) {
		atomic_store(&torture->churn_row[generation % TORTURE_IMAGES], row);
		table_set_generation(table, generation);
		atomic_fetch_add(&torture->published, 1);
	} else {
		atomic_fetch_add(&torture->wrong, 1);
	}
	ledger_unlock(table);
}

#endif
