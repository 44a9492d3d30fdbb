/* SPDX-License-Identifier: BSD-2-Clause */
/* process: process slots, looking without one, the path, and the clock (T11, T12). */
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "table/atomic.h"
#include "table/handle.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

static void check_slots(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *a = rig_open(&rig), *b = rig_open(&rig), *c, *eye;
	char why[256];
	struct table_options options = {.path = rig.path};
	is_u64(table_open(&options, &c, why, sizeof why), WEIR_BUSY, "two process slots, three openers");
	ok(strstr(why, "all 2 process slots are taken") != NULL, "and the sentence says so");
	eye = rig_open_as(&rig, true);
	ok(eye != NULL, "looking needs none");
	ok(process_alive(eye, 0) && process_alive(eye, 1), "a reader sees who is alive");
	ok(process_alive(a, 0) && process_alive(a, 1), "and so do they themselves");
	table_close(&a);
	ok(!process_alive(eye, 0) && process_alive(eye, 1), "and who is not");
	a = rig_open(&rig);
	ok(a && a->process_index == 0, "a slot that was given back is taken again");
	table_close(&a);

	pid_t child = fork();
	if (child == 0) {
		c = rig_open(&rig);
		for (;;)
			pause();
	}
	while (!process_alive(eye, 0))
		sched_yield();
	is_u64(table_open(&options, &c, why, sizeof why), WEIR_BUSY, "a child holds a slot of its own");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	a = rig_open(&rig);
	ok(a && a->process_index == 0, "and loses it when it is killed");
	is_u64(a->process->owners, 4, "its third and fourth owners were the child and this one");
	table_close(&a);
	table_close(&b);
	table_close(&eye);
	table_close(&eye);
	ok(eye == NULL, "closing twice is harmless");
	rig_free(&rig);
}

static void check_read_only(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig), *eye = rig_open_as(&rig, true);
	struct algo_numbers numbers = rig_token(1, RIG_SECOND, 1);
	uint32_t row = rig_row(table, 5, &numbers, 1);
	struct table_key key = rig_key(eye, 1, 1);
	struct algo_time t;
	struct table_look look;
	table_time(table, &t);
	is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_CHARGED, "a table in use");
	table_peek(eye, &key, row, &t, 1, &look);
	ok(!look.allowed && memcmp(&look.numbers, &numbers, sizeof numbers) == 0,
	   "a reader sees what others decide");
	is_u64(table_charge(eye, &key, row, &t, 1, &look), TABLE_NO_ROOM, "a reader cannot charge");
	table_punish(eye, &key, row, &t, 1, &look);
	table_uncharge(eye, &key, row, &t, t.now, 1);
	ok(!table_forget(eye, &key) && table_forget_limit(eye, 5) == 0, "nor forget");
	table_set_generation(eye, 9);
	is_u64(table_generation(table), 0, "nor publish");
	is_u64(ledger_lock(eye, 0), WEIR_READ_ONLY, "nor write the ledger");
	table_peek(table, &key, row, &t, 1, &look);
	ok(!look.allowed, "the counter is as it was");

	table_set_generation(table, 7);
	is_u64(table_generation(eye), 7, "everyone sees the generation");
	table_set_generation(table, 6);
	is_u64(table_generation(eye), 7, "it never goes back");
	table_close(&eye);

	ok(!table_replaced(table, t.now), "the file at the path is this one");
	unlink(rig.path);
	ok(!table_replaced(table, t.now + RIG_SECOND - 1), "looked at once a second");
	ok(table_replaced(table, t.now + RIG_SECOND), "removed");
	struct table *other = rig_open(&rig);
	ok(table_replaced(table, t.now + 2 * RIG_SECOND), "replaced");
	ok(!table_replaced(other, t.now), "the new one is not");
	table_close(&table);
	table_close(&other);
	rig_free(&rig);
}

static uint64_t stamp_of(struct table *table)
{
	return atomic_get(&table->header->clock.stamp);
}

static void check_clock(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig), *other = rig_open(&rig);
	struct algo_time t, before = {0}, later;
	struct timespec wall, after;
	table_time(table, &t);
	ok(t.now >= UINT64_C(1) << 40 && t.now < (UINT64_C(1) << 40) + 60 * RIG_SECOND,
	   "time begins at 2^40 ns");
	unsigned back = 0;
	for (unsigned i = 0; i < 100000; i++) {
		table_time(i & 1 ? table : other, &t);
		back += t.now < before.now;
		before = t;
	}
	is_u64(back, 0, "two handles see one clock that never steps back");
	clock_gettime(CLOCK_REALTIME, &wall);
	table_time(table, &t);
	clock_gettime(CLOCK_REALTIME, &after);
	int64_t at = ((int64_t)t.now + t.wall) / (int64_t)RIG_SECOND;
	ok(at >= wall.tv_sec - 1 && at <= after.tv_sec + 1, "the wall clock is the wall clock");

	/* A reboot: another boot id, and CLOCK_BOOTTIME far behind what it was. */
	struct layout_clock *clock = &table->header->clock;
	uint64_t stamp = t.now + 1000 * RIG_SECOND;
	atomic_set(&clock->boot[1], ~clock->boot[1]);
	atomic_set(&clock->stamp, stamp);
	table_close(&other);
	table_close(&table);
	other = rig_open_as(&rig, true);
	table_time(other, &later);
	ok(later.now >= stamp + 2 * RIG_SECOND && later.now < stamp + 4 * RIG_SECOND,
	   "after a reboot a reader sees time go on from the stamp");
	is_u64(stamp_of(other), stamp, "and writes nothing");
	table_close(&other);
	table = rig_open(&rig);
	table_time(table, &t);
	ok(t.now >= stamp + 2 * RIG_SECOND && t.now < stamp + 4 * RIG_SECOND, "time goes on from the stamp");
	ok(stamp_of(table) > stamp && stamp_of(table) <= t.now, "and is stamped");
	other = rig_open(&rig);
	table_time(other, &later);
	ok(later.now >= t.now && later.now < t.now + 2 * RIG_SECOND, "the next opener of the boot shares it");
	table_close(&other);

	atomic_set((uint64_t *)&table->header->clock.offset, (uint64_t)INT64_MIN);
	table_close(&table);
	is_u64(rig_try_open(&rig, false, &table), WEIR_DAMAGED, "a clock that cannot be is refused");
	rig_free(&rig);
}

int main(void)
{
	check_slots();
	check_read_only();
	check_clock();
	return done_testing();
}
