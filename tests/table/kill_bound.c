/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill_bound: whoever dies in the middle of asking with a bound of his own, at whatever instruction, leaves a sound
 * table, in which others find his charge or none, whatever their bounds; of several limits at most the one that was
 * charged before the other refused; and of places none that he had.
 */
#include "tests/table/stage.h"

#define BURST 3u /* of the widest, so four may pass */

static const struct algo_bound narrow = {.burst = 1}, wide = {.burst = BURST};

static void know_rows(struct stage *stage, struct table *table)
{
	(void)stage;
	for (uint32_t row = 1; row <= ledger_rows(table); row++)
		ledger_row(table, row);
}

static void charge(struct stage *stage, struct table *table, uint64_t id, uint32_t row)
{
	struct table_key key = rig_key(table, 1, id);
	struct table_look look;
	table_charge_bound(table, &key, row, &stage->time, &wide, &look);
}

static void charge_one(struct stage *stage, struct table *table)
{
	charge(stage, table, 1, stage->row);
}

static void charge_all(struct stage *stage, struct table *table)
{
	for (unsigned i = 0; i <= BURST; i++)
		charge_one(stage, table);
}

static void charge_changed(struct stage *stage, struct table *table)
{
	charge(stage, table, 1, stage->changed_row);
}

/* He has the older row; the key has the newer. */
static void charge_older(struct stage *stage, struct table *table)
{
	charge(stage, table, 1, stage->row);
}

static void refused(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	if (table_charge_bound(table, &key, stage->row, &stage->time, &narrow, &look) != TABLE_REFUSED)
		_exit(1); /* that is no stop of the stage's */
}

static void fill_narrow(struct stage *stage, struct table *table)
{
	charge_one(stage, table);
	charge_one(stage, table);
}

static void give_back(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	table_uncharge_bound(table, &key, stage->row, &stage->time, stage->time.now, &wide);
}

/* The second limit is full. */
static void second_is_full(struct stage *stage, struct table *table)
{
	for (unsigned i = 0; i <= BURST; i++)
		charge(stage, table, 2, stage->row);
}

static void first_then_second(struct stage *stage, struct table *table)
{
	struct table_key second = rig_key(table, 1, 2);
	struct table_look look;
	charge_one(stage, table);
	if (table_charge_bound(table, &second, stage->row, &stage->time, &wide, &look) == TABLE_REFUSED)
		give_back(stage, table);
}

static void take_one(struct stage *stage, struct table *table)
{
	static struct table_ticket ticket;
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	table_take_bound(table, &key, stage->row, &stage->time, &narrow, &ticket, &look);
}

static void take_and_end(struct stage *stage, struct table *table)
{
	struct table_ticket ticket;
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	if (table_take_bound(table, &key, stage->row, &stage->time, &narrow, &ticket, &look) !=
		    TABLE_CHARGED ||
	    !table_give_back(table, &ticket, &stage->time))
		_exit(1);
}

enum kind { NGINX, EXACT, PLACES, KINDS };

/* What others can have afterwards with the widest bound: of the act not done (`untouched`) and done; `between`: at
 * a moment of it, as much as a charge that is given back. */
static const struct story {
	const char *name;
	enum kind kind;
	stage_act *before, *act;
	unsigned untouched, between, done;
	bool writes;
	bool changed; /* those others have the new row */
} stories[] = {
	{"a key nobody knows", NGINX, NULL, charge_one, 4, 4, 3, true, false},
	{"a known key", NGINX, charge_one, charge_one, 3, 3, 2, true, false},
	{"a known key, in ns", EXACT, charge_one, charge_one, 3, 3, 2, true, false},
	{"a known key, converted", NGINX, charge_one, charge_changed, 3, 3, 2, true, true},
	{"a known key, to another clock", EXACT, charge_one, charge_changed, 3, 3, 2, true, true},
	{"a known key, under a newer row", NGINX, charge_changed, charge_older, 3, 3, 2, true, true},
	{"refused by a narrower bound", NGINX, fill_narrow, refused, 2, 2, 2, false, false},
	{"given back", NGINX, charge_all, give_back, 0, 0, 1, true, false},
	{"charged, refused by another, given back", NGINX, second_is_full, first_then_second, 4, 3, 4, true,
	 false},
	{"a place", PLACES, NULL, take_one, 4, 4, 4, true, false},
	{"a place, and its end", PLACES, NULL, take_and_end, 4, 4, 4, true, false},
};

static struct algo_numbers numbers_of(enum kind kind, bool changed)
{
	struct algo_numbers n;
	bool fine = kind == PLACES  ? algo_concurrent(9, &n)
		    : kind == EXACT ? algo_limit_req_exact(changed ? 2000 : 5, RIG_SECOND, 9, 0, &n)
				    : algo_limit_req(changed ? 7 : 1, RIG_SECOND, 9, 0, &n);
	if (!fine)
		rig_die("numbers", "refused");
	return n;
}

/* Two of two process slots; the dead one's is one of them. The narrow one is asked first: he has what fits him. */
static unsigned heirs(struct stage *stage, const struct story *story, bool *wrong)
{
	struct table *table[2] = {rig_open(&stage->rig), rig_open(&stage->rig)};
	struct table_key key = rig_key(table[0], 1, 1);
	const uint32_t row = story->changed ? stage->changed_row : stage->row;
	struct algo_time t = stage->time;
	struct table_ticket tickets[20];
	struct table_look look;
	unsigned taken = 0, by_narrow = 0;
	if (story->kind == PLACES) /* the dead are known to be dead within two seconds */
		t.now += 3 * RIG_SECOND;
	for (unsigned i = 0; i < 20; i++) {
		const struct algo_bound *bound = i < 10 ? &narrow : &wide;
		enum table_charge result =
			story->kind == PLACES
				? table_take_bound(table[i % 2], &key, row, &t, bound, &tickets[i], &look)
				: table_charge_bound(table[i % 2], &key, row, &t, bound, &look);
		taken += result == TABLE_CHARGED;
		by_narrow += result == TABLE_CHARGED && i < 10;
		*wrong |= result == TABLE_NO_ROOM;
	}
	*wrong |= by_narrow != (taken > BURST - 1 ? taken - (BURST - 1) : 0);
	if (story->kind == PLACES)
		for (unsigned i = 0; i < 20; i++)
			table_give_back(table[i % 2], &tickets[i], &t);
	table_close(&table[1]);
	table_close(&table[0]);
	return taken;
}

static void tell(const struct story *story)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2),
			      .ready = know_rows,
			      .numbers = numbers_of(story->kind, false),
			      .changed = numbers_of(story->kind, true)};
	struct table *table = rig_open(&stage.rig);
	stage.time.now = 100 * RIG_SECOND;
	stage.row = rig_row(table, 1, &stage.numbers, 1);
	stage.changed_row = rig_row(table, 1, &stage.changed, 2);
	if (story->before)
		story->before(&stage, table);
	table_close(&table);
	stage_save(&stage);

	unsigned deaths = 0, strange = 0, steps = 0, first = 0, last = 0, between = 0, seen, at = 0;
	uint64_t broken = 0;
	bool wrong = false;
	do {
		stage_restore(&stage);
		seen = stage_die_at(&stage, story->act, at, &steps);
		broken += rig_broken(&stage.rig);
		last = heirs(&stage, story, &wrong);
		broken += rig_broken(&stage.rig);
		strange += last != story->untouched && last != story->between && last != story->done;
		between += last == story->between;
		if (deaths++ == 0)
			first = last;
	} while (seen == at++);
	char text[160];
	snprintf(text, sizeof text, "%s: killed at each step, the table is sound", story->name);
	is_u64(broken, 0, text);
	if (!ok(!strange && !wrong && first == story->untouched && last == story->done && between > 0,
		"  and others find it done or not done"))
		note("strange %u, wrong %d, first %u, last %u, between %u times", strange, wrong, first, last,
		     between);
	is_u64(deaths > 2, story->writes,
	       story->writes ? "  (there was something to die in)" : "  (nothing was written)");
	note("%u deaths in %u instructions", deaths - 1, steps);
	stage_free(&stage);
}

int main(void)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
		tell(&stories[i]);
	return done_testing();
}
