/* SPDX-License-Identifier: BSD-2-Clause */
/* keep: slots that say what is to be billed outlive everything else in a full table, and on its way into a smaller one. */
#include "algo/ban.h"
#include "table/given.h"
#include "table/snapshot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define CUSTOMERS 300u /* of 4096 slots */
#define FLOOD	  40000u
#define DAY	  (UINT64_C(86400) * RIG_SECOND)

static uint32_t row_of(struct table *table, uint64_t identity, const struct algo_numbers *numbers,
		       uint16_t flags)
{
	uint32_t row = 0;
	if (ledger_lock(table, 10000) || ledger_row_for(table, identity, 0, numbers, flags, "keep", 1, &row))
		rig_die("ledger", "row");
	ledger_unlock(table);
	return row;
}

static unsigned standing(struct table *table, uint32_t row, const struct algo_time *t)
{
	unsigned count = 0;
	for (unsigned i = 0; i < CUSTOMERS; i++) {
		struct table_key key = rig_key(table, 1, i);
		struct table_look look;
		struct algo_report report;
		table_peek(table, &key, row, t, 0, &look);
		table_describe(&look, t, 0, false, &report);
		count += report.limit - report.remaining == i % 7 + 1;
	}
	return count;
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *smaller = NULL;
	struct algo_numbers bill = rig_window(ALGO_COUNT_MAX, 72 * DAY, ALGO_FIRST_REQUEST),
			    long_one = rig_window(1, 300 * DAY, ALGO_FIRST_REQUEST), ban;
	struct algo_time t;
	struct table_look look;
	if (!algo_ban_numbers(DAY, 7 * DAY, &ban))
		rig_die("algo_ban_numbers", "refused");
	uint32_t kept = row_of(table, 1, &bill, LEDGER_KEEP), other = row_of(table, 2, &long_one, 0),
		 bans = row_of(table, 3, &ban, 0);
	ok(ledger_flags_valid(LEDGER_KEEP | TABLE_DENY | LEDGER_QUOTA(8)) && !ledger_flags_valid(4) &&
		   !ledger_flags_valid(256),
	   "a flag of the row, beside the others");
	table_time(table, &t);
	for (unsigned i = 0; i < CUSTOMERS; i++) {
		struct table_key key = rig_key(table, 1, i);
		table_charge(table, &key, kept, &t, i % 7 + 1, &look);
	}
	is_u64(standing(table, kept, &t), CUSTOMERS, "a little was charged to each customer");
	for (unsigned i = 0; i < FLOOD; i++) { /* each worth the most that a counter can be */
		struct table_key key = rig_key(table, 2, i);
		table_charge(table, &key, other, &t, 1, &look);
	}
	ok(rig_stats(&rig).evicted_live > FLOOD / 2, "a flood of used up keys fills the table");
	is_u64(standing(table, kept, &t), CUSTOMERS, "and pushes none of them out");
	unsigned begun = 0;
	for (unsigned i = 0; i < FLOOD; i++) {
		struct table_key key = rig_key(table, 3, i);
		begun += table_ban(table, &key, bans, &t, 0, &look) == TABLE_CHARGED;
	}
	is_u64(begun, FLOOD, "nor do as many bans");
	is_u64(standing(table, kept, &t), CUSTOMERS, "which push out everything else");

	struct snapshot snapshot;
	char path[160], place[160], why[256] = "";
	snprintf(path, sizeof path, "%s/snap", rig.folder);
	snprintf(place, sizeof place, "%s/smaller", rig.folder);
	struct table_options options = {
		.path = place, .size = TABLE_SIZE_MIN, .create = true, .process_slots = 4, .snapshot = path};
	is_u64(snapshot_take(table, true, &snapshot), WEIR_OK, "a snapshot");
	is_u64(snapshot_write(&snapshot, path, why, sizeof why), WEIR_OK, "is written");
	snapshot_free(&snapshot);
	is_u64(table_open(&options, &smaller, why, sizeof why), WEIR_OK, "and read");
	table_time(smaller, &t);
	is_u64(standing(smaller, kept, &t), CUSTOMERS, "the customers are all there");
	is_u64(ledger_row(smaller, kept)->flags, LEDGER_KEEP, "and go on being kept");
	table_close(&smaller);
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "nothing is broken");
	rig_free(&rig);
	return done_testing();
}
