/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill_files: whoever dies while it creates, opens or closes a table, or while it publishes numbers, leaves
 * files the next one can use: a whole table or none, no slot lost, no lock held, no row half written.
 */
#include "tests/table/stage.h"

static void open_and_close(struct stage *stage, struct table *table)
{
	table = rig_open(&stage->rig);
	table_close(&table);
}

/* Taking the lock writes nothing; whoever dies from here on has it. */
static void take_lock(struct stage *stage, struct table *table)
{
	(void)stage;
	if (ledger_lock(table, 1000) != WEIR_OK)
		rig_die("ledger", "cannot be locked");
}

static void add_row(struct stage *stage, struct table *table)
{
	uint32_t row;
	ledger_row_for(table, 7, 0, &stage->numbers, 0, "rig", 3, &row);
	ledger_unlock(table);
}

static void add_row_and_name(struct stage *stage, struct table *table)
{
	uint32_t row;
	ledger_row_for(table, 7, 0, &stage->changed, 0, "another", 4, &row);
	ledger_unlock(table);
}

static void set_generation(struct stage *stage, struct table *table)
{
	(void)stage;
	table_set_generation(table, 5);
	table_hold_generation(table, 5);
	ledger_unlock(table);
}

/* Both process slots can be taken, and they decide together. */
static bool usable(struct stage *stage)
{
	struct table *table = rig_open(&stage->rig), *second = rig_open(&stage->rig);
	struct algo_time t = {.now = 100 * RIG_SECOND};
	struct table_look look;
	uint32_t row = rig_row(table, 1, &stage->numbers, 1);
	struct table_key key = rig_key(table, 1, 1), same = rig_key(second, 1, 1);
	unsigned admitted = 0;
	for (unsigned i = 0; i < 3; i++) {
		admitted += table_charge(table, &key, row, &t, 1, &look) == TABLE_CHARGED;
		admitted += table_charge(second, &same, row, &t, 1, &look) == TABLE_CHARGED;
	}
	table_close(&second);
	table_close(&table);
	return admitted == 3;
}

static void create_killed(void)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2), .numbers = rig_token(1, RIG_YEAR, 3)};
	struct stage clean = stage;
	unsigned deaths = 0, unusable = 0, litter = 0;
	uint64_t broken = 0;
	clean.rig = rig_new(TABLE_SIZE_MIN, 2);
	usable(&clean);
	unsigned expected = rig_files(&clean.rig, NULL);
	rig_free(&clean.rig);
	unsigned seen, at = 0;
	do {
		rig_files(&stage.rig, unlink);
		seen = stage_die_in_kernel(&stage, open_and_close, at);
		unusable += !usable(&stage);
		litter += rig_files(&stage.rig, NULL) != expected;
		broken += rig_broken(&stage.rig);
		deaths++;
	} while (seen == at++);
	ok(!unusable && !broken, "killed while creating the table: the next one has a whole table");
	is_u64(litter, 0, "  and no other file stays behind");
	ok(deaths > 20, "  (there was something to die in)");
	rig_free(&stage.rig);
}

static void open_killed(void)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2), .numbers = rig_token(1, RIG_YEAR, 3)};
	unsigned deaths = 0, unusable = 0;
	uint64_t broken = 0;
	struct table *table = rig_open(&stage.rig);
	table_close(&table);
	stage_save(&stage);
	unsigned seen, at = 0;
	do {
		stage_restore(&stage);
		seen = stage_die_in_kernel(&stage, open_and_close, at);
		unusable += !usable(&stage);
		broken += rig_broken(&stage.rig);
		deaths++;
	} while (seen == at++);
	ok(!unusable && !broken, "killed while opening or closing: no process slot is lost");
	ok(deaths > 10, "  (there was something to die in)");
	stage_free(&stage);
}

/* Rows of the dead publisher: each is there and right, or not there; at least `least` are. */
static bool rows_right(struct stage *stage, unsigned least)
{
	unsigned seen = 0;
	struct table *table = rig_open_as(&stage->rig, true);
	uint32_t rows = ledger_rows(table);
	bool right = ledger_row(table, LEDGER_ROW_MAX) == NULL;
	for (uint32_t row = 1; row <= rows; row++) {
		const struct ledger_row *found = ledger_row(table, row);
		if (!found || found->identity != 7)
			continue;
		seen++;
		const struct algo_numbers *expected = found->generation == 3 ? &stage->numbers
									     : &stage->changed;
		right &= memcmp(&found->numbers, expected, sizeof *expected) == 0;
	}
	table_close(&table);
	return right && seen >= least;
}

static void publish_killed(stage_act *act, const char *name)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2),
			      .ready = take_lock,
			      .numbers = rig_token(1, RIG_YEAR, 3),
			      .changed = rig_token(1, RIG_YEAR, 6)};
	unsigned deaths = 0, unusable = 0, locked = 0, wrong = 0, steps;
	uint64_t broken = 0;
	char text[160];
	struct table *table = rig_open(&stage.rig);
	rig_row(table, 6, &stage.numbers, 1); /* so that the ledger exists and has room */
	table_close(&table);
	stage_save(&stage);
	unsigned seen, at = 0;
	do {
		stage_restore(&stage);
		seen = stage_die_at(&stage, act, at, &steps);
		broken += rig_broken(&stage.rig);
		wrong += !rows_right(&stage, 0);
		table = rig_open(&stage.rig);
		locked += ledger_lock(table, 0) != WEIR_OK;
		ledger_unlock(table);
		rig_row(table, 7, &stage.numbers, 3);
		rig_row(table, 7, &stage.changed, 4);
		table_close(&table);
		wrong += !rows_right(&stage, 2);
		unusable += !usable(&stage);
		broken += rig_broken(&stage.rig);
		deaths++;
	} while (seen == at++);
	snprintf(text, sizeof text, "killed while it %s: the next publisher finds lock and rows", name);
	if (!ok(!unusable && !broken && !locked && !wrong, text))
		note("unusable %u, broken %" PRIu64 ", locked %u, wrong rows %u", unusable, broken, locked,
		     wrong);
	ok(deaths > 2, "  (there was something to die in)");
	note("%u deaths in %u instructions", deaths - 1, steps);
	stage_free(&stage);
}

int main(void)
{
	create_killed();
	open_killed();
	publish_killed(add_row, "adds a row");
	publish_killed(add_row_and_name, "adds a row and a name");
	publish_killed(set_generation, "sets the generation");
	return done_testing();
}
