/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture: workers that decide without end, on counters of every kind, killed with SIGKILL at random instants and started
 * again. `torture [KILLS]`; 150 by default, `make torture` runs 10,000.
 */
#include <sys/wait.h>
#include <time.h>

#include "tests/table/torture.h"

static pid_t child[TORTURE_WORKERS];
static uint64_t dice = 20240229;

struct findings {
	uint64_t broken, over, log_over;
	unsigned strange;
};

static void start(struct torture *torture, unsigned worker)
{
	uint64_t seed = rig_random(&dice);
	child[worker] = fork();
	if (child[worker] < 0)
		rig_die("fork", "no process");
	if (child[worker] == 0)
		torture_work(torture, worker, seed);
}

/* Kills it and takes over its note. False if it had ended by itself: no worker ever should. */
static bool end(struct torture *torture, unsigned worker)
{
	int status;
	hold_doom(torture, worker);
	kill(child[worker], SIGKILL);
	if (waitpid(child[worker], &status, 0) != child[worker])
		rig_die("waitpid", "the worker is gone");
	uint32_t note = atomic_exchange(&torture->pending[worker], 0);
	if (note)
		atomic_fetch_add(&torture->book[note >> 8 & 255].lost, note & 255);
	hold_bury(torture, worker);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* To its end. False if that was not as it should be. */
static bool wait_for(pid_t pid)
{
	int status;
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static uint64_t table_now(struct torture *torture, unsigned rig)
{
	struct table *table = rig_open_as(&torture->rig[rig], true);
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

static uint32_t row_of(struct table *table, const struct torture *torture, unsigned limit)
{
	uint16_t flags = torture_limits[limit].rig == DENYING ? TABLE_DENY : TABLE_EVICT;
	uint32_t row;
	enum weir_error error = ledger_lock(table, 10000);
	if (!error)
		error = ledger_row_for(table, 100 + limit, 0, &torture->numbers[limit], flags, "kept", 1,
				       &row);
	if (error)
		rig_die("ledger", weir_error_sentence(error));
	ledger_unlock(table);
	return row;
}

static void prepare(struct torture *torture)
{
	struct algo_time t;
	for (unsigned i = 0; i < RIGS; i++) {
		torture->rig[i] = rig_new(i == ROOMY ? 2 << 20 : TABLE_SIZE_MIN, TORTURE_SLOTS);
		struct table *table = rig_open(&torture->rig[i]);
		table_time(table, &t);
		torture->begin[i] = t.now;
		for (unsigned limit = 0; limit < LIMITS; limit++)
			if (torture_limits[limit].rig == i) {
				torture->numbers[limit] = torture_numbers(limit);
				torture->row[limit] = row_of(table, torture, limit);
			}
		if (i == ROOMY) {
			torture->wall = t.wall;
			torture->opened[0] = t.now;
			hot_use_up(torture, table);
			churn_publish(torture, table);
		}
		table_close(&table);
	}
}

static uint64_t all_broken(struct torture *torture)
{
	uint64_t broken = 0;
	for (unsigned i = 0; i < RIGS; i++)
		broken += rig_broken(&torture->rig[i]);
	return broken;
}

static void look_at(struct torture *torture, unsigned killed, struct findings *found)
{
	if (killed % 8 == 7) { /* keys nobody has seen before */
		unsigned epoch = atomic_load(&torture->epoch) + 1;
		torture->opened[epoch] = table_now(torture, ROOMY);
		atomic_store(&torture->epoch, epoch);
	}
	if (killed % 64 == 63) { /* under the hands of the others */
		struct table *table = rig_open_as(&torture->rig[ROOMY], true);
		found->over += hot_over(torture, table);
		table_close(&table);
		found->broken += all_broken(torture);
	}
	if (killed % 1000 == 999) {
		uint64_t most[LIMITS] = {0};
		found->log_over += log_over(torture, most);
	}
}

/* The witness first: it has seen them alive. */
static void regain(struct torture *torture, pid_t witness, struct findings *found)
{
	for (unsigned i = 0; i < RIGS; i++)
		torture->killed[i] = table_now(torture, i);
	atomic_store(&torture->finish, 1);
	found->strange += !wait_for(witness);
	pid_t after = fork();
	if (after == 0)
		torture_come_after(torture);
	found->strange += after < 0 || !wait_for(after);
}

/* All process slots of the dead can be taken at once, and not one more. */
static void check_slots(struct torture *torture)
{
	struct rig *rig = &torture->rig[ROOMY];
	struct table *table[TORTURE_SLOTS], *extra;
	struct census census;
	unsigned opened = 0;
	while (opened < TORTURE_SLOTS && rig_try_open(rig, false, &table[opened]) == WEIR_OK)
		opened++;
	is_u64(opened, TORTURE_SLOTS, "every process slot can be used again");
	ok(rig_try_open(rig, false, &extra) == WEIR_BUSY, "  and not one more");
	if (opened) {
		census_take(table[0], &census);
		is_u64(census.processes, opened, "  and the census counts them");
		is_u64(census.held, 0, "  and nothing that is held");
	}
	while (opened)
		table_close(&table[--opened]);
}

static void check(struct torture *torture, const struct findings *found)
{
	is_u64(found->strange, 0, "no worker ended by itself");
	is_u64(found->broken + all_broken(torture), 0, "the tables were sound, always");
	is_u64(found->over, 0, "no bucket was above its bound at any time");
	is_u64(atomic_load(&torture->no_room), 0, "where there is room, every charge had its place");
	is_u64(atomic_load(&torture->wrong), 0, "every answer was as it must be");
	ok(atomic_load(&torture->published) > 0, "numbers were published meanwhile");
	hot_check(torture);
	log_check(torture, found->log_over);
	hold_check(torture);
	keys_check(torture);
	ban_check(torture);
	check_slots(torture);
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 150;
	if (kills == 0 || kills > 20000)
		rig_die("usage", "torture [1..20000]");
	struct torture *torture = rig_shared(sizeof *torture);
	struct findings found = {0};
	time_t began = time(NULL);
	prepare(torture);
	pid_t witness = fork();
	if (witness < 0)
		rig_die("fork", "no process");
	if (witness == 0)
		torture_watch(torture, rig_random(&dice));
	for (unsigned i = 0; i < TORTURE_WORKERS; i++)
		start(torture, i);
	for (unsigned killed = 0; killed < kills; killed++) {
		unsigned worker = (unsigned)(rig_random(&dice) % TORTURE_WORKERS);
		wait_a_little();
		found.strange += !end(torture, worker);
		look_at(torture, killed, &found);
		if (killed % 1000 == 999) {
			note("%u of %u kills, %lld s, %" PRIu64 " charges", killed + 1, kills,
			     (long long)(time(NULL) - began), atomic_load(&torture->charges));
			fflush(stdout);
		}
		start(torture, worker);
	}
	for (unsigned i = 0; i < TORTURE_WORKERS; i++)
		found.strange += !end(torture, i);
	regain(torture, witness, &found);
	struct table *table = rig_open(&torture->rig[ROOMY]);
	hot_use_up(torture, table); /* what the last sleep left */
	table_close(&table);

	check(torture, &found);
	note("%u kills, %" PRIu64 " charges, %" PRIu64 " publications, %lld s", kills,
	     atomic_load(&torture->charges), atomic_load(&torture->published),
	     (long long)(time(NULL) - began));
	for (unsigned i = 0; i < RIGS; i++)
		rig_free(&torture->rig[i]);
	munmap(torture, sizeof *torture);
	return done_testing();
}
