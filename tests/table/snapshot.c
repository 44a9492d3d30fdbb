/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot: a table taken, written, read and loaded answers as the one it was taken from: every key, of every kind, at the
 * same table time, in a table of the same and of another size. */
#include "table/snapshot_file.h"
#include "table/cell.h"
#include "tests/table/snapshot_rig.h"
#include "tests/tap.h"

#define SIZE (UINT64_C(512) << 10)

static void check_sizes(struct farm *farm)
{
	static const struct {
		uint64_t size;
		const char *name;
	} sizes[] = {{SIZE, "the same size"},
		     {2 * SIZE, "twice the size"},
		     {3 * SIZE, "three times the size"},
		     {SIZE / 2, "half the size"},
		     {SIZE / 2 * 3, "half as much again"},
		     {8 * SIZE, "eight times the size"}};
	char text[128];
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct table_restored told;
		char name[16];
		snprintf(name, sizeof name, "t%zu", i);
		struct table *table = farm_load(farm, name, sizes[i].size);
		snprintf(text, sizeof text, "into %s: every key answers alike", sizes[i].name);
		is_u64(farm_differ(farm, farm->table, table, &farm->t, FARM_KINDS), 0, text);
		struct algo_time later = {farm->t.now + FARM_HOUR / 3, farm->t.wall};
		is_u64(farm_differ(farm, farm->table, table, &later, FARM_KINDS), 0,
		       "  and twenty minutes later");
		is_u64(farm_broken(table), 0, "  its invariants hold");
		ok(table_restored(table, &told) && told.refused == 0 && told.crowded == 0 &&
			   told.expired == 0 && told.why[0] == '\0',
		   "  nothing was refused, and nothing had no room");
		ok(told.same_boot && told.believed, "  its clock went on exactly");
		is_u64(table->table_id, farm->table->table_id, "  it is the same table");
		is_u64(table_generation(table), 0, "  with no policy published yet");
		is_u64(table_last_generation(table), 3, "  the next one is newer than those of its rows");
		table_close(&table);
	}
}

static void check_rows(struct farm *farm)
{
	struct table *table = farm_load(farm, "rows", SIZE);
	uint32_t row, fresh;
	struct algo_numbers other = rig_token(11, FARM_HOUR, 10);
	for (unsigned kind = 0; kind < FARM_KINDS; kind++) {
		const struct ledger_row *found = ledger_row(table, farm->row[kind]);
		char name[32];
		snprintf(name, sizeof name, "limit-%u", kind);
		if (!ok(found != NULL, "a row has its number"))
			continue;
		ok(found->identity == 100 + kind && found->generation == 3 &&
			   memcmp(&found->numbers, &farm->numbers[kind], sizeof found->numbers) == 0,
		   "  and its identity, generation and numbers");
		is_str(stats_name(table, found->stat), name, "  and its limit's name");
	}
	ledger_lock(table, 1000);
	is_u64(ledger_row_for(table, 100 + TOKEN, 0, &farm->numbers[TOKEN], 0, "limit-0", 4, &row), WEIR_OK,
	       "published again");
	is_u64(row, farm->row[TOKEN], "  the same numbers find their row");
	is_u64(ledger_row_for(table, 100 + TOKEN, 0, &other, 0, "limit-0", 4, &fresh), WEIR_OK,
	       "with other numbers");
	ok(fresh != row && ledger_row(table, fresh)->generation == 4, "  they get a new one");
	ledger_unlock(table);
	table_close(&table);
}

/* Minutes and more are kept, a second is not. */
static void check_durable(struct farm *farm)
{
	struct snapshot all, durable;
	unsigned logs = 0, cells = 0;
	is_u64(snapshot_take(farm->table, false, &all), WEIR_OK, "all is taken");
	is_u64(snapshot_take(farm->table, true, &durable), WEIR_OK, "what is durable is taken");
	is_u64(all.row_count, FARM_KINDS, "all rows");
	is_u64(durable.row_count, FARM_KINDS - 1, "all but the one that recovers in seconds");
	ok(snapshot_row(&durable, farm->row[SHORT]) == NULL, "  which is that");
	is_u64(all.entry_count - durable.entry_count, FARM_KEYS / 10 * 9, "all entries but its");
	for (size_t i = 0; i < all.entry_count; i++)
		if ((all.entries[i].w0 & LAYOUT_ROW_MASK) == farm->row[LOG]) {
			logs += !cell_is(all.entries[i].w1);
			cells += cell_is(all.entries[i].w1);
		}
	is_u64(logs, FARM_KEYS / 10 * 9, "a ring word for each log");
	is_u64(cells, FARM_KEYS / 10 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 7 + 7), "and a cell for each admission");
	ok(all.time >= farm->t.now - 10 * RIG_SECOND && all.wall > UINT64_C(1600000000) * RIG_SECOND,
	   "its time is now");
	snapshot_free(&all);
	snapshot_free(&durable);
	ok(all.entries == NULL && all.row_count == 0, "freed is empty");
}

static void check_file(struct farm *farm)
{
	struct snapshot taken, read;
	char why[256];
	snapshot_take(farm->table, false, &taken);
	is_u64(snapshot_write(&taken, farm->snapshot, why, sizeof why), WEIR_OK, "written");
	is_u64(snapshot_read(farm->snapshot, &read, why, sizeof why), WEIR_OK, "and read");
	ok(read.entry_count == taken.entry_count &&
		   memcmp(read.entries, taken.entries, taken.entry_count * sizeof *taken.entries) == 0,
	   "the same entries");
	ok(read.row_count == taken.row_count &&
		   memcmp(read.rows, taken.rows, taken.row_count * sizeof *taken.rows) == 0,
	   "the same rows");
	struct snapshot same = taken;
	same.rows = read.rows;
	same.entries = read.entries;
	ok(memcmp(&same, &read, sizeof read) == 0, "and everything else");
	snapshot_free(&taken);
	snapshot_free(&read);
	is_u64(snapshot_read("/dev/shm/weir-no/such", &read, why, sizeof why), WEIR_NOT_FOUND, "none");
	is_str(why, "/dev/shm/weir-no/such: no snapshot there", "  is said");
}

/* Words that are no counters any more or yet: claims, holds, recovered ones, and those under rows nobody knows. */
static void check_left_out(void)
{
	struct farm farm = farm_new(SIZE);
	struct snapshot before, after;
	struct slot *slot = NULL;
	snapshot_take(farm.table, false, &before);
	for (uint64_t i = 0; i < farm.table->pair_count * LAYOUT_WAYS && !slot; i++)
		if (farm.table->pairs[i / 8].ways[i % 8].w0 == 0)
			slot = &farm.table->pairs[i / 8].ways[i % 8];
	static const struct {
		uint64_t w1;
		bool known;
		const char *what;
	} words[] = {
		{LAYOUT_CLAIM | 5, true, "a claim"},
		{CELL_MARK | CELL_HOLD | 7, true, "a hold"},
		{CELL_MARK | (UINT64_C(1) << 50), true, "a cell under a limit that has none"},
		{1, true, "a recovered word"},
		{UINT64_C(1) << 58, false, "a word under a row nobody knows"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		slot->w0 = UINT64_C(0x1234) << LAYOUT_ROW_BITS | (words[i].known ? farm.row[FIRST] : 4000);
		slot->w1 = words[i].w1;
		snapshot_take(farm.table, false, &after);
		is_u64(after.entry_count, before.entry_count, words[i].what);
		snapshot_free(&after);
	}
	slot->w0 = slot->w1 = 0;
	snapshot_free(&before);
	farm_free(&farm);
}

/* Where a table of M pairs has what pair i of N may be: the key's own is always among them. */
static void check_crowded(void)
{
	struct farm farm = farm_new(SIZE);
	struct snapshot taken;
	struct table_restored told;
	snapshot_take(farm.table, false, &taken);
	snapshot_write(&taken, farm.snapshot, NULL, 0);
	struct table *small = farm_load(&farm, "small", TABLE_SIZE_MIN);
	ok(table_restored(small, &told), "told");
	is_u64(told.entries + told.crowded, taken.entry_count,
	       "into an eighth: each has room, or is told to have none");
	is_u64(farm_broken(small), 0, "  its invariants hold");
	struct census census;
	census_take(small, &census);
	is_u64(census.live, told.entries, "  as many are there as were said to be");
	table_close(&small);
	snapshot_free(&taken);
	farm_free(&farm);
}

int main(void)
{
	struct farm farm = farm_new(SIZE);
	check_durable(&farm);
	check_file(&farm);
	check_sizes(&farm);
	check_rows(&farm);
	farm_free(&farm);
	check_left_out();
	check_crowded();
	return done_testing();
}
