/* SPDX-License-Identifier: BSD-2-Clause */
/* found: a look says whether the key was there before it, of every kind and every way to ask. */
#include "tests/table/rig.h"
#include "tests/tap.h"

#define BEGIN (UINT64_C(100) * RIG_SECOND)

enum kind { BUCKET, WINDOW, LOG, FLIGHT, KINDS };
static const char *const kinds[KINDS] = {"bucket", "window", "log", "in flight"};

static struct algo_numbers numbers_of(enum kind kind)
{
	struct algo_numbers out;
	bool made = kind == BUCKET   ? algo_token_bucket(3, 60 * RIG_SECOND, 3, &out)
		    : kind == WINDOW ? algo_fixed_window(3, 60 * RIG_SECOND, ALGO_FIRST_REQUEST, &out)
		    : kind == LOG    ? algo_sliding_log(3, 60 * RIG_SECOND, &out)
				     : algo_concurrent(3, &out);
	if (!made)
		rig_die("numbers", "refused");
	return out;
}

static void say(bool found, bool expect, enum kind kind, const char *what)
{
	char text[100];
	snprintf(text, sizeof text, "%s: %s", kinds[kind], what);
	is_u64(found, expect, text);
}

static void check_charges(struct table *table, uint32_t row, enum kind kind)
{
	struct table_key key = rig_key(table, 1, (uint64_t)kind);
	struct algo_time t = {.now = BEGIN};
	struct table_look look;
	table_peek(table, &key, row, &t, 1, &look);
	say(look.found, false, kind, "a new key is not there");
	table_charge(table, &key, row, &t, 1, &look);
	say(look.found, false, kind, "nor before its first charge");
	table_peek(table, &key, row, &t, 1, &look);
	say(look.found, true, kind, "then it is");
	table_charge(table, &key, row, &t, 1, &look);
	say(look.found, true, kind, "before its second charge too");
	table_charge(table, &key, row, &t, 3, &look);
	say(!look.allowed && look.found, true, kind, "and when it refuses");
	table_peek_held(table, &key, row, &t, 1, &look);
	say(look.found, true, kind, "asked with what is held");
	table_forget(table, &key);
	table_peek(table, &key, row, &t, 1, &look);
	say(look.found, false, kind, "forgotten");
	table_peek_held(table, &key, row, &t, 1, &look);
	say(look.found, false, kind, "forgotten, asked with what is held");
}

static void check_holds(struct table *table, uint32_t row, enum kind kind)
{
	struct table_key key = rig_key(table, 2, (uint64_t)kind);
	struct algo_time t = {.now = BEGIN};
	struct table_ticket first, second;
	struct table_look look;
	table_take(table, &key, row, &t, 1, TABLE_RESERVE, &first, &look);
	say(look.allowed && !look.found, true, kind, "not before the first hold");
	table_peek_held(table, &key, row, &t, 1, &look);
	say(look.found, true, kind, "held: it is there");
	table_take(table, &key, row, &t, 1, TABLE_RESERVE, &second, &look);
	say(look.found, true, kind, "before the second hold");
	table_give_back(table, &first, &t);
	table_give_back(table, &second, &t);
	table_peek_held(table, &key, row, &t, 1, &look);
	say(look.found, false, kind, "all given back");
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	for (enum kind kind = BUCKET; kind < KINDS; kind++) {
		struct algo_numbers numbers = numbers_of(kind);
		uint32_t row = rig_row(table, 1 + kind, &numbers, 1);
		if (kind != FLIGHT)
			check_charges(table, row, kind);
		check_holds(table, row, kind);
	}
	struct algo_time t = {.now = BEGIN};
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look = {.found = true};
	table_peek(table, &key, 999, &t, 1, &look);
	ok(!look.found, "a row that is in no ledger: not found");
	table_close(&table);
	rig_free(&rig);
	return done_testing();
}
