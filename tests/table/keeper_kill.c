/* SPDX-License-Identifier: BSD-2-Clause */
/* keeper_kill: traffic, and a keeper that is killed at random: what is read afterwards has everything that was charged
 * before the last work it finished began, and nothing that never was. In real time. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "algo/window.h"
#include "table/snapshot_file.h"
#include "tests/table/snapshot_rig.h"
#include "tests/tap.h"

#define SIZE   (UINT64_C(256) << 10)
#define KEYS   400u
#define ROUNDS 25u
#define MANY   1000000u

struct shared {
	uint32_t charged[KEYS]; /* by the one who decides, after the charge */
	uint32_t floor[2][KEYS];
	uint32_t which; /* of them holds; written after a work that was finished */
	uint32_t works;
};

static struct rig rig;
static char path[128];

static void keep(struct shared *shared, uint64_t *now)
{
	struct table *table = rig_open(&rig);
	struct keeper *keeper;
	if (keeper_open(path, &keeper, NULL, 0) != WEIR_OK)
		rig_die("keeper", "cannot be opened");
	for (;;) {
		uint32_t next = !shared->which;
		for (unsigned i = 0; i < KEYS; i++)
			shared->floor[next][i] = __atomic_load_n(&shared->charged[i], __ATOMIC_ACQUIRE);
		if (keeper_work(keeper, table, *now += 60000, NULL, 0) == WEIR_OK) {
			__atomic_store_n(&shared->which, next, __ATOMIC_RELEASE);
			__atomic_add_fetch(&shared->works, 1, __ATOMIC_RELEASE);
		}
	}
}

static uint64_t ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static unsigned charge(struct shared *shared, struct table *table, uint32_t row, uint64_t *seed,
		       uint64_t for_ms)
{
	uint64_t end = ms() + for_ms;
	unsigned count = 0;
	while (ms() < end)
		for (unsigned i = 0; i < 64; i++) {
			unsigned id = (unsigned)(rig_random(seed) % KEYS);
			struct table_key key = rig_key(table, 1, id);
			struct table_look look;
			struct algo_time t;
			table_time(table, &t);
			if (table_charge(table, &key, row, &t, 1, &look) == TABLE_CHARGED) {
				__atomic_add_fetch(&shared->charged[id], 1, __ATOMIC_RELEASE);
				count++;
			}
		}
	return count;
}

static uint32_t count_in(struct table *table, uint32_t row, unsigned id)
{
	struct table_key key = rig_key(table, 1, id);
	struct table_look look;
	struct algo_time t;
	table_time(table, &t);
	table_peek(table, &key, row, &t, 1, &look);
	return window_used(&look.numbers, look.state, t.now);
}

int main(void)
{
	struct shared *shared = rig_shared(sizeof *shared);
	struct algo_numbers numbers = rig_window(MANY, 24 * 3600 * RIG_SECOND, ALGO_FIRST_REQUEST);
	uint64_t seed = 7, now = 0;
	unsigned missing = 0, invented = 0, unreadable = 0, unsound = 0, total = 0;
	rig = rig_new(SIZE, 8);
	snprintf(path, sizeof path, "%s/snap", rig.folder);
	struct table *table = rig_open(&rig);
	uint32_t row = rig_row(table, 1, &numbers, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t works = shared->works;
		pid_t child = fork();
		if (child == 0)
			keep(shared, &now);
		uint64_t give_up = ms() + 20000;
		total += charge(shared, table, row, &seed, 5 + rig_random(&seed) % 40);
		while (__atomic_load_n(&shared->works, __ATOMIC_ACQUIRE) == works && ms() < give_up)
			total += charge(shared, table, row, &seed, 1 + rig_random(&seed) % 4);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		struct snapshot read;
		char why[256], other[160];
		unreadable += snapshot_read(path, &read, why, sizeof why) != WEIR_OK;
		snapshot_free(&read);
		snprintf(other, sizeof other, "%s/other%u", rig.folder, round);
		struct table_options options = {.path = other,
						.size = SIZE * (1 + round % 3),
						.create = true,
						.process_slots = 2,
						.snapshot = path};
		struct table *loaded;
		if (table_open(&options, &loaded, why, sizeof why) != WEIR_OK || why[0])
			rig_die(other, why);
		for (unsigned id = 0; id < KEYS; id++) {
			uint32_t has = count_in(loaded, row, id), least = shared->floor[shared->which][id];
			missing += has < least;
			invented += has > shared->charged[id];
		}
		unsound += (unsigned)census_check(loaded, rig_say, NULL);
		table_close(&loaded);
		unlink(other);
	}
	is_u64(unreadable, 0, "a keeper killed at random: what it kept can be read");
	is_u64(missing, 0, "  no key has more room than when its last work began");
	is_u64(invented, 0, "  and none owes what was never charged");
	is_u64(unsound, 0, "  what is loaded is sound");
	ok(shared->works >= ROUNDS && total > 1000, "  (it worked, and there was traffic)");
	note("%u charges, %u works, %u kills", total, shared->works, ROUNDS);
	table_close(&table);
	rig_free(&rig);
	return done_testing();
}
