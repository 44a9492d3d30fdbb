/* SPDX-License-Identifier: BSD-2-Clause */
/* retire: slow clients held the process slots of servers that had long been reloaded, until new ones found none.
 * A handle that decides no more gives its slot back, and its owner goes on looking. */
#include "table/atomic.h"
#include "table/handle.h"
#include "tests/table/rig.h"
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

/* What is in flight or reserved ends as it would have, however long that takes; the slot goes with the last of it. */
static void check_tickets(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *old = rig_open(&rig), *other = rig_open(&rig), *next;
	struct algo_numbers token = rig_token(5, RIG_SECOND * 3600, 5), flight;
	if (!algo_concurrent(2, &flight))
		rig_die("algo_concurrent", "refused");
	uint32_t row = rig_row(old, 5, &token, 1), places = rig_row(old, 6, &flight, 1);
	struct table_key key = rig_key(old, 1, 1), door = rig_key(old, 2, 1);
	struct table_ticket reserved, serving, charged, none;
	struct algo_time t;
	struct table_look look;
	struct stats_process process;

	table_set_generation(old, 7);
	table_time(old, &t);
	table_take(old, &key, row, &t, 2, TABLE_RESERVE, &reserved, &look);
	table_take(old, &door, places, &t, 1, TABLE_RESERVE, &serving, &look);
	table_take(old, &key, row, &t, 1, TABLE_CHARGE, &charged, &look);
	is_u64(table_held(old), 2, "one reserved, one in flight; what is charged holds nothing");
	table_set_generation(other, 8);
	table_hold_generation(other, 8);
	table_retire(old);
	ok(process_alive(other, 0), "a handle with tickets retires: its slot stays");
	is_u64(rig_try_open(&rig, false, &next), WEIR_BUSY, "nobody else has it");
	is_u64(atomic_get(&other->processes[0].held), 8, "I8: it keeps no older policy");
	is_u64(table_take(old, &key, row, &t, 1, TABLE_RESERVE, &none, &look), TABLE_NO_ROOM,
	       "it takes no new");
	ok(!none.live, "none");
	is_u64(table_take(old, &key, row, &t, 1, TABLE_CHARGE, &none, &look), TABLE_NO_ROOM, "of any kind");
	is_u64(table_charge(old, &key, row, &t, 1, &look), TABLE_NO_ROOM, "and cannot charge");
	ok(!table_forget(old, &key), "nor forget");
	stats_add(&stats_process(old)->decisions, 1000);
	stats_process_sum(other, &process);
	is_u64(process.decisions, 0, "I10: it counts for itself");
	table_peek_held(other, &key, row, &t, 2, &look);
	ok(look.held == 2 && look.allowed, "what it holds is held");
	table_peek_held(other, &key, row, &t, 3, &look);
	ok(!look.allowed, "and what it charged is charged");
	ok(table_settle(old, &reserved, &t, 1), "it settles what was reserved");
	table_peek_held(other, &key, row, &t, 3, &look);
	ok(look.held == 0 && look.allowed, "at its actual cost");
	table_peek_held(other, &key, row, &t, 4, &look);
	ok(!look.allowed, "which is charged");
	ok(process_alive(other, 0) && old->process, "one is in flight still");

	/* Back again before it has ended. */
	is_u64(table_resume(old), WEIR_OK, "it comes back");
	ok(old->process_index == 0 && table_held(old) == 1,
	   "to the slot that it never left, with its ticket");
	is_u64(table_take(old, &door, places, &t, 1, TABLE_RESERVE, &reserved, &look), TABLE_CHARGED,
	       "and takes again");
	is_u64(look.held, 2, "beside what it holds");
	stats_add(&stats_process(old)->decisions, 1);
	stats_process_sum(other, &process);
	is_u64(process.decisions, 1, "and counts for everyone");
	table_retire(old);
	ok(table_give_back(old, &reserved, &t) && process_alive(other, 0),
	   "it retires: the first of two ends");
	table_retire(old);
	ok(process_alive(other, 0), "retiring twice changes nothing");
	ok(table_settle(old, &serving, &t, 1), "the last one ends");
	ok(!old->process && !process_alive(other, 0), "and the slot is free, by itself");
	ok(!table_settle(old, &serving, &t, 1), "once");
	ok(table_give_back(old, &charged, &t), "what was only charged can end later");
	table_peek_held(other, &key, row, &t, 4, &look);
	ok(!look.allowed, "and stays charged: a retired handle writes nothing");
	next = rig_open(&rig);
	is_u64(next->process_index, 0, "another has the slot");
	table_peek_held(next, &door, places, &t, 2, &look);
	ok(look.held == 0 && look.allowed, "and nothing is in flight");
	is_u64(table_resume(old), WEIR_BUSY, "the old one finds none");
	is_u64(census_check(next, NULL, NULL), 0, "the table is sound");

	/* Closed with tickets while it retires. */
	table_take(next, &door, places, &t, 2, TABLE_RESERVE, &serving, &look);
	table_retire(next);
	table_close(&next);
	ok(!serving.live && !process_alive(other, 0), "closing ends what is left");
	t.now += RIG_SECOND;
	table_peek_held(other, &door, places, &t, 2, &look);
	ok(look.held == 0 && look.allowed, "within a second for everybody");
	is_u64(census_check(other, NULL, NULL), 0, "the table is sound");
	table_close(&other);
	table_close(&old);
	rig_free(&rig);
}

int main(void)
{
	check_retire();
	check_resume();
	check_tickets();
	return done_testing();
}
