/* SPDX-License-Identifier: BSD-2-Clause */
/* retire: slow clients held the process slots of servers that had long been reloaded, until new ones found none.
 * A handle that decides no more gives its slot back, and its owner goes on looking. */
#include "table/atomic.h"
#include "table/handle.h"
#include "tests/table/scene.h"
#include "tests/tap.h"

static const struct stats_event EVENT = {.at = 1, .kind = STATS_EVENT_REFUSED, .length = 1, .text = "a"};

/* Everything a request does that began before. */
static void look_on(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t)
{
	struct table_look look;
	struct algo_time now;
	is_u64(table_charge(table, key, row, t, 1, &look), TABLE_NO_ROOM, "a retired handle cannot charge");
	table_punish(table, key, row, t, 1, &look);
	table_uncharge(table, key, row, t, t->now, 1);
	ok(!table_forget(table, key) && table_forget_limit(table, 5) == 0, "nor forget");
	is_u64(ledger_lock(table, 0), WEIR_READ_ONLY, "nor write the ledger");
	table_set_generation(table, 99);
	table_hold_generation(table, 1);
	stats_add(&stats_limit(table, 3)->allowed, 1000);
	stats_add(&stats_process(table)->decisions, 1000);
	stats_event(table, &EVENT);
	table_time(table, &now);
	ok(now.now >= t->now, "it has the time");
	table_peek(table, key, row, t, 1, &look);
	ok(!look.allowed, "and sees what is there");
	is_u64(table_generation(table), 7, "and what is published");
}

static void check_retire(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *old = rig_open(&rig), *eye = rig_open_as(&rig, true), *next;
	struct algo_numbers numbers = rig_token(2, RIG_SECOND * 3600, 2);
	uint32_t row = rig_row(old, 5, &numbers, 1);
	struct table_key key = rig_key(old, 1, 1);
	uint64_t digest = table_key_digest(old, "key", 3);
	struct algo_time t;
	struct table_look look;
	struct stats_limit sum;
	struct stats_process process;
	struct stats_event event;

	table_set_generation(old, 7);
	table_hold_generation(old, 7);
	table_time(old, &t);
	is_u64(table_charge(old, &key, row, &t, 2, &look), TABLE_CHARGED, "an old owner decides");
	stats_add(&stats_limit(old, 3)->allowed, 5);
	uint64_t nonce = old->process->nonce;
	ok(nonce > 0, "and has made a claim");
	is_u64(rig_try_open(&rig, false, &next), WEIR_BUSY, "it has the only slot");

	is_u64(ledger_lock(old, 0), WEIR_OK, "even in the middle of publishing");
	table_retire(old);
	ok(!process_alive(eye, 0), "it gives the slot back");
	is_u64(atomic_get(&eye->processes[0].held), 0, "and holds no generation");
	next = rig_open(&rig);
	is_u64(next->process_index, 0, "another has the slot");
	is_u64(ledger_lock(next, 0), WEIR_OK, "and the lock of the ledger");
	ledger_unlock(next);

	look_on(old, &key, row, &t);
	is_u64(atomic_get(&eye->processes[0].held), 7, "I8: the generation is held by the new owner");
	is_u64(next->process->nonce, nonce, "I4: the counter of claims is where it was");
	stats_limit_sum(eye, 3, &sum);
	is_u64(sum.allowed, 5, "I10: what a retired handle counts, it counts for itself");
	stats_process_sum(eye, &process);
	is_u64(process.decisions, 0, "I10: of the process too");
	is_u64(stats_events(eye, &event, 1), 0, "I10: and events");
	ok(table_key_digest(old, "key", 3) == digest, "the key's digest is what it was");

	struct table_key other = rig_key(next, 2, 1);
	is_u64(table_charge(next, &other, row, &t, 1, &look), TABLE_CHARGED, "the new owner decides");
	is_u64(next->process->nonce, nonce + 1, "I4: with the claim after the last");
	is_u64(table_charge(next, &key, row, &t, 1, &look), TABLE_REFUSED, "what was charged is charged");
	stats_add(&stats_limit(next, 3)->allowed, 1);
	stats_limit_sum(eye, 3, &sum);
	is_u64(sum.allowed, 6, "the statistics go on");

	table_retire(old);
	ok(process_alive(eye, 0), "retiring twice takes nothing from the new owner");
	table_close(&old);
	ok(process_alive(eye, 0), "nor does closing");
	is_u64(census_check(eye, NULL, NULL), 0, "the table is sound");
	table_retire(eye);
	is_u64(table_resume(eye), WEIR_READ_ONLY, "a reader has nothing to give back");
	table_close(&next);
	table_close(&eye);
	rig_free(&rig);
}

/* A last request comes after all. */
static void check_resume(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig), *other = rig_open(&rig);
	struct algo_numbers numbers = rig_token(2, RIG_SECOND * 3600, 2);
	uint32_t row = rig_row(table, 5, &numbers, 1);
	struct table_key key = rig_key(table, 1, 1);
	struct algo_time t;
	struct table_look look;
	struct stats_limit sum;

	table_set_generation(table, 7);
	table_time(table, &t);
	is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_CHARGED, "it decides");
	is_u64(table_resume(table), WEIR_OK, "one that has not retired has nothing to take");
	is_u64(table->process_index, 0, "and keeps its slot");
	table_retire(table);
	struct table *third = rig_open(&rig);
	is_u64(table_resume(table), WEIR_BUSY, "retired, and no slot is free");
	is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_NO_ROOM, "it goes on looking only");
	table_close(&other);
	table_set_generation(third, 8);
	is_u64(table_resume(table), WEIR_OK, "one is free again");
	is_u64(table->process_index, 1, "another than before");
	is_u64(atomic_get(&table->process->held), 8, "I8: it holds what is published now");
	ok(atomic_get(&table->process->opened_at) >= t.now, "since now");
	is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_CHARGED, "it decides");
	is_u64(table_charge(third, &key, row, &t, 1, &look), TABLE_REFUSED, "for everyone");
	stats_add(&stats_limit(table, 3)->allowed, 1);
	stats_limit_sum(third, 3, &sum);
	is_u64(sum.allowed, 1, "and counts for everyone");
	for (unsigned i = 0; i < 1000; i++) {
		table_retire(table);
		if (table_resume(table) != WEIR_OK)
			rig_die("resume", "no slot");
	}
	ok(process_alive(third, 1), "a thousand times");
	is_u64(census_check(third, NULL, NULL), 0, "the table is sound");
	table_close(&table);
	ok(!process_alive(third, 1), "and is gone at the end");
	table_close(&third);
	rig_free(&rig);
}

/* The first of them will retire; generation 7 is published. */
static void scene_published(struct scene *scene)
{
	scene_begin(scene);
	table_set_generation(scene->old, 7);
	table_hold_generation(scene->old, 7);
	table_hold_generation(scene->other, 7);
}

static void scene_end(struct scene *scene)
{
	is_u64(census_check(scene->other, NULL, NULL), 0, "the table is sound");
	table_close(&scene->other);
	table_close(&scene->old);
	rig_free(&scene->rig);
}

static uint64_t flying(struct scene *scene, uint64_t reserved)
{
	table_peek_held(scene->other, reserved ? &scene->key : &scene->door,
			reserved ? scene->row : scene->places, &scene->t, 1, &scene->look);
	return scene->look.held;
}

static enum table_charge take(struct scene *scene, bool door, uint32_t cost, enum table_how how,
			      struct table_ticket *out)
{
	return table_take(scene->old, door ? &scene->door : &scene->key, door ? scene->places : scene->row,
			  &scene->t, cost, how, out, &scene->look);
}

/* Whoever waited for a place, and looked again after its worker had been told to go, was told that there was no room,
 * and so let through without being counted. What is in flight keeps the whole handle, not only its slot. */
static void check_tickets(void)
{
	struct scene scene;
	struct table_ticket reserved, serving, third, charged, later;
	struct stats_process process;
	struct table *next;
	scene_published(&scene);
	struct table *old = scene.old, *other = scene.other;

	take(&scene, false, 2, TABLE_RESERVE, &reserved);
	take(&scene, true, 1, TABLE_RESERVE, &serving);
	take(&scene, false, 1, TABLE_CHARGE, &charged);
	is_u64(table_held(old), 2, "one reserved, one in flight; what is charged holds nothing");
	table_set_generation(other, 8);
	table_hold_generation(other, 8);
	is_u64(ledger_lock(old, 0), WEIR_OK, "even in the middle of publishing");
	table_retire(old);
	ok(process_alive(other, 0), "a handle with tickets retires: its slot stays");
	is_u64(ledger_lock(other, 0), WEIR_OK, "but not the lock of the ledger");
	ledger_unlock(other);
	is_u64(rig_try_open(&scene.rig, false, &next), WEIR_BUSY, "nobody else has the slot");
	is_u64(atomic_get(&other->processes[0].held), 7, "I8: it decides by the old policy, and holds it");

	is_u64(take(&scene, true, 1, TABLE_RESERVE, &third), TABLE_CHARGED, "who waited finds the place");
	is_u64(flying(&scene, false), 2, "and is in flight, for everybody");
	is_u64(take(&scene, true, 1, TABLE_RESERVE, &(struct table_ticket){0}), TABLE_REFUSED,
	       "I13: two are two: no third");
	is_u64(table_charge(old, &scene.key, scene.row, &scene.t, 1, &scene.look), TABLE_CHARGED,
	       "it charges");
	stats_add(&stats_process(old)->decisions, 3);
	stats_process_sum(other, &process);
	is_u64(process.decisions, 3, "and counts for everyone");
	ok(table_settle(old, &charged, &scene.t, 2), "what was only charged can cost more");
	ok(table_settle(old, &reserved, &scene.t, 1), "it settles what was reserved");
	is_u64(flying(&scene, true), 0, "nothing is reserved then");
	is_u64(table_charge(other, &scene.key, scene.row, &scene.t, 2, &scene.look), TABLE_REFUSED,
	       "four are charged");
	is_u64(take(&scene, false, 1, TABLE_CHARGE, &later), TABLE_CHARGED, "of five");

	ok(table_give_back(old, &third, &scene.t) && process_alive(other, 0), "the first of two ends");
	table_retire(old);
	ok(process_alive(other, 0), "retiring twice changes nothing");
	ok(table_settle(old, &serving, &scene.t, 1), "the last one ends");
	ok(!old->process && !process_alive(other, 0), "and the slot is free, by itself");
	is_u64(atomic_get(&other->processes[0].held), 0, "I8: with what it held");
	ok(!table_settle(old, &serving, &scene.t, 1), "once");
	is_u64(take(&scene, true, 1, TABLE_RESERVE, &third), TABLE_NO_ROOM,
	       "only now it takes nothing any more");
	stats_add(&stats_process(old)->decisions, 1000);
	stats_process_sum(other, &process);
	is_u64(process.decisions, 3, "I10: and counts for itself");
	ok(table_give_back(old, &later, &scene.t), "what was only charged can end later");
	is_u64(table_charge(other, &scene.key, scene.row, &scene.t, 1, &scene.look), TABLE_REFUSED,
	       "and stays charged: a retired handle writes nothing");
	next = rig_open(&scene.rig);
	is_u64(next->process_index, 0, "another has the slot");
	is_u64(flying(&scene, false), 0, "and nothing is in flight");
	is_u64(table_resume(old), WEIR_BUSY, "the old one finds none");
	table_close(&next);
	scene_end(&scene);
}

/* Back again before the last ticket has ended, and closed before. */
static void check_back(void)
{
	struct scene scene;
	struct table_ticket first, second;
	scene_published(&scene);
	struct table *old = scene.old, *other = scene.other;

	take(&scene, true, 1, TABLE_RESERVE, &first);
	table_retire(old);
	is_u64(table_resume(old), WEIR_OK, "it comes back before it has gone");
	ok(old->process_index == 0 && table_held(old) == 1,
	   "to the slot that it never left, with its ticket");
	ok(table_give_back(old, &first, &scene.t) && process_alive(other, 0),
	   "the ticket ends, and the slot stays");
	is_u64(take(&scene, true, 1, TABLE_RESERVE, &second), TABLE_CHARGED, "it takes again");

	/* A reservation nobody settles. */
	take(&scene, false, 1, TABLE_RESERVE, &first);
	table_retire(old);
	table_give_back(old, &second, &scene.t);
	scene.t.now += TABLE_RESERVE_MAX_NS + 1;
	ok(process_alive(other, 0), "a forgotten reservation keeps the slot");
	table_overdue(old, &scene.t);
	ok(!process_alive(other, 0) && !first.live, "until it is overdue");
	is_u64(table_resume(old), WEIR_OK, "back again");

	take(&scene, true, 2, TABLE_RESERVE, &first);
	table_retire(old);
	table_close(&scene.old);
	ok(!first.live && !process_alive(other, 0), "closing ends what is left");
	scene.t.now += RIG_SECOND;
	is_u64(flying(&scene, false), 0, "within a second for everybody");
	scene_end(&scene);
}

/* A response that pays as it goes has no ticket, and is not done. */
static void check_stay(void)
{
	struct scene scene;
	struct table_ticket ticket;
	scene_published(&scene);
	struct table *old = scene.old, *other = scene.other;

	table_stay(old);
	table_stay(old);
	table_retire(old);
	is_u64(table_charge(old, &scene.key, scene.row, &scene.t, 1, &scene.look), TABLE_CHARGED,
	       "who stays charges as before");
	table_unstay(old);
	is_u64(table_charge(old, &scene.key, scene.row, &scene.t, 1, &scene.look), TABLE_CHARGED,
	       "as long as one does");
	take(&scene, true, 1, TABLE_RESERVE, &ticket);
	table_give_back(old, &ticket, &scene.t);
	ok(process_alive(other, 0), "a ticket that ends meanwhile does not end the stay");
	take(&scene, true, 1, TABLE_RESERVE, &ticket);
	table_unstay(old);
	ok(process_alive(other, 0), "nor the stay the ticket");
	table_give_back(old, &ticket, &scene.t);
	ok(!process_alive(other, 0), "the last of both gives the slot back");
	is_u64(table_charge(old, &scene.key, scene.row, &scene.t, 1, &scene.look), TABLE_NO_ROOM,
	       "then it is over");

	table_stay(old);
	ok(!old->process, "staying takes no slot");
	is_u64(table_resume(old), WEIR_OK, "coming back does");
	table_retire(old);
	ok(process_alive(other, 0), "and the stay counts there");
	table_unstay(old);
	ok(!process_alive(other, 0), "until it ends");
	is_u64(table_resume(old), WEIR_OK, "back");
	table_stay(old);
	table_unstay(old);
	ok(process_alive(other, 0), "who does not retire keeps its slot when a stay ends");
	scene_end(&scene);
}

int main(void)
{
	check_retire();
	check_resume();
	check_tickets();
	check_back();
	check_stay();
	return done_testing();
}
