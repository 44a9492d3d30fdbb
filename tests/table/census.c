/* SPDX-License-Identifier: BSD-2-Clause */
/* census: what is counted, and that each broken invariant is found by its number. */
#include "table/hold.h"
#include "table/log.h"
#include "table/log_ring.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

struct told {
	unsigned count;
	char last[256];
};

static void hear(void *context, const char *sentence)
{
	struct told *told = context;
	told->count++;
	snprintf(told->last, sizeof told->last, "%s", sentence);
}

static void check_counts(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *door = rig_open(&rig);
	struct algo_numbers numbers = rig_token(1, 3600 * RIG_SECOND, 10);
	struct table_look look;
	struct algo_time t, past;
	struct census census;
	uint32_t row = rig_row(table, 1, &numbers, 1);
	table_set_generation(table, 9);
	table_hold_generation(table, 9);
	table_hold_generation(door, 4);
	table_time(table, &t);
	past = (struct algo_time){.now = 1};
	for (uint64_t i = 0; i < 30; i++) {
		struct table_key key = rig_key(table, 1, i);
		table_charge(table, &key, row, i < 10 ? &past : &t, i < 10 ? 1 : 10, &look);
	}
	/* Time began at 2^40 ns, 18 minutes: a charge of one an hour at time 1 is still owed now. */
	census_take(table, &census);
	is_u64(census.live, 30, "keys in use");
	struct algo_numbers fast = rig_token(1000, RIG_SECOND, 10);
	uint32_t soon = rig_row(table, 2, &fast, 1);
	for (uint64_t i = 0; i < 7; i++) {
		struct table_key key = rig_key(table, 2, i);
		table_charge(table, &key, soon, &past, 1, &look);
	}
	struct table_key claimed = rig_key(table, 3, 1);
	slot_pair(table, &claimed)->ways[7] = (struct slot){slot_tag(&claimed) | row, LAYOUT_CLAIM | 5};
	census_take(table, &census);
	is_u64(census.live, 30, "live");
	is_u64(census.recovered, 7, "recovered");
	is_u64(census.claimed, 1, "claimed");
	is_u64(census.slots, TABLE_SIZE_MIN / 16, "slots");
	is_u64(census.empty, census.slots - 38, "empty");
	is_u64(census.processes, 2, "processes");
	is_u64(census.process_slots, 4, "process slots");
	is_u64(census.ledger_rows, 2, "rows");
	is_u64(census.generation, 9, "generation");
	is_u64(census.newest_generation_lag, 5, "the slowest process is five behind");
	ok(census.bytes > TABLE_SIZE_MIN && census.ledger_bytes > 2 * sizeof(struct ledger_row), "bytes");
	table_close(&door);
	census_take(table, &census);
	is_u64(census.newest_generation_lag, 0, "none, when it is gone");
	table_close(&table);
	rig_free(&rig);
}

/* Cells are counted by what they say. */
static void check_cells(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers;
	struct table_look look;
	struct algo_time t;
	struct census census;
	if (!algo_sliding_log(10, 3600 * RIG_SECOND, &numbers))
		rig_die("log", "numbers");
	uint32_t row = rig_row(table, 1, &numbers, 1);
	struct table_key key = rig_key(table, 1, 1);
	table_time(table, &t);
	for (unsigned i = 0; i < 7; i++)
		table_charge(table, &key, row, &t, 1, &look);
	census_take(table, &census);
	is_u64(census.live, 8, "seven admissions of a log, and where to go on");
	is_u64(census.cells, 7, "  seven of them cells");
	is_u64(census.held, 0, "  none held");
	struct table_key held = cell_key(&key, true, table->process_index);
	struct slot *slot = &slot_pair(table, &held)->ways[6];
	uint64_t who = (uint64_t)table->process_index << HOLD_OWNER_BITS | process_owner(table);
	*slot = (struct slot){slot_tag(&held) | row, CELL_MARKS | who << HOLD_UNIT_BITS | 2};
	census_take(table, &census);
	is_u64(census.live, 9, "what we hold is live");
	is_u64(census.cells, 8, "  a cell");
	is_u64(census.held, 1, "  and held");
	slot->w1 = CELL_MARKS | (who + 1) << HOLD_UNIT_BITS | 2;
	census_take(table, &census);
	is_u64(census.held, 0, "what another owner of the process slot held is not");
	is_u64(census.recovered, 1, "  it is as good as nothing");
	slot->w1 = CELL_MARKS | who << HOLD_UNIT_BITS;
	census_take(table, &census);
	is_u64(census.recovered, 1, "nor is a hold of nothing");
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	rig_free(&rig);
}

struct damage {
	const char *begins; /* the sentence */
	unsigned sentences;
	void (*make)(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row);
};

static void twice(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)table;
	pair->ways[2] = pair->ways[5] = (struct slot){tag | row, 77};
}
static void word_in_empty(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)table, (void)tag, (void)row;
	pair->ways[3] = (struct slot){0, 77};
}
static void no_tag(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)table, (void)tag;
	pair->ways[3] = (struct slot){row, 77};
}
static void no_row(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)table, (void)row;
	pair->ways[3] = (struct slot){tag | 4242, 77};
}
static void no_maker(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)table;
	pair->ways[3] = (struct slot){tag | row, LAYOUT_CLAIM | UINT64_C(4) << LAYOUT_NONCE_BITS};
}
static void hold_future(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)pair, (void)tag, (void)row;
	table_hold_generation(table, 1000);
}
static void stamp_future(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)pair, (void)tag, (void)row;
	atomic_set(&table->header->clock.stamp, UINT64_C(1) << 60);
}
static void header_changed(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)pair, (void)tag, (void)row;
	table->header->fixed.secret[0] ^= 1;
}
static void claims_are_fine(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)table;
	pair->ways[1] = (struct slot){tag | row, LAYOUT_CLAIM | 1};
	pair->ways[2] = (struct slot){tag | row, LAYOUT_CLAIM | 2};
	pair->ways[3] = (struct slot){tag | row, 77};
}

static uint32_t log_row(struct table *table, bool concurrent)
{
	struct algo_numbers numbers;
	if (concurrent ? !algo_concurrent(5, &numbers) : !algo_sliding_log(5, 3600 * RIG_SECOND, &numbers))
		rig_die("numbers", "refused");
	return rig_row(table, 3 + concurrent, &numbers, 1);
}
static uint64_t admission(struct table *table)
{
	struct algo_time t;
	table_time(table, &t);
	return CELL_MARK | log_cell_data(log_round(t.now + RIG_SECOND), false, 2);
}
static void cell_twice(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)row;
	pair->ways[0] = pair->ways[7] = (struct slot){tag | log_row(table, false), admission(table)};
}
static void hold_twice(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)table;
	pair->ways[0] = pair->ways[7] = (struct slot){tag | row, CELL_MARKS | 1};
}
/* One in 2^40: a counter, a cell of a log and a hold that share a tag. */
static void three_of_a_tag(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)row;
	uint32_t log = log_row(table, false);
	pair->ways[0] = (struct slot){tag | log, log_ring_word(RIG_SECOND, LOG_ORDERED, 0, 4)};
	pair->ways[1] = (struct slot){tag | log, admission(table)};
	pair->ways[2] = (struct slot){tag | log, CELL_MARKS | 1};
}
static void cell_of_no_log(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	pair->ways[4] = (struct slot){tag | row, admission(table)};
}
static void cell_without_row(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)row;
	pair->ways[4] = (struct slot){tag | 4242, admission(table)};
}
static void word_in_flight(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)row;
	pair->ways[4] = (struct slot){tag | log_row(table, true), 77};
}
static void ring_beyond(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	(void)row;
	pair->ways[4] = (struct slot){tag | log_row(table, false),
				      log_ring_word(RIG_SECOND, LOG_ORDERED, 0, 5)};
}
static void hold_of_nobody(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	uint64_t who = UINT64_C(4) << HOLD_OWNER_BITS;
	(void)table;
	pair->ways[4] = (struct slot){tag | row, CELL_MARKS | who << HOLD_UNIT_BITS | 1};
}

static const struct damage damages[] = {
	{"", 0, three_of_a_tag},
	{"I1: pair ", 1, cell_twice},
	{"I1: pair ", 1, hold_twice},
	{"I5: pair ", 1, cell_of_no_log},
	{"I6: pair ", 1, cell_without_row},
	{"I5: pair ", 1, word_in_flight},
	{"I17: pair ", 1, ring_beyond},
	{"I15: pair ", 1, hold_of_nobody},
	{"", 0, claims_are_fine},
	{"I1: pair ", 1, twice},
	{"I2: pair ", 1, word_in_empty},
	{"I2: pair ", 1, no_tag},
	{"I6: pair ", 1, no_row},
	{"I4: pair ", 1, no_maker},
	{"I7: process slot 0 holds generation 1000", 1, hold_future},
	{"I9: ", 1, stamp_future},
	{"the header does not add up", 1, header_changed},
};

static void check_damages(void)
{
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
		struct table *table = rig_open(&rig);
		struct algo_numbers numbers = rig_token(1, RIG_SECOND, 10);
		uint32_t row = rig_row(table, 1, &numbers, 1);
		struct table_key key = rig_key(table, 1, 1);
		struct told told = {0};
		damages[i].make(table, slot_pair(table, &key), slot_tag(&key), row);
		uint64_t count = census_check(table, hear, &told);
		is_u64(count, damages[i].sentences,
		       damages[i].sentences ? damages[i].begins : "a sound table");
		is_u64(told.count, count, "  told once each");
		ok(strncmp(told.last, damages[i].begins, strlen(damages[i].begins)) == 0, "  by its number");
		table_close(&table);
		rig_free(&rig);
	}
}

int main(void)
{
	check_counts();
	check_cells();
	check_damages();
	return done_testing();
}
