/* SPDX-License-Identifier: BSD-2-Clause */
/* settle: what happens to a counter besides being charged: punished, given back, forgotten. A counter of 10,
 * one a second, in steps; after each, how much is left. */
#include "table/slot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define BEGIN (UINT64_C(100) * RIG_SECOND)
#define BURST 10u

enum act { CHARGE, PUNISH, GIVE_BACK, FORGET, EVICT };

static const struct {
	enum act act;
	double at; /* seconds after BEGIN */
	uint32_t cost;
	int result; /* CHARGE: enum table_charge; FORGET: was it there */
	uint32_t left;
	const char *what;
} steps[] = {
	{CHARGE, 0, 7, TABLE_CHARGED, 3, "charged"},
	{CHARGE, 0, 4, TABLE_REFUSED, 3, "refused: nothing is taken"},
	{PUNISH, 0, 4, 0, 0, "a refusal that counts fills it"},
	{PUNISH, 0, 4, 0, 0, "and never more than fills it"},
	{CHARGE, 1, 1, TABLE_CHARGED, 0, "so one second later one fits"},
	{GIVE_BACK, 1, 1, 0, 1, "and can be given back"},
	{CHARGE, 1, 1, TABLE_CHARGED, 0, "and taken again"},
	{FORGET, 1, 0, true, 10, "forgotten: full again"},
	{FORGET, 1, 0, false, 10, "it is not there twice"},
	{GIVE_BACK, 1, 1, 0, 10, "an absent key owes nothing"},
	{PUNISH, 1, 3, 0, 7, "an absent key can be punished"},
	{CHARGE, 1, 7, TABLE_CHARGED, 0, "and has the rest"},
	{EVICT, 1, 0, 0, 10, "evicted"},
	{GIVE_BACK, 1, 7, 0, 10, "an evicted key owes nothing"},
	{CHARGE, 1, 0, TABLE_CHARGED, 10, "a cost of 0 always fits"},
	{PUNISH, 1, 0, 0, 10, "and punishes nothing"},
};

static void check_steps(struct table *table, uint32_t row)
{
	struct table_key key = rig_key(table, 1, 1);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct algo_time t = {.now = BEGIN + (uint64_t)(steps[i].at * 1e9)};
		struct table_look look;
		struct algo_report report;
		int result = steps[i].result;
		switch (steps[i].act) {
		case CHARGE:
			result = (int)table_charge(table, &key, row, &t, steps[i].cost, &look);
			algo_describe(&look.numbers, look.state, &t, 1, result == TABLE_CHARGED, &report);
			is_u64(report.remaining, steps[i].left, "what charge says is left");
			break;
		case PUNISH:
			table_punish(table, &key, row, &t, steps[i].cost, &look);
			ok(!look.allowed, "punished: refused");
			break;
		case GIVE_BACK:
			table_uncharge(table, &key, row, &t, t.now, steps[i].cost);
			break;
		case FORGET:
			result = table_forget(table, &key);
			break;
		case EVICT:
			memset(slot_pair(table, &key), 0, sizeof(struct slot_pair));
			break;
		}
		is_u64((uint64_t)result, (uint64_t)steps[i].result, steps[i].what);
		table_peek(table, &key, row, &t, 1, &look);
		algo_describe(&look.numbers, look.state, &t, 1, false, &report);
		is_u64(report.remaining, steps[i].left, "  and what a look says is left");
		ok(look.allowed == (steps[i].left >= 1), "  and whether one would fit");
	}
}

static void check_forget_limit(struct table *table, const struct algo_numbers *numbers)
{
	uint32_t rows[3] = {rig_row(table, 7, numbers, 1), rig_row(table, 8, numbers, 1)};
	struct algo_numbers other = rig_token(2, RIG_SECOND, BURST);
	struct algo_time t = {.now = BEGIN};
	struct table_look look;
	unsigned left[3] = {0};
	rows[2] = rig_row(table, 7, &other, 2);
	for (uint64_t i = 0; i < 30; i++) {
		struct table_key key = rig_key(table, 70 + i % 3, i);
		table_charge(table, &key, rows[i % 3], &t, BURST, &look);
	}
	is_u64(table_forget_limit(table, 99), 0, "a limit nobody has");
	is_u64(table_forget_limit(table, 7), 20, "all keys of a limit are forgotten, whatever their row");
	for (uint64_t i = 0; i < 30; i++) {
		struct table_key key = rig_key(table, 70 + i % 3, i);
		table_peek(table, &key, rows[i % 3], &t, 1, &look);
		left[i % 3] += look.allowed;
	}
	ok(left[0] == 10 && left[2] == 10, "they are full again");
	is_u64(left[1], 0, "those of another limit are not");
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers = rig_token(1, RIG_SECOND, BURST);
	check_steps(table, rig_row(table, 1, &numbers, 1));
	check_forget_limit(table, &numbers);
	table_close(&table);
	rig_free(&rig);
	return done_testing();
}
