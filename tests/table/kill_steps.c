/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill_steps: whoever dies in the middle of a charge, at whatever instruction, leaves a sound table, in which
 * another process finds the key with its charge or without it, never with anything else; and a dead
 * process's slot is free at once.
 */
#include "tests/table/stage.h"

#define BURST 3u

static struct table_key subject(const struct table *table)
{
	return rig_key(table, 1, 1);
}

static void fill(struct stage *stage, struct table *table, const struct algo_numbers *numbers, unsigned keys)
{
	uint32_t row = rig_row(table, 50, numbers, 1);
	struct table_look look;
	for (unsigned i = 0; i < keys; i++) {
		struct table_key key = rig_key(table, 2, i);
		table_charge(table, &key, row, &stage->time, 1, &look);
	}
}

/* ---- what stands in the table before, and what the victim is doing ------------------------------- */

static void charge_one(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	struct table_look look;
	table_charge(table, &key, stage->row, &stage->time, 1, &look);
}

static void charge_two(struct stage *stage, struct table *table)
{
	charge_one(stage, table);
	charge_one(stage, table);
}

static void charge_all(struct stage *stage, struct table *table)
{
	for (unsigned i = 0; i < BURST; i++)
		charge_one(stage, table);
}

static void full_of_recovered(struct stage *stage, struct table *table)
{
	struct algo_numbers numbers = rig_token(1000, RIG_SECOND, 10);
	fill(stage, table, &numbers, 40000);
	stage->time.now += RIG_SECOND;
}

static void full_of_live(struct stage *stage, struct table *table)
{
	struct algo_numbers numbers = rig_token(1, 3600 * RIG_SECOND, 10);
	fill(stage, table, &numbers, 40000);
}

static void charge_changed(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	struct table_look look;
	table_charge(table, &key, stage->changed_row, &stage->time, 1, &look);
}

static void punish(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	struct table_look look;
	table_punish(table, &key, stage->row, &stage->time, 2, &look);
}

static void give_back(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	table_uncharge(table, &key, stage->row, &stage->time, stage->time.now, 1);
}

static void forget(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	(void)stage;
	table_forget(table, &key);
}

/* Rows are copied out of the ledger once, in tens of thousands of instructions that write nothing shared. */
static void know_rows(struct stage *stage, struct table *table)
{
	(void)stage;
	for (uint32_t row = 1; row <= ledger_rows(table); row++)
		ledger_row(table, row);
}

static const struct story {
	const char *name;
	stage_act *before, *act;
	unsigned untouched, done; /* what another process can still charge: act not done, act done */
	bool changed;		  /* that other process has the new numbers */
} stories[] = {
	{"insert into an empty table", NULL, charge_one, 3, 2, false},
	{"charge a known key", charge_one, charge_one, 2, 1, false},
	{"replace a recovered key", full_of_recovered, charge_one, 3, 2, false},
	{"push out a live key", full_of_live, charge_one, 3, 2, false},
	{"convert to new numbers", charge_one, charge_changed, 4, 3, true},
	{"count a refusal of two", charge_two, punish, 1, 0, false},
	{"give back", charge_all, give_back, 0, 1, false},
	{"forget a key", charge_all, forget, 0, 3, false},
};

/* Somebody else uses the key of the dead; returns how often it was admitted. */
static unsigned heir(struct stage *stage, bool changed)
{
	struct table *table = rig_open(&stage->rig), *second = rig_open(&stage->rig);
	struct table_key key = subject(table);
	struct table_look look;
	unsigned admitted = 0;
	for (unsigned i = 0; i < 20; i++) {
		struct table *mine = i & 1 ? second
					   : table; /* two of two process slots: the dead one's is free */
		admitted += table_charge(mine, &key, changed ? stage->changed_row : stage->row, &stage->time,
					 1, &look) == TABLE_CHARGED;
	}
	table_close(&second);
	table_close(&table);
	return admitted;
}

static struct stage stage_for(const struct algo_numbers *numbers, const struct algo_numbers *changed)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2),
			      .ready = know_rows,
			      .numbers = *numbers,
			      .changed = *changed};
	struct table *table = rig_open(&stage.rig);
	stage.time.now = 100 * RIG_SECOND;
	stage.row = rig_row(table, 1, numbers, 1);
	stage.changed_row = rig_row(table, 1, changed, 2);
	table_close(&table);
	return stage;
}

static void tell(const struct story *story, const char *kind, const struct algo_numbers *numbers,
		 const struct algo_numbers *changed)
{
	struct stage stage = stage_for(numbers, changed);
	if (story->before) {
		struct table *table = rig_open(&stage.rig);
		story->before(&stage, table);
		table_close(&table);
	}
	stage_save(&stage);

	unsigned deaths = 0, strange = 0, steps = 0, first = 0, last = 0, turns = 0;
	uint64_t broken = 0;
	unsigned seen, at = 0;
	do {
		stage_restore(&stage);
		seen = stage_die_at(&stage, story->act, at, &steps);
		broken += rig_broken(&stage.rig);
		unsigned left = heir(&stage, story->changed);
		broken += rig_broken(&stage.rig);
		strange += left != story->untouched && left != story->done;
		turns += deaths > 0 && left != last;
		if (deaths++ == 0)
			first = left;
		last = left;
	} while (seen == at++);
	char text[160];
	snprintf(text, sizeof text, "%s, %s: killed at each step, the table is sound", kind, story->name);
	is_u64(broken, 0, text);
	if (!ok(!strange && first == story->untouched && last == story->done && turns <= 1,
		"  and the next finds it done or not done"))
		note("strange %u, first %u, last %u, turned %u times", strange, first, last, turns);
	ok(deaths > 2, "  (there was something to die in)");
	note("%u deaths in %u instructions", deaths - 1, steps);
	stage_free(&stage);
}

/* A dead man's claim, taken over by one who dies at each step too. */
static void tell_claims(const struct algo_numbers *numbers)
{
	struct stage stage = stage_for(numbers, numbers);
	stage_save(&stage);
	unsigned deaths = 0, strange = 0, steps;
	uint64_t broken = 0;
	for (unsigned first = 1; first < 4; first++) {
		unsigned seen, at = 0;
		do {
			stage_restore(&stage);
			stage_die_at(&stage, charge_one, first, &steps);
			seen = stage_die_at(&stage, charge_one, at, &steps);
			broken += rig_broken(&stage.rig);
			unsigned left = heir(&stage, false); /* each of the two may have been charged */
			broken += rig_broken(&stage.rig);
			strange += left > BURST || left < BURST - 2;
			deaths++;
		} while (seen == at++);
	}
	ok(!broken && !strange, "two die over the same fresh key: it is sound, and one counter");
	note("%u pairs of deaths", deaths);
	stage_free(&stage);
}

int main(void)
{
	struct algo_numbers token = rig_token(1, RIG_YEAR, BURST),
			    token_changed = rig_token(1, RIG_YEAR, 2 * BURST);
	struct algo_numbers leaky = rig_leaky(1, RIG_YEAR, BURST - 1);
	struct algo_numbers leaky_changed = rig_leaky(1, RIG_YEAR, 2 * BURST - 1);
	struct algo_numbers window = rig_window(BURST, RIG_YEAR, ALGO_FIRST_REQUEST);
	struct algo_numbers window_changed = rig_window(2 * BURST, RIG_YEAR, ALGO_FIRST_REQUEST);
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
		tell(&stories[i], "token", &token, &token_changed);
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i += 4) { /* insert, convert */
		tell(&stories[i], "leaky", &leaky, &leaky_changed);
		tell(&stories[i], "window", &window, &window_changed);
	}
	tell_claims(&token);
	return done_testing();
}
