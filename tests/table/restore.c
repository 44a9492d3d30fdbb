/* SPDX-License-Identifier: BSD-2-Clause */
/* restore: whoever creates a table begins with the snapshot: after a container's restart, after a reboot, with a wall clock
 * that is wrong, and however many create it at once. */
#include <sys/wait.h>

#include "table/clock.h"
#include "tests/table/snapshot_rig.h"
#include "tests/tap.h"

#define SIZE (UINT64_C(256) << 10)

static struct farm farm;
static struct snapshot taken;

static void take(void)
{
	char why[256];
	if (snapshot_take(farm.table, false, &taken) ||
	    snapshot_write(&taken, farm.snapshot, why, sizeof why))
		rig_die("take", why);
}

/* As if it had been taken in another boot, `wall` ns ago by the wall clock. */
static struct table *load_after(const char *name, int64_t wall)
{
	struct snapshot other = taken;
	struct clock_reading now;
	clock_read(&now);
	other.boot[0] ^= 1;
	other.wall = (uint64_t)(now.wall - wall);
	if (snapshot_write(&other, farm.snapshot, NULL, 0) != WEIR_OK)
		rig_die("load", "cannot write");
	return farm_load(&farm, name, SIZE);
}

static unsigned free_keys(struct table *table, unsigned kind, const struct algo_time *t)
{
	unsigned free_ones = 0;
	for (unsigned id = 0; id < FARM_KEYS; id++) {
		struct farm_answer answer = farm_ask(&farm, table, kind, id, t);
		free_ones += answer.full_ns == 0;
	}
	return free_ones;
}

/* Same boot, an empty folder: the clock goes on exactly. */
static void check_restart(void)
{
	struct table_restored told;
	struct algo_time before, after, end;
	table_time(farm.table, &before);
	struct table *table = farm_load(&farm, "restart", SIZE);
	table_time(table, &after);
	table_time(farm.table, &end);
	ok(after.now >= before.now && after.now <= end.now, "a restarted container: the same time");
	is_u64(farm_differ(&farm, farm.table, table, &end, FARM_KINDS), 0, "  and the same answers");
	ok(table_restored(table, &told) && told.same_boot && told.believed, "  and it says so");
	is_u64(told.entries, taken.entry_count - told.expired, "  all are there");
	struct table *second;
	struct table_options options = {.path = table->path, .read_only = true};
	ok(table_open(&options, &second, NULL, 0) == WEIR_OK && table_restored(second, &told) &&
		   told.entries > 0,
	   "  whoever opens it is told");
	table_close(&second);
	table_close(&table);
}

static const struct {
	const char *name;
	int64_t wall;
	uint64_t bridged, doubted; /* if the kernel vouches for the clock, and if it does not */
	unsigned daily, sliding;   /* of FARM_KEYS keys free then */
	const char *what;
} reboots[] = {
	{"r0", 60 * (int64_t)RIG_SECOND, 60 * RIG_SECOND, 60 * RIG_SECOND, 6, 6, "a reboot of a minute"},
	{"r1", 2 * (int64_t)FARM_HOUR, 2 * FARM_HOUR, 2 * FARM_HOUR, 6, FARM_KEYS, "of two hours"},
	{"r2", 2 * (int64_t)FARM_DAY, 2 * FARM_DAY, FARM_DAY, FARM_KEYS, FARM_KEYS, "of two days"},
	{"r3", (int64_t)RIG_YEAR, RIG_YEAR, FARM_DAY, FARM_KEYS, FARM_KEYS, "a wall clock a year ahead"},
	{"r4", -(int64_t)RIG_YEAR, 2 * RIG_SECOND, 2 * RIG_SECOND, 6, 6, "a wall clock a year back"},
};

static void check_reboots(void)
{
	struct clock_reading now;
	clock_read(&now);
	note("the kernel says that its clock is%s synchronised", now.synced ? "" : " not");
	for (size_t i = 0; i < sizeof reboots / sizeof *reboots; i++) {
		uint64_t least = now.synced ? reboots[i].bridged : reboots[i].doubted;
		struct table_restored told;
		struct algo_time t;
		struct table *table = load_after(reboots[i].name, reboots[i].wall);
		table_time(table, &t);
		ok(t.now >= taken.time + least && t.now <= taken.time + least + 60 * RIG_SECOND,
		   reboots[i].what);
		ok(table_restored(table, &told) && !told.same_boot && told.believed == now.synced,
		   "  and whether it is believed is told");
		ok(told.bridged_ns >= least && told.bridged_ns <= least + 60 * RIG_SECOND, "  and how much");
		ok(told.age_ns + 60 * RIG_SECOND >= (reboots[i].wall > 0 ? (uint64_t)reboots[i].wall : 0),
		   "  and its age");
		is_u64(farm_differ(&farm, farm.table, table, &t, FARM_KINDS), 0,
		       "  every key answers as it would");
		is_u64(free_keys(table, SLIDING, &t), reboots[i].sliding, "  a sliding window slides on");
		/* its end may come while this runs: a day in 86,400 seconds */
		unsigned daily = free_keys(table, DAILY, &t);
		ok(daily == reboots[i].daily || daily == FARM_KEYS, "  a day ends when it ends");
		is_u64(farm_broken(table), 0, "  its invariants hold");
		table_close(&table);
	}
}

/* A clock that was a day at most believed is set right: time jumps forward, for all handles, and never back. */
static void check_catch_up(void)
{
	struct table *table = load_after("late", -(int64_t)RIG_YEAR);
	struct table *other = NULL;
	struct table_options options = {.path = table->path};
	struct table_watch watch = {0};
	struct clock_reading reading;
	struct algo_time before, t, late;
	struct table_restored told;
	table_open(&options, &other, NULL, 0);
	table->header->clock.pending = 1; /* wherever the test runs: nobody vouched for it */
	table_time(table, &before);
	table_time(other, &t);
	clock_read(&reading);
	reading.synced = false;
	is_u64(clock_catch_up(table, &watch, &reading), 0, "a clock that nobody vouches for gives nothing");
	ok(table_restored(table, &told) && !told.believed, "  and still does not");
	reading.synced = true;
	is_u64(clock_catch_up(table, &watch, &reading), 0, "still a year back: nothing, but believed");
	table->header->clock.pending = 1;
	reading.wall += (int64_t)(RIG_YEAR + 9 * FARM_DAY); /* set right, nine days after it was taken */
	uint64_t jump = clock_catch_up(table, &watch, &reading);
	ok(jump >= 9 * FARM_DAY - 60 * RIG_SECOND && jump <= 9 * FARM_DAY + 60 * RIG_SECOND,
	   "set right: nine days are made up");
	is_u64(clock_catch_up(table, &watch, &reading), 0, "  once");
	ok(table_restored(table, &told) && told.believed, "  and from now on it is believed");
	table_time(table, &t);
	ok(t.now >= before.now + jump && t.now <= before.now + jump + 60 * RIG_SECOND, "  time has jumped");
	is_u64(free_keys(table, DAILY, &t), FARM_KEYS, "  what has ended since has recovered");
	table_time(other, &late);
	ok(late.now <= t.now + 60 * RIG_SECOND, "  another handle is late, or follows at once");
	usleep(1100000);
	uint64_t last = late.now;
	table_time(other, &late);
	ok(late.now >= last && late.now >= t.now, "  and follows within a second");
	is_u64(farm_broken(other), 0, "  its invariants hold");
	other->header->clock.offset = INT64_MAX;
	other->clock.next = 0;
	table_time(other, &t);
	ok(t.now >= late.now && t.now < late.now + 60 * RIG_SECOND, "an absurd offset is not followed");
	table_close(&other);
	table_close(&table);
}

/* ---- at once ---- */

static bool row_is_there(struct table *table, unsigned id, uint32_t generation)
{
	struct algo_numbers numbers = rig_token(5, RIG_SECOND, 5);
	uint32_t row = 0;
	bool same = ledger_lock(table, 10000) == WEIR_OK &&
		    ledger_row_for(table, 5000 + id, 0, &numbers, 0, "own", generation, &row) == WEIR_OK &&
		    ledger_row(table, row)->generation == 4;
	ledger_unlock(table);
	return same;
}

/* Makes and opens it, and looks whether all rows and answers are there. Adds a row of its own, number `id`; 0: looks for
 * those of all others. */
static int create(const char *name, bool loaded, unsigned id)
{
	char path[160];
	struct table *table;
	struct table_restored told;
	snprintf(path, sizeof path, "%s/%s", farm.rig.folder, name);
	struct table_options options = {.path = path,
					.size = SIZE,
					.create = true,
					.process_slots = 16,
					.snapshot = loaded ? farm.snapshot : NULL};
	if (table_open(&options, &table, NULL, 0) != WEIR_OK)
		return 1;
	int wrong = 0;
	if (!table_restored(table, &told))
		wrong = loaded ? 2 : 0;
	else if (farm_differ(&farm, farm.table, table, &farm.t, SHORT)) /* SHORT may have recovered since */
		wrong = 3;
	else if (census_check(table, rig_say, NULL))
		wrong = 4;
	else if (id && !row_is_there(table, id, 4))
		wrong = 5;
	for (unsigned i = 1; !id && i <= 5; i++)
		if (!row_is_there(table, i, 9))
			wrong = 6;
	table_close(&table);
	return wrong;
}

static void check_many_creators(void)
{
	unsigned failed = 0, wrong_ledger = 0, rounds = 20;
	snapshot_write(&taken, farm.snapshot, NULL, 0);
	for (unsigned round = 0; round < rounds; round++) {
		char path[160], ledger[176];
		int *go = rig_shared(sizeof *go), status;
		pid_t child[5];
		snprintf(path, sizeof path, "%s/many", farm.rig.folder);
		snprintf(ledger, sizeof ledger, "%s.ledger", path);
		unlink(path);
		if (round % 2)
			unlink(ledger);
		for (unsigned i = 0; i < 5; i++)
			if ((child[i] = fork()) == 0) {
				while (!__atomic_load_n(go, __ATOMIC_ACQUIRE))
					;
				_exit(create("many", true, i + 1));
			}
		__atomic_store_n(go, 1, __ATOMIC_RELEASE);
		for (unsigned i = 0; i < 5; i++) {
			waitpid(child[i], &status, 0);
			failed += status != 0;
		}
		munmap(go, sizeof *go);
		wrong_ledger += create("many", true, 0) != 0;
	}
	is_u64(failed, 0, "five creators at once: each has the whole table");
	is_u64(wrong_ledger, 0, "  and the ledger is still its, with what each has added");
}

static void check_no_snapshot(void)
{
	char path[160], why[256];
	struct table *table;
	struct table_restored told;
	snprintf(path, sizeof path, "%s/without", farm.rig.folder);
	struct table_options options = {.path = path, .size = SIZE, .create = true};
	is_u64(table_open(&options, &table, why, sizeof why), WEIR_OK, "made without a snapshot");
	ok(!table_restored(table, &told) && why[0] == '\0', "  there is nothing to tell");
	table_close(&table);
	unlink(path);
	options.snapshot = "/dev/shm/weir-no/such";
	is_u64(table_open(&options, &table, why, sizeof why), WEIR_OK, "with one that is not there");
	is_str(why, "/dev/shm/weir-no/such: no snapshot there", "  it is told");
	ok(table_restored(table, &told) && strcmp(told.why, why) == 0 && told.entries == 0,
	   "  and stands in the table");
	table_close(&table);
	is_u64(table_open(&options, &table, why, sizeof why), WEIR_OK, "opened once more");
	is_str(why, "", "  it is told no more");
	table_close(&table);
}

/* What is in force in a folder that kept its policy goes on; what is published next is newer than any row. */
static void check_make(void)
{
	char path[160], why[256];
	snprintf(path, sizeof path, "%s/made", farm.rig.folder);
	struct table_options options = {.path = path, .size = SIZE};
	is_u64(snapshot_make_table(&taken, &options, false, why, sizeof why), WEIR_OK, "a table is made");
	is_u64(snapshot_make_table(&taken, &options, false, why, sizeof why), WEIR_EXISTS,
	       "not where there is one");
	ok(strstr(why, "there is a table already") != NULL, "  and it is said");
	options.size = TABLE_SIZE_MAX * 2;
	unlink(path);
	is_u64(snapshot_make_table(&taken, &options, false, why, sizeof why), WEIR_BAD_SIZE,
	       "nor one without end");
	struct snapshot forged = taken;
	options.size = SIZE;
	forged.pairs = 0;
	is_u64(snapshot_make_table(&forged, &options, false, why, sizeof why), WEIR_DAMAGED,
	       "nor from no pairs");
	ok(access(path, F_OK) != 0, "  nothing is left");
}

int main(void)
{
	farm = farm_new(SIZE);
	take();
	check_restart();
	check_reboots();
	check_catch_up();
	check_many_creators();
	check_no_snapshot();
	check_make();
	snapshot_free(&taken);
	farm_free(&farm);
	return done_testing();
}
