/* SPDX-License-Identifier: BSD-2-Clause */
/* trial: since when a limit is tried; and find_slot: a counter by the part of its key that a refusal's id has. */
#include "table/find_slot.h"
#include "table/handle.h"
#include "table/top.h"
#include "table/trial.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

static uint16_t entry_of(struct table *table, uint64_t identity, const char *name)
{
	struct algo_numbers numbers = rig_token(5, 60 * RIG_SECOND, 5);
	uint32_t row = 0;

	if (ledger_lock(table, 1000) || ledger_row_for(table, identity, 0, &numbers, 0, name, 1, &row))
		rig_die("ledger", name);
	ledger_unlock(table);
	return ledger_row(table, row)->stat;
}

static void trials(const struct rig *rig)
{
	struct table *table = rig_open(rig), *eye = rig_open_as(rig, true);
	uint16_t stat = entry_of(table, 1, "tried");
	struct trial trial;

	trial_read(eye, stat, &trial);
	ok(trial.since == 0 && trial.seen == 0, "a limit in force is no trial");
	stats_add(&stats_limit(table, stat)->allowed, 7);
	stats_add(&stats_limit(table, stat)->shadow, 2);
	trial_set(table, stat, true, 1000);
	trial_read(eye, stat, &trial);
	ok(trial.since == 1000 && trial.seen == 0 && trial.shadow == 0, "it counts from its beginning");
	stats_add(&stats_limit(table, stat)->allowed, 10);
	stats_add(&stats_limit(table, stat)->shadow, 3);
	stats_add(&stats_limit(table, stat)->refused, 1);
	trial_set(table, stat, true, 2000);
	trial_read(eye, stat, &trial);
	ok(trial.since == 1000 && trial.seen == 14 && trial.shadow == 3,
	   "the next publication changes nothing");
	trial_set(table, stat, false, 3000);
	trial_read(eye, stat, &trial);
	is_u64(trial.since, 0, "in force, it is none");
	trial_set(table, stat, true, 4000);
	trial_read(eye, stat, &trial);
	ok(trial.since == 4000 && trial.seen == 0, "another one begins anew");
	trial_set(table, 0, true, 4000);
	trial_read(eye, 0, &trial);
	is_u64(trial.since, 0, "the entry that limits share is none");
	table->names[stat].spare[0] = UINT64_MAX;
	trial_read(eye, stat, &trial);
	is_u64(trial.since, 0, "nor is one that nobody wrote");
	table_close(&table);
	table_close(&eye);
}

static void slots(const struct rig *rig)
{
	struct table *table = rig_open(rig);
	struct algo_numbers numbers = rig_token(5, 60 * RIG_SECOND, 5);
	uint32_t row = rig_row(table, 77, &numbers, 1), found = 0, wrong = 0, lost = 0;
	struct algo_time now;
	struct found_slot slot;

	table_time(table, &now);
	for (uint64_t i = 0; i < 500; i++) {
		struct table_key key = rig_key(table, 1, i), other = rig_key(table, 2, i);
		struct table_look look;

		if (table_charge(table, &key, row, &now, 2, &look) != TABLE_CHARGED)
			continue;
		if (find_slot(table, top_slot(&key) & UINT64_C(0xffffffffffffff), &slot) &&
		    slot.row.identity == 77 && slot.word == look.state)
			found++;
		else
			lost++;
		wrong += find_slot(table, top_slot(&other) & UINT64_C(0xffffffffffffff), &slot);
	}
	ok(found > 400 && lost == 0, "a counter is found by part of its key, with its row and word");
	is_u64(wrong, 0, "one that was never asked for is not");
	struct table_key key = rig_key(table, 1, 0);
	table_forget(table, &key);
	ok(!find_slot(table, top_slot(&key) & UINT64_C(0xffffffffffffff), &slot),
	   "nor one that was forgotten");
	table_close(&table);
}

int main(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);

	trials(&rig);
	slots(&rig);
	rig_free(&rig);
	return done_testing();
}
