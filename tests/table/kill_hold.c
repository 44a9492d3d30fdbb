/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill_hold: whoever dies with something in his hands, at whatever instruction of taking, settling or giving back,
 * leaves a sound table in which nothing is held by him and the cost is charged or not. And while holders are killed
 * and stopped at random, those that live are never too many, and what the dead held is free again.
 */
#include "table/handle.h"
#include "tests/table/stage.h"

#define BURST 3u

/* ---- at every step -------------------------------------------------------------------------------------- */

static struct table_ticket in_hand; /* of the child */

static void take_one(struct stage *stage, struct table *table)
{
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	table_take(table, &key, stage->row, &stage->time, 1, TABLE_RESERVE, &in_hand, &look);
}

static void know_rows(struct stage *stage, struct table *table)
{
	(void)stage;
	for (uint32_t row = 1; row <= ledger_rows(table); row++)
		ledger_row(table, row);
}

static void have_one(struct stage *stage, struct table *table)
{
	know_rows(stage, table);
	take_one(stage, table);
	if (!in_hand.live)
		rig_die("stage", "nothing was taken");
}

/* A second one, of a key whose cell is there. */
static void know_key(struct stage *stage, struct table *table)
{
	have_one(stage, table);
	table_give_back(table, &in_hand, &stage->time);
}

static void settle(struct stage *stage, struct table *table)
{
	table_settle(table, &in_hand, &stage->time, 1);
}

static void give_back(struct stage *stage, struct table *table)
{
	table_give_back(table, &in_hand, &stage->time);
}

static void overdue(struct stage *stage, struct table *table)
{
	struct algo_time late = {.now = stage->time.now + TABLE_RESERVE_MAX_NS + 1};
	table_overdue(table, &late);
}

static void retire_and_settle(struct stage *stage, struct table *table)
{
	table_retire(table);
	table_settle(table, &in_hand, &stage->time, 1);
}

static const struct story {
	const char *name;
	stage_act *ready, *act;
	unsigned untouched, done; /* what others can have afterwards */
} stories[] = {
	{"take, the first time", know_rows, take_one, 3, 3},
	{"take again", know_key, take_one, 3, 3},
	{"settle", have_one, settle, 3, 2},
	{"give back", have_one, give_back, 3, 3},
	{"charge what is overdue", have_one, overdue, 3, 2},
	{"retire, then settle", have_one, retire_and_settle, 3, 2},
};

/* Two of two process slots; the dead one's is one of them. Later than anything the dead did. */
static unsigned heirs(struct stage *stage, bool *wrong)
{
	const struct algo_time later = {.now = stage->time.now + 2 * TABLE_RESERVE_MAX_NS};
	struct table *table[2] = {rig_open(&stage->rig), rig_open(&stage->rig)};
	struct table_key key = rig_key(table[0], 1, 1);
	struct table_ticket tickets[20];
	struct table_look look;
	unsigned taken = 0;
	for (unsigned i = 0; i < 20; i++)
		taken += table_take(table[i % 2], &key, stage->row, &later, 1, TABLE_RESERVE, &tickets[i],
				    &look) == TABLE_CHARGED;
	*wrong |= look.held != taken;
	for (unsigned i = 0; i < 20; i++)
		table_give_back(table[i % 2], &tickets[i], &later);
	table_peek_held(table[0], &key, stage->row, &later, taken, &look);
	*wrong |= look.held != 0 || !look.allowed;
	table_close(&table[1]);
	table_close(&table[0]);
	return taken;
}

static void tell(const struct story *story, const struct algo_numbers *numbers, const char *kind)
{
	struct stage stage = {.rig = rig_new(TABLE_SIZE_MIN, 2), .ready = story->ready, .numbers = *numbers};
	struct table *table = rig_open(&stage.rig);
	stage.time.now = 100 * RIG_SECOND;
	stage.row = rig_row(table, 1, numbers, 1);
	table_close(&table);
	stage_save(&stage);

	unsigned done = numbers->kind == ALGO_CONCURRENT ? BURST : story->done;
	unsigned deaths = 0, strange = 0, steps = 0, first = 0, last = 0, turns = 0, seen, at = 0;
	uint64_t broken = 0;
	bool wrong = false;
	do {
		stage_restore(&stage);
		seen = stage_die_at(&stage, story->act, at, &steps);
		broken += rig_broken(&stage.rig);
		unsigned left = heirs(&stage, &wrong);
		broken += rig_broken(&stage.rig);
		strange += left != story->untouched && left != done;
		turns += deaths > 0 && left != last;
		if (deaths++ == 0)
			first = left;
		last = left;
	} while (seen == at++);
	char text[160];
	snprintf(text, sizeof text, "%s, %s: killed at each step, the table is sound", kind, story->name);
	is_u64(broken, 0, text);
	if (!ok(!strange && !wrong && first == story->untouched && last == done && turns <= 1,
		"  what was held is free, what was charged is charged"))
		note("strange %u, wrong %d, first %u, last %u, turned %u times", strange, wrong, first, last,
		     turns);
	ok(deaths > 1, "  (there was something to die in)");
	note("%u deaths in %u instructions", deaths - 1, steps);
	stage_free(&stage);
}

/* ---- at random -------------------------------------------------------------------------------------------- */

#define HOLDERS 4u
#define PLACES	2u

struct crowd {
	struct rig rig;
	uint32_t row;
	struct algo_numbers numbers;
	uint32_t inside[HOLDERS], dying[HOLDERS]; /* shared: atomic */
	uint64_t entered, too_many, strange;
};

static _Noreturn void hold_and_go(struct crowd *crowd, unsigned me)
{
	struct table *table = rig_open(&crowd->rig);
	struct table_key key = rig_key(table, 1, 1);
	uint64_t seed = me + (uint64_t)getpid() * 8;
	for (;;) {
		struct table_ticket ticket;
		struct table_look look;
		struct algo_time t;
		unsigned others = 0;
		table_time(table, &t);
		if (table_take(table, &key, crowd->row, &t, 1, TABLE_RESERVE, &ticket, &look) !=
		    TABLE_CHARGED) {
			usleep(50);
			continue;
		}
		__atomic_store_n(&crowd->inside[me], 1, __ATOMIC_SEQ_CST);
		for (unsigned i = 0; i < HOLDERS; i++)
			others += i != me && __atomic_load_n(&crowd->inside[i], __ATOMIC_SEQ_CST) &&
				  !__atomic_load_n(&crowd->dying[i], __ATOMIC_SEQ_CST);
		if (others >= PLACES)
			__atomic_add_fetch(&crowd->too_many, 1, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&crowd->entered, 1, __ATOMIC_SEQ_CST);
		if (rig_random(&seed) % 8 == 0)
			usleep((useconds_t)(rig_random(&seed) % 300));
		__atomic_store_n(&crowd->inside[me], 0, __ATOMIC_SEQ_CST);
		if (!table_give_back(table, &ticket, &t))
			__atomic_add_fetch(&crowd->strange, 1, __ATOMIC_SEQ_CST);
	}
}

static pid_t crowd_fork(struct crowd *crowd, unsigned me)
{
	__atomic_store_n(&crowd->inside[me], 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&crowd->dying[me], 0, __ATOMIC_SEQ_CST);
	pid_t child = fork();
	if (child < 0)
		rig_die("fork", "no process");
	if (child == 0)
		hold_and_go(crowd, me);
	return child;
}

static void crowd_kill(struct crowd *crowd, pid_t child, unsigned me)
{
	/* Before it can have died: from here on nobody counts it. */
	__atomic_store_n(&crowd->dying[me], 1, __ATOMIC_SEQ_CST);
	if (kill(child, SIGKILL) != 0 || waitpid(child, NULL, 0) != child)
		rig_die("crowd", "a holder had died by itself");
}

/* Places that can be had at once, within `limit_s`: then all. */
static unsigned crowd_places(struct crowd *crowd, double *after_s)
{
	struct table *table = rig_open(&crowd->rig);
	struct table_key key = rig_key(table, 1, 1);
	struct algo_time begin, t;
	struct table_look look;
	table_time(table, &begin);
	do {
		table_time(table, &t);
		table_peek_held(table, &key, crowd->row, &t, PLACES, &look);
		if (!look.allowed)
			usleep(10000);
	} while (!look.allowed && t.now - begin.now < 20 * RIG_SECOND);
	*after_s = (double)(t.now - begin.now) / 1e9;
	table_close(&table);
	return PLACES - look.held;
}

static void check_crowd(void)
{
	struct crowd *crowd = rig_shared(sizeof *crowd);
	struct table *table;
	pid_t child[HOLDERS];
	uint64_t seed = 5;
	double after_s;
	if (!algo_concurrent(PLACES, &crowd->numbers))
		rig_die("algo_concurrent", "refused");
	crowd->rig = rig_new(TABLE_SIZE_MIN, HOLDERS + 2);
	table = rig_open(&crowd->rig);
	crowd->row = rig_row(table, 1, &crowd->numbers, 1);
	table_close(&table);
	for (unsigned i = 0; i < HOLDERS; i++)
		child[i] = crowd_fork(crowd, i);
	for (unsigned death = 0; death < 40; death++) {
		unsigned victim = (unsigned)(rig_random(&seed) % HOLDERS);
		usleep((useconds_t)(rig_random(&seed) % 60000));
		if (death % 20 == 7) { /* stopped for longer than anybody remembers that it lived */
			kill(child[victim], SIGSTOP);
			usleep(1500000);
			kill(child[victim], SIGCONT);
			continue;
		}
		crowd_kill(crowd, child[victim], victim);
		child[victim] = crowd_fork(crowd, victim);
	}
	for (unsigned i = 0; i < HOLDERS; i++)
		crowd_kill(crowd, child[i], i);
	is_u64(crowd->too_many, 0, "holders killed and stopped at random: never more than there are places");
	is_u64(crowd->strange, 0, "each that lived gave back what it had");
	ok(crowd->entered > 500, "(many had one)");
	note("%" PRIu64 " had a place", crowd->entered);
	is_u64(crowd_places(crowd, &after_s), PLACES, "what the dead held is free again");
	note("after %.3f s", after_s);
	is_u64(rig_broken(&crowd->rig), 0, "the table is sound");
	rig_free(&crowd->rig);
	munmap(crowd, sizeof *crowd);
}

int main(void)
{
	struct algo_numbers token = rig_token(1, RIG_YEAR, BURST), flight, sliding_log;
	struct algo_numbers window = rig_window(BURST, RIG_YEAR, ALGO_FIRST_REQUEST);
	if (!algo_concurrent(BURST, &flight) || !algo_sliding_log(BURST, RIG_YEAR, &sliding_log))
		rig_die("numbers", "refused");
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		tell(&stories[i], &token, "bucket");
		if (stories[i].act != overdue)
			tell(&stories[i], &flight, "in flight");
	}
	tell(&stories[2], &window, "window");
	tell(&stories[2], &sliding_log, "log");
	check_crowd();
	return done_testing();
}
