/* SPDX-License-Identifier: BSD-2-Clause */
/* yield: downloads under a limit of requests in flight held the process slots of workers that reloads had left
 * behind, until new ones found none and decided nothing. */
#include <sys/wait.h>
#include <time.h>

#include "table/atomic.h"
#include "table/handle.h"
#include "tests/table/race.h"
#include "tests/table/scene.h"

static void end(struct scene *scene)
{
	is_u64(census_check(scene->other, NULL, NULL), 0, "the table is sound");
	table_close(&scene->other);
	table_close(&scene->old);
	rig_free(&scene->rig);
}

static enum table_charge take(struct scene *scene, struct table *table, bool door, uint32_t cost,
			      struct table_ticket *out)
{
	return table_take(table, door ? &scene->door : &scene->key, door ? scene->places : scene->row,
			  &scene->t, cost, TABLE_RESERVE, out, &scene->look);
}

static void want(struct scene *scene, uint64_t since, uint64_t at) /* ns ago */
{
	struct algo_time now;
	table_time(scene->old, &now);
	now.now += 100 * RIG_SECOND; /* a young table has no past */
	scene->old->clock.offset += (int64_t)(100 * RIG_SECOND);
	scene->other->clock.offset += (int64_t)(100 * RIG_SECOND);
	atomic_set(&scene->old->header->published.wanted_since, now.now - since);
	atomic_set(&scene->old->header->published.wanted_at, now.now - at);
}

static void check_wanted(void)
{
	struct scene scene;
	struct table *next;
	scene_begin(&scene);
	struct layout_published *published = &scene.old->header->published;
	ok(!table_wanted(scene.old) && !table_wanted(scene.other), "nobody wants a slot");
	is_u64(rig_try_open(&scene.rig, false, &next), WEIR_BUSY, "there is none");
	ok(atomic_get(&published->wanted_at) >= scene.t.now, "and who finds none says so");
	is_u64(published->wanted_since, published->wanted_at, "for the first time");
	ok(table_wanted(scene.old) && !table_wanted(scene.other), "the older half goes first");
	struct table *eye = rig_open_as(&scene.rig, true);
	ok(!table_wanted(eye) && !table_decides(eye), "a reader has none to give");
	table_close(&eye);

	want(&scene, 499000000, 0);
	ok(table_wanted(scene.old) && !table_wanted(scene.other), "for half a second");
	want(&scene, 2 * RIG_SECOND, RIG_SECOND);
	ok(table_wanted(scene.old) && table_wanted(scene.other), "then all do");
	want(&scene, 4 * RIG_SECOND, 2 * RIG_SECOND + 1);
	ok(!table_wanted(scene.old) && !table_wanted(scene.other),
	   "what was wanted two seconds ago is forgotten");
	want(&scene, RIG_SECOND, 0);
	atomic_set(&published->wanted_at, UINT64_MAX);
	ok(!table_wanted(scene.old) && !table_wanted(scene.other), "and a forged time is none");

	want(&scene, 3 * RIG_SECOND, RIG_SECOND);
	uint64_t since = published->wanted_since, at = published->wanted_at;
	yield_want(scene.other);
	ok(published->wanted_since == since && published->wanted_at > at,
	   "said again it is wanted since then");
	at = published->wanted_at;
	yield_want(scene.other);
	is_u64(published->wanted_at, at, "not with each trial");
	want(&scene, 7 * RIG_SECOND, 5 * RIG_SECOND + 1);
	yield_want(scene.other);
	is_u64(published->wanted_since, published->wanted_at, "after five seconds it begins anew");
	end(&scene);
}

static void check_yield(void)
{
	struct scene scene;
	struct table_ticket reserved, postponed, serving, more;
	struct table *next;
	uint32_t dropped = 99;
	scene_begin(&scene);
	struct table *old = scene.old, *other = scene.other;

	take(&scene, old, false, 2, &reserved);
	take(&scene, old, false, 1, &postponed);
	table_postpone(old, &postponed);
	take(&scene, old, true, 2, &serving);
	table_stay(old);
	ok(!table_yield(old, &dropped) && table_decides(old) && dropped == 0,
	   "who is not to retire gives nothing up");
	table_retire(old);
	ok(table_decides(old), "who holds something goes on");
	is_u64(take(&scene, other, true, 1, &more), TABLE_REFUSED, "and it counts");
	ok(table_yield(old, &dropped), "until it yields");
	is_u64(dropped, 1, "one in flight is not counted any more");
	ok(!table_decides(old) && !process_alive(other, 0), "the slot is free");
	ok(!reserved.live && !postponed.live && !serving.live && table_held(old) == 0, "no ticket is live");
	table_peek(other, &scene.key, scene.row, &scene.t, 3, &scene.look);
	ok(!scene.look.allowed, "what was reserved is charged: three of five");
	scene.t.now += 2 * RIG_SECOND;
	table_peek_held(other, &scene.key, scene.row, &scene.t, 2, &scene.look);
	ok(scene.look.allowed, "and not held besides");
	ok(!table_settle(old, &reserved, &scene.t, 0) && !table_settle(old, &postponed, &scene.t, 0) &&
		   !table_give_back(old, &serving, &scene.t),
	   "settled or given back later they do nothing");
	ok(!table_yield(old, &dropped) && dropped == 0, "it yields once");
	is_u64(take(&scene, other, true, 2, &more), TABLE_CHARGED, "within two seconds its places are free");

	next = rig_open(&scene.rig);
	is_u64(next->process_index, 0, "another has the slot");
	table_unstay(old);
	table_close(&scene.old);
	ok(process_alive(other, 0), "and keeps it, whatever ends");
	is_u64(take(&scene, next, true, 1, &serving), TABLE_REFUSED, "I13: two are two");
	table_give_back(other, &more, &scene.t);
	is_u64(take(&scene, next, true, 2, &serving), TABLE_CHARGED,
	       "what the slot's last owner held is not its");
	is_u64(take(&scene, other, true, 1, &more), TABLE_REFUSED, "I13: nor are two more");

	/* Who yielded while somebody waits comes back, and stays until he has been decided. */
	table_stay(next);
	table_retire(next);
	ok(table_yield(next, &dropped) && dropped == 1, "again");
	is_u64(table_resume(next), WEIR_OK, "it comes back");
	scene.t.now += 2 * RIG_SECOND;
	is_u64(take(&scene, next, true, 2, &reserved), TABLE_CHARGED, "and finds the places it gave up");
	ok(!table_give_back(next, &serving, &scene.t), "the old ticket gives nothing back");
	is_u64(take(&scene, other, true, 1, &more), TABLE_REFUSED, "of the new one");
	table_retire(next);
	table_give_back(next, &reserved, &scene.t);
	ok(table_decides(next), "the stay holds again");
	table_unstay(next);
	ok(!table_decides(next), "to its end");
	table_close(&next);
	end(&scene);
}

static void check_wait(void)
{
	struct scene scene;
	struct table_ticket serving;
	struct table *next;
	uint32_t dropped;
	scene_begin(&scene);
	struct table_options options = {.path = scene.rig.path, .slot_wait_ms = 100};
	struct timespec before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	is_u64(table_open(&options, &next, NULL, 0), WEIR_BUSY, "there is none for a while");
	clock_gettime(CLOCK_MONOTONIC, &after);
	ok((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 100,
	   "so long it has been waited for");

	options.slot_wait_ms = 60000;
	table_close(&scene.old);
	atomic_set(&scene.other->header->published.wanted_at, 0);
	pid_t child = fork();
	if (child == 0) { /* one that leaves, and looks */
		table_close(&scene.other);
		struct table *leaving = rig_open(&scene.rig);
		scene.other = rig_open(&scene.rig);
		take(&scene, leaving, true, 2, &serving);
		table_retire(leaving);
		while (!table_wanted(leaving))
			usleep(1000);
		_exit(table_yield(leaving, &dropped) && dropped == 1 ? pause() : 9);
	}
	table_close(&scene.other);
	while (table_slots_taken(scene.other = rig_open_as(&scene.rig, true), &dropped) < 2)
		table_close(&scene.other);
	is_u64(table_open(&options, &next, NULL, 0), WEIR_OK, "who waits gets the slot of one who leaves");
	table_close(&next);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	end(&scene);
}

/* Four reach for two slots and for one place; whoever has a slot retires and, holding the place or not, yields. */
static void body(struct race *race, unsigned worker, struct table *table)
{
	const struct table_options options = {.path = race->rig.path, .slot_wait_ms = 60000};
	uint64_t seed = worker;
	for (unsigned i = 0; i < race->rounds; i++) {
		struct table_ticket ticket;
		struct table_look look;
		uint32_t dropped;
		if (table_open(&options, &table, NULL, 0) != WEIR_OK) {
			atomic_fetch_add(&race->no_room, 1);
			continue;
		}
		for (unsigned k = 0; k < 50; k++) {
			uint32_t index = table->process_index;
			if (atomic_fetch_add(&race->count[index], 1) != 0)
				atomic_fetch_add(&race->wrong, 1);
			struct table_key key = rig_key(table, 1, 1);
			struct algo_time t = race_tick(race);
			bool in = table_take(table, &key, race->old_row, &t, 1, TABLE_RESERVE, &ticket,
					     &look) == TABLE_CHARGED;
			if (in && atomic_fetch_add(&race->running, 1) != 0)
				atomic_fetch_add(&race->wrong, 1);
			atomic_fetch_add(&race->admitted, in);
			table_stay(table);
			table_retire(table);
			for (uint64_t spin = rig_random(&seed) % 300; spin > 0; spin--)
				atomic_load(&race->running);
			if (in)
				atomic_fetch_sub(&race->running, 1);
			atomic_fetch_sub(&race->count[index], 1);
			if (!table_yield(table, &dropped) || dropped != in ||
			    table_give_back(table, &ticket, &t))
				atomic_fetch_add(&race->wrong, 1);
			table_unstay(table);
			while (table_resume(table) != WEIR_OK)
				sched_yield();
		}
		table_close(&table);
	}
}

static void race_run(struct race *race, race_body *each, unsigned workers)
{
	pid_t child[RACE_WORKERS];
	for (unsigned i = 0; i < workers; i++)
		if ((child[i] = fork()) == 0) {
			race_spread(i);
			each(race, i, NULL);
			_exit(0);
		}
	for (unsigned i = 0; i < workers; i++) {
		int status;
		if (waitpid(child[i], &status, 0) != child[i] || status != 0)
			rig_die("race", "a worker died");
	}
}

static void check_race(void)
{
	struct race *race = rig_shared(sizeof *race);
	struct algo_numbers flight;
	algo_concurrent(1, &flight);
	race->rig = rig_new(TABLE_SIZE_MIN, 2);
	atomic_store(&race->clock, RACE_BASE);
	race->step = 2 * RIG_SECOND; /* who was alive is asked for again each time */
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, &flight, 1);
	table_close(&table);
	race->rounds = RACE_ROUNDS(60);
	race_run(race, body, RACE_WORKERS);
	is_u64(atomic_load(&race->wrong), 0,
	       "a slot never has two owners, a place never two holders among the living");
	is_u64(atomic_load(&race->no_room), 0, "each of four found one of two slots, again and again");
	ok(atomic_load(&race->admitted) > race->rounds, "places that were given up were had again");
	race_sound(race, "yield");
	race_free(race);
}

int main(void)
{
	check_wanted();
	check_yield();
	check_wait();
	check_race();
	return done_testing();
}
