/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_resize: a table is made larger and smaller while others decide in it: they go over by themselves, what was
 * charged on either side counts, and publishing goes on in the new one only. In real time. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "algo/bucket.h"
#include "algo/window.h"
#include "table/snapshot_carry.h"
#include "table/snapshot_file.h"
#include "tests/table/snapshot_rig.h"
#include "tests/tap.h"

#define SIZE (UINT64_C(256) << 10)
#define KEYS 300u
#define MANY 1000000u

static char why[256];

/* ---- quiet ---- */

static void check_quiet(void)
{
	static const uint64_t sizes[] = {2 * SIZE, SIZE / 2 * 3, SIZE, SIZE};
	struct farm farm = farm_new(SIZE);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct table_options options = {.path = farm.rig.path, .size = sizes[i]};
		struct table *old = farm.table, *bystander = rig_open(&farm.rig);
		struct algo_time t;
		table_time(bystander, &t);
		ok(!table_replaced(bystander, t.now), "a table");
		is_u64(table_resize(old, &options, 2000, why, sizeof why), WEIR_OK, "  is resized");
		ok(table_replaced(bystander, t.now), "  who decides in it is told at once");
		ok(table_replaced(old, t.now), "  and who did it");
		farm.rig.size = sizes[i];
		farm.table = rig_open(&farm.rig);
		is_u64(farm.table->pair_count, sizes[i] / 128, "  the new one has the size");
		is_u64(farm.table->process_slots, 4, "  and as many process slots");
		is_u64(table_generation(farm.table), 3, "  the policy is in force");
		is_u64(farm_differ(&farm, old, farm.table, &farm.t, FARM_KINDS), 0,
		       "  every key answers alike");
		is_u64(farm_broken(farm.table), 0, "  its invariants hold");
		is_str(stats_name(farm.table, ledger_row(farm.table, farm.row[LOG])->stat), "limit-7",
		       "  limits have their names");
		is_u64(ledger_lock(old, 100), WEIR_NOT_FOUND, "  nobody publishes in the old one");
		is_u64(table_resize(old, &options, 100, why, sizeof why), WEIR_NOT_FOUND,
		       "  or resizes it again");
		struct algo_numbers other = rig_token(30 + (uint32_t)i, FARM_HOUR, 30);
		is_u64(ledger_lock(farm.table, 100), WEIR_OK, "  but in the new one");
		uint32_t row;
		is_u64(ledger_row_for(farm.table, 900, 0, &other, 0, "new", 4, &row), WEIR_OK,
		       "  rows can be added");
		ledger_unlock(farm.table);
		ok(ledger_row(farm.table, row) && ledger_row(farm.table, row)->identity == 900,
		   "  and are found");
		table_close(&bystander);
		table_close(&old);
	}
	farm_free(&farm);
}

static void check_statistics(void)
{
	struct farm farm = farm_new(SIZE);
	struct table_options options = {.path = farm.rig.path, .size = 2 * SIZE};
	struct stats_limit sum;
	uint16_t stat = ledger_row(farm.table, farm.row[TOKEN])->stat;
	stats_add(&stats_limit(farm.table, stat)->allowed, 41);
	is_u64(table_resize(farm.table, &options, 1000, why, sizeof why), WEIR_OK, "resized");
	table_close(&farm.table);
	farm.table = rig_open(&farm.rig);
	stats_add(&stats_limit(farm.table, stat)->allowed, 1);
	stats_limit_sum(farm.table, stat, &sum);
	is_u64(sum.allowed, 42, "what was counted goes on");
	is_u64(sum.refused, 0, "  and nothing else");
	farm_free(&farm);
}

/* Two at once: one does it, the other is told, and finds it done. */
static void check_two(void)
{
	struct farm farm = farm_new(SIZE);
	struct table_options options = {.path = farm.rig.path, .size = 2 * SIZE};
	struct table *other = rig_open(&farm.rig);
	is_u64(ledger_lock(other, 100), WEIR_OK, "somebody else is at it");
	is_u64(table_resize(farm.table, &options, 10, why, sizeof why), WEIR_BUSY, "  so it is not resized");
	ok(strstr(why, ": somebody else is publishing in it or changing its size"), "  and why is said");
	ledger_unlock(other);
	is_u64(table_resize(other, &options, 1000, why, sizeof why), WEIR_OK, "  but by the other");
	is_u64(table_resize(farm.table, &options, 1000, why, sizeof why), WEIR_NOT_FOUND,
	       "  and then not once more");
	table_close(&other);
	farm_free(&farm);
}

/* ---- what an increase is ---- */

static void check_charged(void)
{
	struct algo_numbers n[FARM_KINDS];
	struct algo_time t = {.now = 5000 * RIG_SECOND}, later = {.now = 5900 * RIG_SECOND};
	farm_numbers(n);
	static const enum farm_kind kinds[] = {TOKEN, LEAKY, NGINX, FIRST, SLIDING};
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		const struct algo_numbers *numbers = &n[kinds[k]];
		struct algo_outcome out;
		uint64_t words[8] = {0};
		for (unsigned i = 1; i < 8; i++) {
			algo_step(numbers, words[i - 1], &t, 1, &out);
			words[i] = out.state;
		}
		unsigned wrong = 0;
		for (unsigned i = 0; i < 8; i++)
			for (unsigned j = 0; j < 8; j++)
				wrong += snapshot_charged(numbers, words[i], words[j], t.now) !=
					 (j > i ? j - i : 0);
		is_u64(wrong, 0, "as much as was charged, and nothing for what was given back");
		algo_step(numbers, words[3], &later, 2, &out);
		uint32_t units = snapshot_charged(numbers, words[3], out.state, t.now);
		/* a bucket: and at most what has drained meanwhile */
		uint32_t most = kinds[k] == LEAKY   ? 2 + 25
				: kinds[k] == NGINX ? 2 + 15
				: kinds[k] == TOKEN ? 2 + 3
						    : 2;
		if (!ok(units >= 2 && units <= most, "  a quarter of an hour later: no less"))
			note("%u of 2 to %u", units, most);
	}

	/* nginx rounds what is owed up before each: that is nobody's request */
	uint64_t before = 0, after = 0, looked_at = t.now;
	for (unsigned i = 0; i < 7; i++) {
		struct algo_outcome out;
		algo_step(&n[NGINX], after, &t, 1, &out);
		before = i == 1 ? out.state : before;
		after = out.state;
		t.now += 7000000 * (i + 1);
	}
	is_u64(snapshot_charged(&n[NGINX], before, after, looked_at), 5, "roundings are no requests");
}

/* ---- with traffic ---- */

struct shared {
	uint32_t charged[KEYS], over;
	uint32_t moved, stop, ready;
};

/* Decides as a door does: looks whether the table is still there, and goes over if not. */
static void decide(const struct rig *rig, struct shared *shared, uint32_t row, uint64_t seed)
{
	struct table *table = rig_open(rig);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		struct table_look look;
		struct algo_time t;
		unsigned id = (unsigned)(rig_random(&seed) % KEYS);
		table_time(table, &t);
		if (table_replaced(table, t.now)) {
			table_close(&table);
			table = rig_open(rig);
			__atomic_add_fetch(&shared->moved, 1, __ATOMIC_RELEASE);
			table_time(table, &t);
		}
		struct table_key key = rig_key(table, 1, id);
		if (table_charge(table, &key, row, &t, 1, &look) == TABLE_CHARGED)
			__atomic_add_fetch(&shared->charged[id], 1, __ATOMIC_RELEASE);
	}
	table_close(&table);
}

static void check_traffic(void)
{
	static const uint64_t sizes[] = {4 * SIZE, SIZE, 3 * SIZE, 2 * SIZE};
	struct rig rig = rig_new(SIZE, 8);
	struct shared *shared = rig_shared(sizeof *shared);
	struct algo_numbers numbers = rig_window(MANY, 24 * 3600 * RIG_SECOND, ALGO_FIRST_REQUEST);
	struct table *table = rig_open(&rig);
	uint32_t row = rig_row(table, 1, &numbers, 1);
	pid_t child[2];
	unsigned lost = 0, more = 0, failed = 0, unsound = 0;
	uint64_t total = 0;
	for (unsigned i = 0; i < 2; i++)
		if ((child[i] = fork()) == 0) {
			decide(&rig, shared, row, 77 + i);
			_exit(0);
		}
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < 2)
		usleep(1000);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct table_options options = {.path = rig.path, .size = sizes[i]};
		usleep(50000);
		failed += table_resize(table, &options, 20000, why, sizeof why) != WEIR_OK;
		table_close(&table);
		table = rig_open(&rig);
		unsound += (unsigned)census_check(table, rig_say, NULL);
	}
	for (unsigned wait = 0; wait < 10000 && __atomic_load_n(&shared->moved, __ATOMIC_ACQUIRE) < 2; wait++)
		usleep(1000);
	usleep(20000);
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < 2; i++) {
		int status;
		waitpid(child[i], &status, 0);
		failed += status != 0;
	}
	for (unsigned id = 0; id < KEYS; id++) {
		struct table_key key = rig_key(table, 1, id);
		struct table_look look;
		struct algo_time t;
		table_time(table, &t);
		table_peek(table, &key, row, &t, 1, &look);
		uint32_t has = window_used(&look.numbers, look.state, t.now);
		total += shared->charged[id];
		lost += has < shared->charged[id] ? shared->charged[id] - has : 0;
		more += has > shared->charged[id] ? has - shared->charged[id] : 0;
	}
	is_u64(failed, 0, "resized four times under traffic");
	is_u64(unsound, 0, "  always sound");
	ok(shared->moved >= 2, "  everybody went over");
	is_u64(lost, 0, "  no charge is lost");
	/* one that ran when the table was taken may be counted on both sides */
	ok(more <= 8, "  and next to none is counted twice");
	note("%llu charges, %u times over, %u counted twice", (unsigned long long)total, shared->moved, more);
	struct stat st;
	char text[160];
	snprintf(text, sizeof text, "%s.new", rig.path);
	ok(stat(text, &st) != 0, "  nothing lies about");
	table_close(&table);
	rig_free(&rig);
}

int main(void)
{
	check_quiet();
	check_statistics();
	check_two();
	check_charged();
	check_traffic();
	return done_testing();
}
