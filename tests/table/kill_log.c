/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill_log: whoever dies in the middle of a log's charge, at whatever instruction, leaves a sound table. The next one
 * finds at most the cells that were being taken still taken, until they end, and never more room than there was.
 * And workers killed at random while they charge: no window holds more than N, and nothing is lost for good.
 */
#include <time.h>

#include "table/log.h"
#include "tests/table/race_log.h"
#include "tests/table/stage.h"

#define N      4u
#define PERIOD (100 * RIG_SECOND)

static void race_run(struct race *race, race_body *body, unsigned workers)
{
	(void)race, (void)body, (void)workers; /* here workers are killed */
}

static struct table_key subject(const struct table *table)
{
	return rig_key(table, 1, 1);
}

static void charge(struct stage *stage, struct table *table, uint32_t cost, struct log_taken *taken)
{
	struct table_key key = subject(table);
	struct table_look look;
	log_charge(table, &key, stage->row, &stage->time, cost, taken, &look);
}

static void charge_one(struct stage *stage, struct table *table)
{
	charge(stage, table, 1, NULL);
}

static void charge_three(struct stage *stage, struct table *table)
{
	charge(stage, table, 3, NULL);
}

static void charge_all(struct stage *stage, struct table *table)
{
	charge(stage, table, N, NULL);
}

static void all_and_wait(struct stage *stage, struct table *table)
{
	charge_three(stage, table);
	charge_one(stage, table);
	stage->time.now += PERIOD + 32;
}

static void charge_changed(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	struct table_look look;
	log_charge(table, &key, stage->changed_row, &stage->time, 1, NULL, &look);
}

static struct log_taken last_taken; /* the child has it from its parent */

static void one_then_two(struct stage *stage, struct table *table)
{
	charge_one(stage, table);
	charge(stage, table, 2, &last_taken);
}

static void two_then_one(struct stage *stage, struct table *table)
{
	charge(stage, table, 2, &last_taken);
	stage->time.now += 1000;
	charge_one(stage, table);
}

static void give_back(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	log_uncharge(table, &key, stage->row, &stage->time, &last_taken, 2);
}

/* Rows are remembered from the first use on: tens of thousands of instructions that write nothing shared. */
static void know_rows(struct stage *stage, struct table *table)
{
	(void)stage;
	for (uint32_t row = 1; row <= ledger_rows(table); row++)
		ledger_row(table, row);
}

static void forget(struct stage *stage, struct table *table)
{
	struct table_key key = subject(table);
	(void)stage;
	table_forget(table, &key);
}

static void full_of_live(struct stage *stage, struct table *table)
{
	/* Worth less than any cell of the log: or two of its cells that fall into one pair push each other out, in one table
	 * of fifty. */
	struct algo_numbers numbers = rig_token(1, 360 * RIG_SECOND, 100);
	uint32_t row = rig_row(table, 50, &numbers, 1);
	struct table_look look;
	for (unsigned i = 0; i < 40000; i++) {
		struct table_key key = rig_key(table, 2, i);
		table_charge(table, &key, row, &stage->time, 1, &look);
	}
}

static const struct story {
	const char *name;
	stage_act *before, *act;
	unsigned untouched, done; /* what another can still charge */
	bool changed;
} stories[] = {
	{"the first of a log", NULL, charge_one, 4, 3, false},
	{"the next", charge_one, charge_one, 3, 2, false},
	{"three at once", NULL, charge_three, 4, 1, false},
	{"three where there is only one", charge_three, charge_three, 1, 1, false},
	{"over cells that have ended", all_and_wait, charge_three, 4, 1, false},
	{"in a full table", full_of_live, charge_three, 4, 1, false},
	{"under new numbers", charge_three, charge_changed, 5, 4, true},
	{"giving the newest back", one_then_two, give_back, 1, 3, false},
	{"giving older ones back", two_then_one, give_back, 1, 3, false},
	{"forgetting it", charge_all, forget, 0, 4, false},
};

/* How much another can still have, one by one; and what he was told is used before each. */
static unsigned heir(struct stage *stage, bool changed, unsigned *untrue)
{
	struct table *table = rig_open(&stage->rig);
	struct table_key key = subject(table);
	uint32_t n = changed ? 2 * N : N;
	struct table_look look, before;
	unsigned admitted = 0, room;
	log_peek(table, &key, changed ? stage->changed_row : stage->row, &stage->time, 1, &before);
	room = n - before.used;
	while (admitted <= 2 * N && table_charge(table, &key, changed ? stage->changed_row : stage->row,
						 &stage->time, 1, &look) == TABLE_CHARGED)
		admitted++;
	*untrue += room != admitted;
	table_close(&table);
	return admitted;
}

static void tell(const struct story *story)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2), .ready = know_rows};
	struct table *table = rig_open(&stage.rig);
	if (!algo_sliding_log(N, PERIOD, &stage.numbers) || !algo_sliding_log(2 * N, PERIOD, &stage.changed))
		rig_die("log", "numbers");
	stage.time.now = 320 * RIG_SECOND;
	stage.row = rig_row(table, 1, &stage.numbers, 1);
	stage.changed_row = rig_row(table, 1, &stage.changed, 2);
	if (story->before)
		story->before(&stage, table);
	table_close(&table);
	stage_save(&stage);

	unsigned deaths = 0, strange = 0, untrue = 0, after = 0, steps = 0, first = 0, last = 0, seen, at = 0;
	unsigned low = story->done < story->untouched ? story->done : story->untouched;
	unsigned high = story->done < story->untouched ? story->untouched : story->done;
	uint64_t broken = 0, now = stage.time.now;
	do {
		stage_restore(&stage);
		seen = stage_die_at(&stage, story->act, at, &steps);
		broken += rig_broken(&stage.rig);
		last = heir(&stage, story->changed, &untrue);
		broken += rig_broken(&stage.rig);
		strange += last < low || last > high;
		if (deaths++ == 0)
			first = last;
		stage.time.now += PERIOD + 32; /* nothing is lost for good */
		after += heir(&stage, story->changed, &untrue) != (story->changed ? 2 * N : N);
		stage.time.now = now;
	} while (seen == at++);
	char text[160];
	snprintf(text, sizeof text, "%s: killed at each step, the table is sound", story->name);
	is_u64(broken, 0, text);
	if (!ok(!strange && first == story->untouched && last == story->done,
		"  the next finds it done, or not, or half of it taken"))
		note("strange %u, first %u, last %u", strange, first, last);
	is_u64(untrue, 0, "  and is told so");
	is_u64(after, 0, "  and when it has ended all of it again");
	note("%u deaths in %u instructions", deaths - 1, steps);
	stage_free(&stage);
}

/* ---- at random ------------------------------------------------------------------------------------------ */

#define WORKERS 3u

static pid_t start(struct race *race, unsigned worker, uint64_t seed)
{
	pid_t child = fork();
	if (child < 0)
		rig_die("fork", "no process");
	if (child == 0) {
		struct table *table = rig_open(&race->rig);
		log_hot(race, worker + (unsigned)(seed % 1000), table);
		for (;;)
			pause();
	}
	return child;
}

static void check_random(uint32_t n, uint32_t cost, unsigned kills)
{
	struct race *race = race_new(1 << 20);
	pid_t child[WORKERS];
	uint64_t seed = 815;
	uint64_t period = 1000000, broken = 0;
	char text[160];
	log_book = rig_shared(sizeof *log_book);
	*log_book = (struct log_book){.n = n, .cost = cost, .period = period};
	log_book->row = log_row_of(race, 1, n, period);
	race->step = period / (n * 30);
	race->end = RACE_BASE + 900 * RIG_SECOND;
	for (unsigned i = 0; i < WORKERS; i++)
		child[i] = start(race, i, rig_random(&seed));
	for (unsigned killed = 0; killed < kills; killed++) {
		unsigned worker = (unsigned)(rig_random(&seed) % WORKERS);
		struct timespec wait = {.tv_nsec = (long)(rig_random(&seed) % 2000000)};
		nanosleep(&wait, NULL);
		int status;
		kill(child[worker], SIGKILL);
		if (waitpid(child[worker], &status, 0) != child[worker])
			rig_die("waitpid", "the worker is gone");
		if (killed % 64 == 63)
			broken += rig_broken(&race->rig);
		if (atomic_load(&log_book->records) > LOG_RECORDS * 3 / 4)
			atomic_store(&log_book->records, 0); /* begin a new page */
		child[worker] = start(race, worker, rig_random(&seed));
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		int status;
		kill(child[i], SIGKILL);
		waitpid(child[i], &status, 0);
	}
	uint32_t count = atomic_load(&log_book->records), most = 0;
	if (count > LOG_RECORDS)
		rig_die("log", "too few records");
	snprintf(text, sizeof text, "log of %u, costs up to %u, %u kills: no window holds more", n, cost,
		 kills);
	is_u64(log_windows(log_book->record, count, n, period, false, &most), 0, text);
	is_u64(log_windows(log_book->record, count, n, period, true, &most), 0, "  nor by the stamps");
	ok(count > 100 && most > n / 2, "  and they were used");
	note("%u admissions, most in one %u", count, most);

	struct table *table = rig_open(&race->rig);
	struct algo_time t = {.now = atomic_load(&race->clock) + 2 * period};
	for (uint64_t i = 0; i < LOG_KEYS; i++) {
		struct table_key key = rig_key(table, 30, i);
		struct table_look look;
		uint64_t admitted = 0;
		while (admitted <= n &&
		       table_charge(table, &key, log_book->row, &t, 1, &look) == TABLE_CHARGED)
			admitted++;
		is_u64(admitted, n, "  and nothing is lost for good");
	}
	table_close(&table);
	is_u64(broken, 0, "  the table was sound, always");
	race_sound(race, "killed");
	munmap(log_book, sizeof *log_book);
	race_free(race);
}

int main(void)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
		tell(&stories[i]);
	check_random(5, 1, 150);
	check_random(50, 6, 150);
	return done_testing();
}
