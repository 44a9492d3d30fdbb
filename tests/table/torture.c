/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture: workers that decide without end, killed with SIGKILL at random instants and started again.
 * `torture [KILLS]`; 150 by default, `make torture` runs 10,000.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/table/torture.h"
#include "tests/tap.h"

static pid_t child[TORTURE_WORKERS];
static uint64_t dice = 20240229;

static void start(struct torture *torture, unsigned worker)
{
	uint64_t seed = rig_random(&dice);
	child[worker] = fork();
	if (child[worker] < 0)
		rig_die("fork", "no process");
	if (child[worker] == 0)
		torture_worker(torture, worker, seed);
}

/* Kills it and takes over its note. False if it had ended by itself: no worker ever should. */
static bool end(struct torture *torture, unsigned worker)
{
	int status;
	kill(child[worker], SIGKILL);
	if (waitpid(child[worker], &status, 0) != child[worker])
		rig_die("waitpid", "the worker is gone");
	uint32_t note = atomic_exchange(&torture->pending[worker], 0);
	if (note)
		atomic_fetch_add(&torture->lost[note >> 8], note & 255);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static uint64_t table_now(struct torture *torture)
{
	struct table *table = rig_open_as(&torture->rig, true);
	struct algo_time t;
	table_time(table, &t);
	table_close(&table);
	return t.now;
}

/* A wait of up to 2 ms, often much less: a worker that has just begun is killed in table_open. */
static void wait_a_little(void)
{
	uint64_t roll = rig_random(&dice);
	struct timespec wait = {.tv_nsec = (long)(roll % 2000000) >> (roll >> 32 & 3) * 2};
	nanosleep(&wait, NULL);
}

static void prepare(struct torture *torture)
{
	struct algo_numbers numbers[ROWS] = {
		[HOT_TOKEN] = rig_token(TORTURE_BURST, RIG_SECOND, TORTURE_BURST),
		[HOT_LEAKY] = rig_leaky(TORTURE_BURST, RIG_SECOND, TORTURE_BURST - 1),
		[HOT_WINDOW] = rig_window(TORTURE_WINDOW, TORTURE_PERIOD, ALGO_FIRST_REQUEST),
		[HOT_CLOCK] = rig_window(TORTURE_WINDOW, TORTURE_PERIOD, ALGO_CLOCK),
		[FRESH] = rig_token(FRESH_RATE, RIG_SECOND, FRESH_BURST),
	};
	torture->rig = rig_new(2 << 20, TORTURE_SLOTS);
	struct table *table = rig_open(&torture->rig);
	struct algo_time t;
	memcpy(torture->numbers, numbers, sizeof numbers);
	for (unsigned i = 0; i < ROWS; i++)
		torture->row[i] = rig_row(table, 100 + i, &numbers[i], 1);
	table_time(table, &t);
	torture->begin = torture->opened[0] = t.now;
	for (unsigned limit = HOT_TOKEN; limit <= HOT_LEAKY;
	     limit++) { /* empty: what follows is rate * time */
		struct table_key key = rig_key(table, 1, limit);
		while (torture_charge(torture, table, &key, torture->row[limit], &t, 1))
			atomic_fetch_add(&torture->counted[limit], 1);
	}
	torture_publish(torture, table);
	table_close(&table);
}

static void check_hot(struct torture *torture, int64_t wall)
{
	static const char *const names[] = {"token bucket", "leaky bucket", "window", "window on the clock"};
	char text[160];
	for (unsigned limit = 0; limit < HOT_COUNT; limit++) {
		uint64_t counted = atomic_load(&torture->counted[limit]),
			 lost = atomic_load(&torture->lost[limit]);
		uint64_t last = atomic_load(&torture->last[limit]), time = last - torture->begin, bound,
			 least;
		if (limit <= HOT_LEAKY) {
			bound = TORTURE_BURST +
				(uint64_t)((unsigned __int128)time * TORTURE_BURST * 1000001 / 1000000 /
					   RIG_SECOND) +
				1;
			least = bound / 100 *
				99; /* in whole requests of up to 3, and not those of the last instant */
		} else {
			bound = TORTURE_WINDOW * (time / TORTURE_PERIOD + 1);
			if (limit == HOT_CLOCK)
				bound = TORTURE_WINDOW *
					(((uint64_t)((int64_t)last + wall)) / TORTURE_PERIOD -
					 ((uint64_t)((int64_t)torture->begin + wall)) / TORTURE_PERIOD + 1);
			least = bound / 4; /* a window nobody had a processor in is empty */
		}
		snprintf(text, sizeof text, "%s: never above its bound", names[limit]);
		ok(counted <= bound, text);
		snprintf(text, sizeof text, "%s: what was offered was used", names[limit]);
		ok(counted + lost >= least, text);
		note("%s: counted %" PRIu64 ", in flight at deaths %" PRIu64 ", bound %" PRIu64, names[limit],
		     counted, lost, bound);
	}
}

static void check_fresh(struct torture *torture)
{
	uint64_t over = 0, used = 0, full = 0;
	for (unsigned epoch = 0; epoch <= atomic_load(&torture->epoch); epoch++)
		for (unsigned i = 0; i < FRESH_KEYS; i++) {
			struct fresh *fresh = &torture->fresh[epoch][i];
			uint32_t counted = atomic_load(&fresh->counted);
			uint64_t last = atomic_load(&fresh->last), begun = torture->opened[epoch];
			uint64_t time = last > begun ? last - begun : 0;
			uint64_t bound = FRESH_BURST + (time + time / 1000000) * FRESH_RATE / RIG_SECOND;
			over += counted > bound;
			used += counted > 0;
			full += counted >= FRESH_BURST;
		}
	is_u64(over, 0, "fresh keys: none above its burst and its rate");
	ok(used > 0 && full > used / 4, "fresh keys: many were used up");
	note("fresh keys: %" PRIu64 " used, %" PRIu64 " used up", used, full);
}

/* All process slots of the dead can be taken at once, and not one more. */
static void check_slots(struct torture *torture)
{
	struct table *table[TORTURE_SLOTS], *extra;
	struct census census;
	unsigned opened = 0;
	while (opened < TORTURE_SLOTS && rig_try_open(&torture->rig, false, &table[opened]) == WEIR_OK)
		opened++;
	is_u64(opened, TORTURE_SLOTS, "every process slot can be used again");
	ok(rig_try_open(&torture->rig, false, &extra) == WEIR_BUSY, "  and not one more");
	if (opened) {
		census_take(table[0], &census);
		is_u64(census.processes, opened, "  and the census counts them");
	}
	while (opened)
		table_close(&table[--opened]);
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 150;
	if (kills == 0 || kills > 20000)
		rig_die("usage", "torture [1..20000]");
	struct torture *torture = rig_shared(sizeof *torture);
	time_t began = time(NULL);
	uint64_t broken = 0;
	unsigned strange = 0;
	prepare(torture);
	for (unsigned i = 0; i < TORTURE_WORKERS; i++)
		start(torture, i);
	for (unsigned killed = 0; killed < kills; killed++) {
		unsigned worker = (unsigned)(rig_random(&dice) % TORTURE_WORKERS);
		wait_a_little();
		strange += !end(torture, worker);
		if (killed % 8 == 7) { /* keys nobody has seen before */
			unsigned epoch = atomic_load(&torture->epoch) + 1;
			torture->opened[epoch] = table_now(torture);
			atomic_store(&torture->epoch, epoch);
		}
		if (killed % 64 == 63)
			broken += rig_broken(&torture->rig); /* under the hands of the others */
		if (killed % 1000 == 999) {
			note("%u of %u kills, %lld s, %" PRIu64 " charges", killed + 1, kills,
			     (long long)(time(NULL) - began), atomic_load(&torture->charges));
			fflush(stdout);
		}
		start(torture, worker);
	}
	for (unsigned i = 0; i < TORTURE_WORKERS; i++)
		strange += !end(torture, i);

	struct table *table = rig_open(&torture->rig);
	struct algo_time t;
	table_time(table, &t);
	for (unsigned limit = HOT_TOKEN; limit <= HOT_LEAKY; limit++) { /* what the last sleep left */
		struct table_key key = rig_key(table, 1, limit);
		torture_latest(&torture->last[limit], t.now);
		while (torture_charge(torture, table, &key, torture->row[limit], &t, 1))
			atomic_fetch_add(&torture->counted[limit], 1);
	}
	table_close(&table);

	is_u64(strange, 0, "no worker ended by itself");
	is_u64(broken + rig_broken(&torture->rig), 0, "the table was sound, always");
	is_u64(atomic_load(&torture->no_room) + atomic_load(&torture->wrong), 0,
	       "every charge had its place");
	is_u64(rig_stats(&torture->rig).evicted_live, 0, "no live counter was pushed out");
	ok(atomic_load(&torture->published) > 0, "numbers were published meanwhile");
	check_hot(torture, t.wall);
	check_fresh(torture);
	check_slots(torture);
	note("%u kills, %" PRIu64 " charges, %" PRIu64 " publications, %lld s", kills,
	     atomic_load(&torture->charges), atomic_load(&torture->published),
	     (long long)(time(NULL) - began));
	rig_free(&torture->rig);
	munmap(torture, sizeof *torture);
	return done_testing();
}
