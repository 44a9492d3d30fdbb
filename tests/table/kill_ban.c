/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill_ban: whoever dies in the middle of banning, lifting, giving or spending, at whatever instruction, leaves a sound table in
 * which others find it done or not done: a ban of one level and no other, and no unit more than was given.
 */
#include "algo/ban.h"
#include "algo/grant.h"
#include "table/given.h"
#include "tests/table/stage.h"

#define MINUTE (60 * RIG_SECOND)
#define GIVEN  5u

static void know_rows(struct stage *stage, struct table *table)
{
	(void)stage;
	for (uint32_t row = 1; row <= ledger_rows(table); row++)
		ledger_row(table, row);
}

static void ban(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	table_ban(table, &key, stage->row, &stage->time, 0, &look);
}

static void ban_chosen(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	table_ban(table, &key, stage->row, &stage->time, 7 * MINUTE, &look);
}

/* A ban that is over, so that the next is of level 2. */
static void ban_before(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct algo_time t = {.now = stage->time.now - MINUTE};
	struct table_look look;
	table_ban(table, &key, stage->row, &t, 0, &look);
}

static void lift(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	(void)stage;
	table_forget(table, &key);
}

static void give(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	table_grant(table, &key, stage->changed_row, &stage->time, GIVEN, stage->time.now + MINUTE, &look);
}

static void spend(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	table_spend(table, &key, stage->changed_row, &stage->time, 1, &look);
}

static void spend_back(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	spend(stage, table);
	table_uncharge(table, &key, stage->changed_row, &stage->time, stage->time.now, 1);
}

/* What others find: minutes of a ban, or units of a grant, of the act not done, halfway, and done. */
static const struct story {
	const char *name;
	stage_act *before, *act;
	bool grants, writes;
	unsigned untouched, between, done;
} stories[] = {
	{"a first ban", NULL, ban, false, true, 0, 0, 1},
	{"a second ban", ban_before, ban, false, true, 0, 0, 2},
	{"a ban of one who is banned", ban, ban, false, false, 1, 1, 1},
	{"a ban of a chosen length", NULL, ban_chosen, false, true, 0, 0, 7},
	{"in place of another", ban, ban_chosen, false, true, 1, 1, 7},
	{"lifted", ban, lift, false, true, 1, 1, 0},
	{"a grant", NULL, give, true, true, 0, 0, GIVEN},
	{"a grant in place of what is left of one", spend, give, true, true, 0, 0, GIVEN},
	{"a unit of it", give, spend, true, true, GIVEN, GIVEN, GIVEN - 1},
	{"a unit that is given back", give, spend_back, true, true, GIVEN, GIVEN - 1, GIVEN},
	{"a unit where nothing is given", NULL, spend, true, false, 0, 0, 0},
};

static unsigned heirs(struct stage *stage, const struct story *story, bool *unsaid)
{
	struct table *table = rig_open(&stage->rig);
	struct table_key key = rig_key(table, 1, 1);
	struct algo_time t = stage->time;
	struct table_look look;
	unsigned found = 0;
	if (story->grants) {
		while (table_spend(table, &key, stage->changed_row, &t, 1, &look) == TABLE_CHARGED)
			found++;
		*unsaid |= found && table_grants_until(table) <= t.now;
	} else {
		table_peek(table, &key, stage->row, &t, 1, &look);
		if (!look.allowed) {
			found = (unsigned)((ban_until(look.state) - t.now + RIG_SECOND) / MINUTE);
			/* I19 */
			*unsaid |= ban_level(look.state) == 0 &&
				   table_bans_until(table) < ban_until(look.state);
		}
	}
	table_close(&table);
	return found;
}

static void tell(const struct story *story)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2), .ready = know_rows};
	struct table *table = rig_open(&stage.rig);
	if (!algo_ban_numbers(MINUTE, 60 * MINUTE, &stage.numbers) || !grant_numbers(&stage.changed))
		rig_die("numbers", "refused");
	stage.time.now = 1000 * RIG_SECOND;
	stage.row = rig_row(table, 1, &stage.numbers, 1);
	stage.changed_row = rig_row(table, 2, &stage.changed, 2);
	if (story->before)
		story->before(&stage, table);
	table_close(&table);
	stage_save(&stage);

	unsigned deaths = 0, strange = 0, steps = 0, first = 0, last = 0, seen, at = 0;
	uint64_t broken = 0;
	bool unsaid = false;
	do {
		stage_restore(&stage);
		seen = stage_die_at(&stage, story->act, at, &steps);
		broken += rig_broken(&stage.rig);
		last = heirs(&stage, story, &unsaid);
		broken += rig_broken(&stage.rig);
		strange += last != story->untouched && last != story->between && last != story->done;
		if (deaths++ == 0)
			first = last;
	} while (seen == at++);
	char text[160];
	snprintf(text, sizeof text, "%s: killed at each step, the table is sound", story->name);
	is_u64(broken, 0, text);
	if (!ok(!strange && !unsaid && first == story->untouched && last == story->done,
		"  and others find it done or not done, and look for it"))
		note("strange %u, unsaid %d, first %u, last %u", strange, unsaid, first, last);
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
