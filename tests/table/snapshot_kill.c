/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_kill: whoever dies while it loads a snapshot leaves a whole table or none; whoever dies while it keeps one leaves
 * a pair of files that says what was kept before, or what is kept now. At each entry to and exit from the kernel: what
 * happens in between nobody sees. */
#include "table/snapshot_file.h"
#include "tests/table/snapshot_rig.h"
#include "tests/table/stage.h"

#define SIZE (UINT64_C(64) << 10)

static struct farm farm; /* the table that was taken; its folder has the snapshot */

/* ---- loading ---- */

static void load_and_close(struct stage *stage, struct table *table)
{
	struct table_options options = {.path = stage->rig.path,
					.size = stage->rig.size,
					.create = true,
					.process_slots = 2,
					.snapshot = farm.snapshot};
	if (table_open(&options, &table, NULL, 0) == WEIR_OK)
		table_close(&table);
}

static bool whole(struct stage *stage)
{
	struct table *table;
	struct table_restored told;
	load_and_close(stage, NULL);
	table = rig_open(&stage->rig);
	bool right = table_restored(table, &told) && told.entries == farm.live - told.expired &&
		     told.why[0] == '\0' && !farm_differ(&farm, farm.table, table, &farm.t, SHORT) &&
		     !farm_broken(table);
	table_close(&table);
	return right;
}

static void load_killed(void)
{
	struct stage stage = {.rig = rig_new(SIZE, 2)}, clean = {.rig = rig_new(SIZE, 2)};
	unsigned deaths = 0, wrong = 0, litter = 0, seen, at = 0;
	load_and_close(&clean, NULL);
	unsigned expected = rig_files(&clean.rig, NULL);
	rig_free(&clean.rig);
	do {
		rig_files(&stage.rig, unlink);
		seen = stage_die_in_kernel(&stage, load_and_close, at);
		wrong += !whole(&stage);
		litter += rig_files(&stage.rig, NULL) != expected;
		deaths++;
	} while (seen == at++);
	is_u64(wrong, 0, "killed while loading: the next one has a whole table");
	is_u64(litter, 0, "  and no other file stays behind");
	ok(deaths > 60, "  (there was something to die in)");
	note("%u deaths", deaths);
	rig_free(&stage.rig);
}

/* ---- keeping ---- */

static struct keeper *keeper;
static struct snapshot before, after;

static void begin_keeping(struct stage *stage, struct table *table)
{
	(void)stage;
	(void)table;
	if (keeper_open(farm.snapshot, &keeper, NULL, 0) != WEIR_OK)
		rig_die("keeper", "cannot be opened");
}

static void first_base(struct stage *stage, struct table *table)
{
	begin_keeping(stage, table);
	keeper_work(keeper, farm.table, 0, NULL, 0);
	keeper_close(&keeper, NULL, NULL, 0);
}

static void change_more(void)
{
	struct table_look look;
	for (unsigned id = 0; id < 5; id++) {
		struct table_key key = farm_key(farm.table, FIRST, 10 * id);
		table_charge(farm.table, &key, farm.row[FIRST], &farm.t, 1, &look);
	}
}

static void change(void)
{
	struct table_look look;
	for (unsigned id = 0; id < 10; id++) {
		struct table_key key = farm_key(farm.table, TOKEN, 10 * id);
		struct table_key gone = farm_key(farm.table, TOKEN, 10 * id + 2);
		table_charge(farm.table, &key, farm.row[TOKEN], &farm.t, 1, &look);
		table_forget(farm.table, &gone);
	}
}

/* What changes is charged in the child too: its copy of the table is shared memory, so only once. */
static void keep_base(struct stage *stage, struct table *table)
{
	begin_keeping(stage, table);
	if (keeper_work(keeper, farm.table, 0, NULL, 0) != WEIR_OK)
		rig_die("keeper", "cannot work");
	change();
}

static void append(struct stage *stage, struct table *table)
{
	(void)stage;
	(void)table;
	keeper_work(keeper, farm.table, 60000, NULL, 0);
	keeper_close(&keeper, NULL, NULL, 0);
}

/* A second keeper's first work is a compaction, over a base and a journal that the first one left. */
static void keep_then_reopen(struct stage *stage, struct table *table)
{
	keep_base(stage, table);
	if (keeper_work(keeper, farm.table, 60000, NULL, 0) != WEIR_OK)
		rig_die("keeper", "cannot append");
	keeper_close(&keeper, NULL, NULL, 0);
	begin_keeping(stage, table);
	change_more();
}

static bool is(const struct snapshot *a, const struct snapshot *b)
{
	return a->entry_count == b->entry_count &&
	       memcmp(a->entries, b->entries, a->entry_count * sizeof *a->entries) == 0;
}

static void undo(struct table *table, struct slot_pair *pairs)
{
	memcpy(table->pairs, pairs, table->pair_count * sizeof *pairs);
}

/* `act` leads from `before` to `after`, if it comes to its end. */
enum was { NOTHING, BASE, JOURNAL };

static void keep_killed(stage_act *ready, stage_act *act, enum was was, const char *what)
{
	bool none_before = was == NOTHING;
	struct stage stage = {.rig = farm.rig, .ready = ready};
	unsigned deaths = 0, unreadable = 0, wrong = 0, old = 0, new = 0, stuck = 0, seen, at = 0;
	size_t bytes = farm.table->pair_count * sizeof(struct slot_pair);
	struct slot_pair *pairs = malloc(bytes);
	char path[160], text[160];
	memcpy(pairs, farm.table->pairs, bytes);
	if (was == JOURNAL)
		change();
	if (snapshot_take(farm.table, true, &before))
		rig_die("take", "before");
	if (was == BASE)
		change();
	if (was == JOURNAL)
		change_more();
	if (snapshot_take(farm.table, true, &after))
		rig_die("take", "after");
	do {
		struct snapshot read;
		undo(farm.table, pairs);
		unlink(farm.snapshot);
		snprintf(path, sizeof path, "%s" SNAPSHOT_JOURNAL, farm.snapshot);
		unlink(path);
		seen = stage_die_in_kernel(&stage, act, at);
		enum weir_error error = snapshot_read(farm.snapshot, &read, NULL, 0);
		unreadable += error != WEIR_OK && !(none_before && error == WEIR_NOT_FOUND);
		if (error == WEIR_OK) {
			old += is(&read, &before);
			new += is(&read, &after);
			wrong += !is(&read, &before) && !is(&read, &after);
		}
		snapshot_free(&read);
		/* and the next keeper goes on */
		struct keeper *next;
		stuck += keeper_open(farm.snapshot, &next, NULL, 0) != WEIR_OK;
		stuck += next && keeper_work(next, farm.table, 0, NULL, 0) != WEIR_OK;
		keeper_close(&next, NULL, NULL, 0);
		stuck += snapshot_read(farm.snapshot, &read, NULL, 0) != WEIR_OK;
		snapshot_free(&read);
		deaths++;
	} while (seen == at++);
	undo(farm.table, pairs);
	snprintf(text, sizeof text, "killed while %s: base and journal can be read", what);
	is_u64(unreadable, 0, text);
	is_u64(wrong, 0, "  and say what was kept before or what is kept now");
	is_u64(stuck, 0, "  and the next keeper goes on");
	ok(new > 0 && (none_before || old > 0), "  (both were met)");
	ok(deaths > 6, "  (there was something to die in)");
	note("%u deaths: %u before, %u after", deaths, old, new);
	snapshot_free(&before);
	snapshot_free(&after);
	free(pairs);
}

int main(void)
{
	farm = farm_new(SIZE);
	struct snapshot taken;
	if (snapshot_take(farm.table, false, &taken) || snapshot_write(&taken, farm.snapshot, NULL, 0))
		rig_die("farm", "cannot be taken");
	farm.live = (unsigned)taken.entry_count;
	snapshot_free(&taken);
	load_killed();
	keep_killed(NULL, first_base, NOTHING, "writing the first base");
	keep_killed(keep_base, append, BASE, "appending");
	keep_killed(keep_then_reopen, append, JOURNAL, "compacting");
	farm_free(&farm);
	return done_testing();
}
