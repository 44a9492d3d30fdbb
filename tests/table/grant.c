/* SPDX-License-Identifier: BSD-2-Clause */
/* grant: units on top, until a date: given, spent, given back, over; and never spent where nothing is given. */
#include "algo/grant.h"
#include "table/given.h"
#include "table/snapshot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define BEGIN (UINT64_C(1) << 41)
#define HOUR  (3600 * RIG_SECOND)

enum act { GIVE, SPEND, BACK, FORGET };
static const struct {
	enum act act;
	uint64_t at;
	uint32_t units;
	int result;
	uint64_t left;
	const char *what;
} steps[] = {
	{SPEND, 0, 1, TABLE_REFUSED, 0, "nothing is given, so nothing is spent"},
	{GIVE, 0, 10, TABLE_CHARGED, 10, "ten, for an hour"},
	{SPEND, 1, 4, TABLE_CHARGED, 6, "four of them"},
	{SPEND, 1, 7, TABLE_REFUSED, 6, "seven are not left"},
	{SPEND, 1, 6, TABLE_CHARGED, 0, "the rest"},
	{SPEND, 1, 1, TABLE_REFUSED, 0, "none is left"},
	{BACK, 1, 6, 0, 6, "given back"},
	{GIVE, 2, 1000, TABLE_CHARGED, 1000, "a new grant takes the place of what is left"},
	{SPEND, 3599, 1, TABLE_CHARGED, 999, "to the end"},
	{SPEND, 3604, 1, TABLE_REFUSED, 0, "and not a second tick longer"},
	{GIVE, 3604, GRANT_UNITS_MAX, TABLE_CHARGED, GRANT_UNITS_MAX, "the most there is"},
	{SPEND, 3604, 1000000, TABLE_CHARGED, GRANT_UNITS_MAX - 1000000, "the largest cost"},
	{GIVE, 3604, GRANT_UNITS_MAX, TABLE_CHARGED, GRANT_UNITS_MAX, "the most, given anew meanwhile"},
	{BACK, 3604, 1000000, 0, ALGO_COUNT_MAX - 1, "is not lost when that cost is given back"},
	{FORGET, 3605, 0, true, 0, "taken away"},
	{SPEND, 3605, 1, TABLE_REFUSED, 0, "nothing is given any more"},
};

static uint64_t left(struct table *table, const struct table_key *key, uint32_t row,
		     const struct algo_time *t)
{
	struct table_look look;
	table_peek(table, key, row, t, 0, &look);
	return grant_left(&look.numbers, look.state, t->now);
}

static void check_steps(struct table *table, uint32_t row)
{
	struct table_key key = rig_key(table, 1, 1);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct algo_time t = {.now = BEGIN + steps[i].at * RIG_SECOND};
		struct table_look look;
		int result = 0;
		switch (steps[i].act) {
		case GIVE:
			result = (int)table_grant(table, &key, row, &t, steps[i].units,
						  steps[i].at < 3600 ? BEGIN + HOUR : t.now + HOUR, &look);
			break;
		case SPEND:
			result = (int)table_spend(table, &key, row, &t, steps[i].units, &look);
			ok(look.allowed == (result == TABLE_CHARGED), "  answer and look say the same");
			break;
		case BACK:
			table_uncharge(table, &key, row, &t, t.now, steps[i].units);
			break;
		case FORGET:
			result = table_forget(table, &key);
		}
		is_u64(result, steps[i].result, steps[i].what);
		is_u64(left(table, &key, row, &t), steps[i].left, "  so many are left");
	}
}

/* Two give, one is over: the header says when the last one is; a table of another size, and one from the disk, too. */
static void check_carried(void)
{
	struct rig rig = rig_new(UINT64_C(256) << 10, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers;
	struct table_look look;
	struct snapshot snapshot;
	struct algo_time t;
	grant_numbers(&numbers);
	uint32_t row = rig_row(table, 9, &numbers, 1);
	struct table_key key = rig_key(table, 1, 1), other = rig_key(table, 1, 2);
	table_time(table, &t);
	is_u64(table_grants_until(table), 0, "there never was a grant");
	table_grant(table, &key, row, &t, 50, t.now + 9 * HOUR, &look);
	table_grant(table, &other, row, &t, 50, t.now + HOUR, &look);
	table_spend(table, &key, row, &t, 8, &look);
	uint64_t until = table_grants_until(table);
	ok(until >= t.now + 9 * HOUR && until < t.now + 9 * HOUR + 2 * RIG_SECOND, "nine hours, rounded up");

	struct table_options options = {.path = rig.path, .size = UINT64_C(1) << 20};
	is_u64(table_resize(table, &options, 1000, NULL, 0), WEIR_OK, "resized");
	table_close(&table);
	rig.size = options.size;
	table = rig_open(&rig);
	is_u64(left(table, &key, row, &t), 42, "  42 are left");
	is_u64(table_grants_until(table), until, "  and are looked for");
	is_u64(snapshot_take(table, true, &snapshot), WEIR_OK, "taken");
	table_close(&table);
	struct rig again = rig;
	snprintf(again.path, sizeof again.path, "%s/again", rig.folder);
	again.size = 0;
	options = (struct table_options){.path = again.path, .size = TABLE_SIZE_MIN};
	is_u64(snapshot_make_table(&snapshot, &options, false, NULL, 0), WEIR_OK, "loaded");
	snapshot_free(&snapshot);
	table = rig_open(&again);
	is_u64(left(table, &key, row, &t), 42, "  42 are left");
	is_u64(table_grants_until(table), until, "  and are looked for");
	is_u64(rig_broken(&again), 0, "  and the table is sound");
	table_close(&table);
	rig_free(&rig);
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers;
	grant_numbers(&numbers);
	check_steps(table, rig_row(table, 1, &numbers, 1));
	is_u64(rig_broken(&rig), 0, "the table is sound");
	table_close(&table);
	rig_free(&rig);
	check_carried();
	return done_testing();
}
