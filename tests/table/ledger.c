/* SPDX-License-Identifier: BSD-2-Clause */
/* ledger: rows found, added, freed and given again (T2, I8), and who may write them. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "table/ledger_file.h"
#include "table/slot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

static uint32_t row_for(struct table *table, uint64_t identity, uint32_t burst, const char *name,
			uint32_t generation)
{
	struct algo_numbers numbers = rig_token(1, RIG_SECOND, burst);
	uint32_t row = 0;
	if (ledger_row_for(table, identity, 0, &numbers, 0, name, generation, &row) != WEIR_OK)
		rig_die("ledger_row_for", name);
	return row;
}

static void check_rows(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *other = rig_open(&rig);
	struct algo_numbers numbers = rig_token(1, RIG_SECOND, 10), bad = numbers;
	uint32_t row;

	is_u64(ledger_rows(table), 0, "no ledger yet: no rows");
	ok(ledger_row(table, 1) == NULL, "and none to be had");
	is_u64(ledger_row_for(table, 1, 0, &numbers, 0, "a", 1, &row), WEIR_BUSY, "not without the lock");
	is_u64(ledger_lock(table, 0), WEIR_OK, "the lock");
	is_u64(ledger_lock(table, 0), WEIR_BUSY, "is not taken twice");
	is_u64(ledger_lock(other, 20), WEIR_BUSY, "nor by someone else");
	bad.kind = 77;
	is_u64(ledger_row_for(table, 1, 0, &bad, 0, "a", 1, &row), WEIR_BAD_POLICY,
	       "numbers that algo did not make are refused");
	is_u64(ledger_row_for(table, 1, 0, &numbers, 0, "a", 0, &row), WEIR_BAD_POLICY, "and generation 0");

	uint32_t a = row_for(table, 1, 10, "a", 1), b = row_for(table, 2, 10, "b", 1);
	ok(a != TABLE_ROW_NONE && b != TABLE_ROW_NONE && a != b, "each identity has a row of its own");
	is_u64(row_for(table, 1, 10, "a", 2), a, "the same numbers: the same row");
	uint32_t changed = row_for(table, 1, 20, "a", 2);
	ok(changed != a && changed != b, "other numbers: another row");
	is_u64(row_for(table, 1, 20, "a", 3), changed, "which is the newest from now on");
	ok(row_for(table, 1, 10, "a", 4) != a,
	   "going back to old numbers is a new publication, not an old row");
	ledger_unlock(table);
	is_u64(ledger_lock(other, 0), WEIR_OK, "the lock is free again");
	ledger_unlock(other);

	const struct ledger_row *got = ledger_row(other, changed);
	ok(got && got->identity == 1 && got->generation == 2 &&
		   got->numbers.capacity >> got->numbers.shift == 20,
	   "another handle reads what was added");
	is_u64(ledger_rows(other), 4, "four rows");
	static const uint32_t none[] = {TABLE_ROW_NONE,	    5,	       1024, LEDGER_ROW_MAX,
					LEDGER_ROW_MAX + 1, UINT32_MAX};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		ok(ledger_row(other, none[i]) == NULL, "a row nobody added is none");
	table_close(&table);
	table_close(&other);
	rig_free(&rig);
}

static void check_names(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	char name[200], longest[LEDGER_NAME_MAX];
	struct stats_limit sum;
	ledger_lock(table, 0);
	uint16_t first = ledger_row(table, row_for(table, 1, 10, "login", 1))->stat;
	is_u64(first, 1, "the first name has entry 1");
	is_str(stats_name(table, first), "login", "and can be read");
	is_u64(ledger_row(table, row_for(table, 2, 10, "login", 1))->stat, first,
	       "a name that is shared shares it");
	is_u64(ledger_row(table, row_for(table, 3, 10, "logi", 1))->stat, 2, "a shorter one does not");
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	is_str(stats_name(table, ledger_row(table, row_for(table, 4, 10, name, 1))->stat), longest,
	       "a long one is cut");
	for (unsigned i = 4; i < TABLE_STAT_COUNT; i++) {
		snprintf(name, sizeof name, "limit %u", i);
		row_for(table, 1000 + i, 10, name, 1);
	}
	is_u64(ledger_row(table, row_for(table, 5, 10, "one more", 1))->stat, 0,
	       "when all are taken, 0 is shared");
	is_str(stats_name(table, 0), "", "which has no name");

	/* Generation 3 names none of them: all go, and `login` 's entry is given to another limit. */
	stats_add(&stats_limit(table, first)->allowed, 100);
	table_set_generation(table, 3);
	table_hold_generation(table, 3);
	ok(ledger_census(table) > 250, "rows nobody names any more are freed");
	is_str(stats_name(table, first), "", "and with them their names");
	is_u64(ledger_row(table, row_for(table, 6, 10, "search", 4))->stat, first,
	       "the entry is given again");
	stats_add(&stats_limit(table, first)->allowed, 5);
	stats_limit_sum(table, first, &sum);
	is_u64(sum.allowed, 5, "and begins at 0, whatever its processes had counted for another");
	ledger_unlock(table);
	table_close(&table);
	rig_free(&rig);
}

/* Which of the reasons to keep a row holds it: each alone. */
static void check_census(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *publisher = rig_open(&rig), *door = rig_open(&rig);
	struct algo_time t = {.now = 100 * RIG_SECOND};
	struct table_look look;
	ledger_lock(publisher, 0);
	uint32_t old = row_for(publisher, 1, 10, "a", 1), same = row_for(publisher, 2, 10, "b", 1);
	table_set_generation(publisher, 1);
	table_hold_generation(door, 1);
	uint32_t new = row_for(publisher, 1, 20, "a", 2);
	row_for(publisher, 2, 10, "b", 2);
	table_set_generation(publisher, 2);

	is_u64(ledger_census(publisher), 0, "a door holds generation 1: its rows stay");
	struct table_key key = rig_key(door, 1, 1);
	is_u64(table_charge(door, &key, old, &t, 1, &look), TABLE_CHARGED, "it may still write them");
	table_hold_generation(door, 2);
	is_u64(ledger_census(publisher), 0, "a slot carries the row: it stays");
	table_forget(door, &key);
	is_u64(ledger_census(publisher), 1, "neither: it is freed");
	ok(ledger_row(publisher, same) && ledger_row(publisher, new), "rows that generation 2 names stay");
	is_u64(ledger_census(publisher), 0, "and once is enough");

	/* The place is given to another limit. The door remembers the row it wrote. */
	uint32_t again = row_for(publisher, 3, 30, "c", 3);
	is_u64(again, old, "a freed place is used again");
	table_set_generation(publisher, 3);
	struct table_key other = rig_key(door, 3, 3);
	is_u64(table_charge(door, &other, again, &t, 30, &look), TABLE_CHARGED,
	       "the door does not take it for the old one");
	is_u64(look.numbers.capacity >> look.numbers.shift, 30, "but judges by the new numbers");

	/* A process that has said nothing yet may map anything: it keeps all. */
	row_for(publisher, 1, 40, "a", 4);
	row_for(publisher, 2, 10, "b", 4);
	row_for(publisher, 3, 30, "c", 4);
	table_set_generation(publisher, 4);
	table_hold_generation(door, 0);
	is_u64(ledger_census(publisher), 0, "a process that holds nothing known keeps everything");
	table_close(&door);
	is_u64(ledger_census(publisher), 1, "until it is gone");
	ledger_unlock(publisher);
	is_u64(ledger_census(publisher), 0, "nothing is freed without the lock");
	table_close(&publisher);
	rig_free(&rig);
}

/* 50 publications of 100 limits, each with new numbers: the file stays at two blocks, since a census comes
 * before it grows; 3000 limits at once make it grow. */
static void check_growth(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *reader = rig_open_as(&rig, true);
	char ledger[128];
	struct stat st;
	unsigned wrong = 0;
	snprintf(ledger, sizeof ledger, "%s.ledger", rig.path);
	for (uint32_t generation = 1; generation <= 50; generation++) {
		ledger_lock(table, 0);
		for (uint64_t identity = 1; identity <= 100; identity++)
			row_for(table, identity, generation + 1, "x", generation);
		ledger_unlock(table);
		table_set_generation(table, generation);
		table_hold_generation(table, generation);
	}
	ok(stat(ledger, &st) == 0 && ledger_capacity((uint64_t)st.st_size) == LEDGER_BLOCK_ROWS,
	   "5000 rows were added, those of dead publications made room");
	ok(ledger_rows(reader) < LEDGER_BLOCK_ROWS, "a reader counts those in use");
	static uint32_t rows[3000];
	ledger_lock(table, 0);
	for (uint64_t i = 0; i < 3000; i++)
		rows[i] = row_for(table, 10000 + i, (uint32_t)i + 1, "y", 51);
	ledger_unlock(table);
	for (uint64_t i = 0; i < 3000; i++) {
		const struct ledger_row *row = ledger_row(reader, rows[i]);
		wrong += !row || row->identity != 10000 + i ||
			 row->numbers.capacity >> row->numbers.shift != i + 1;
	}
	is_u64(wrong, 0, "a reader follows the growth of the file");
	table_close(&table);
	table_close(&reader);
	rig_free(&rig);
}

/* The table was removed, its ledger was not; or the ledger is rubbish. */
static void check_replaced(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	struct algo_time t = {.now = 100 * RIG_SECOND};
	struct table_look look;
	char ledger[128];
	snprintf(ledger, sizeof ledger, "%s.ledger", rig.path);
	ledger_lock(table, 0);
	row_for(table, 1, 10, "a", 7);
	ledger_unlock(table);
	table_close(&table);
	unlink(rig.path);

	table = rig_open(&rig);
	struct table *door = rig_open(&rig);
	ok(ledger_row(door, 1) == NULL, "another table's ledger is not believed");
	is_u64(ledger_lock(table, 0), WEIR_OK, "and is replaced");
	uint32_t row = row_for(table, 1, 20, "a", 1);
	ledger_unlock(table);
	const struct ledger_row *got = ledger_row(door, row);
	ok(got && got->generation == 1, "everyone reads the new one");

	struct table_key key = rig_key(door, 1, 1);
	is_u64(table_charge(door, &key, row, &t, 20, &look), TABLE_CHARGED, "a counter under it");
	if (truncate(ledger, 100))
		rig_die(ledger, "truncate");
	table_close(&door); /* its mapping of what was cut off must not be touched */
	is_u64(ledger_lock(table, 0), WEIR_OK, "a damaged ledger is replaced");
	is_u64(row_for(table, 2, 5, "b", 2), row, "its numbers begin again");
	ledger_unlock(table);
	is_u64(slot_pair(table, &key)->ways[0].w0, 0,
	       "slots of lost rows are cleared, not read under new rows");
	table_close(&table);
	rig_free(&rig);
}

static void check_killed(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig);
	int ready[2];
	char byte = 0;
	if (pipe(ready))
		rig_die("pipe", "no pipe");
	pid_t child = fork();
	if (child == 0) {
		struct table *own = rig_open(&rig);
		byte = ledger_lock(own, 1000) == WEIR_OK;
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	ok(read(ready[0], &byte, 1) == 1 && byte == 1, "a publisher has the lock");
	is_u64(ledger_lock(table, 20), WEIR_BUSY, "and keeps it");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	is_u64(ledger_lock(table, 1000), WEIR_OK, "until it is killed");
	table_close(&table);
	close(ready[0]);
	close(ready[1]);
	rig_free(&rig);
}

int main(void)
{
	check_rows();
	check_names();
	check_census();
	check_growth();
	check_replaced();
	check_killed();
	return done_testing();
}
