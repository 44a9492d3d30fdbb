/* SPDX-License-Identifier: BSD-2-Clause */
/* hold: what is in flight and what is reserved, seen by everybody: how many, by whom, for how long, and what a death,
 * a full table, an edit and the next owner of a process slot make of it. */
#include <signal.h>
#include <sys/wait.h>

#include "table/hold.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define MINUTE (60 * RIG_SECOND)

static struct algo_numbers flight(uint32_t places)
{
	struct algo_numbers numbers;
	if (!algo_concurrent(places, &numbers))
		rig_die("algo_concurrent", "numbers refused");
	return numbers;
}

static enum table_charge take(struct table *table, uint32_t row, uint64_t now, uint32_t cost,
			      struct table_ticket *ticket)
{
	struct table_key key = rig_key(table, 1, 1);
	struct algo_time t = {.now = now};
	struct table_look look;
	return table_take(table, &key, row, &t, cost, TABLE_RESERVE, ticket, &look);
}

static uint32_t held(struct table *table, uint32_t row, uint64_t now)
{
	struct table_key key = rig_key(table, 1, 1);
	struct algo_time t = {.now = now};
	struct table_look look;
	table_peek_held(table, &key, row, &t, 1, &look);
	return look.held;
}

/* ---- as many as there can be --------------------------------------------------------------------------- */

static void check_many(unsigned handles)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table[4];
	struct table_ticket *tickets = calloc(ALGO_LOG_MAX + 1, sizeof *tickets), again;
	struct algo_numbers numbers = flight(ALGO_LOG_MAX);
	struct algo_time t = {.now = 100 * RIG_SECOND};
	uint32_t taken = 0, given = 0;
	char text[80];
	if (!tickets)
		rig_die("calloc", "no memory");
	for (unsigned i = 0; i < handles; i++)
		table[i] = rig_open(&rig);
	uint32_t row = rig_row(table[0], 1, &numbers, 1);
	while (taken <= ALGO_LOG_MAX &&
	       take(table[taken % handles], row, t.now, 1, &tickets[taken]) == TABLE_CHARGED)
		taken++;
	snprintf(text, sizeof text, "65,535 in flight of one key, by %u", handles);
	is_u64(taken, ALGO_LOG_MAX, text);
	is_u64(held(table[handles - 1], row, t.now), taken, "and everybody sees them");
	is_u64(take(table[0], row, t.now, 1, &again), TABLE_REFUSED, "not one more");
	table_settle(table[taken / 2 % handles], &tickets[taken / 2], &t, 1);
	is_u64(take(table[0], row, t.now, 1, &again), TABLE_CHARGED, "but for one that ends");
	table_give_back(table[0], &again, &t);
	for (uint32_t i = 0; i < taken; i++)
		given += table_give_back(table[i % handles], &tickets[i], &t);
	is_u64(given, taken - 1, "each ends once");
	is_u64(held(table[0], row, t.now), 0, "and nothing is left");
	for (unsigned i = 0; i < handles; i++)
		table_close(&table[i]);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	free(tickets);
	rig_free(&rig);
}

/* ---- who holds -------------------------------------------------------------------------------------------- */

static pid_t holder(const struct rig *rig, uint32_t row, uint64_t now)
{
	int ready[2];
	char byte;
	if (pipe(ready) != 0)
		rig_die("pipe", "none");
	pid_t child = fork();
	if (child == 0) {
		struct table *table = rig_open(rig);
		struct table_ticket ticket;
		if (take(table, row, now, 3, &ticket) != TABLE_CHARGED || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		rig_die("holder", "did not get its places");
	close(ready[0]);
	close(ready[1]);
	return child;
}

static void check_owner(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *eye = rig_open_as(&rig, true);
	struct algo_numbers numbers = flight(3);
	uint32_t row = rig_row(table, 1, &numbers, 1);
	uint64_t now = 100 * RIG_SECOND, hour = now + 3600 * RIG_SECOND;
	struct table_ticket ticket;
	pid_t child = holder(&rig, row, now);
	is_u64(held(table, row, now), 3, "another process holds three");
	is_u64(take(table, row, now, 1, &ticket), TABLE_REFUSED, "there is no place");
	kill(child, SIGSTOP);
	waitpid(child, NULL, WUNTRACED);
	is_u64(held(table, row, hour), 3, "stopped for an hour, it holds them");
	is_u64(held(eye, row, hour), 3, "whoever looks");
	is_u64(take(table, row, hour, 1, &ticket), TABLE_REFUSED, "and there is no place");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	is_u64(held(table, row, hour + RIG_SECOND), 0, "killed: a second later it holds nothing");
	is_u64(held(eye, row, hour + RIG_SECOND), 0, "whoever looks");
	is_u64(held(table, row, now), 0, "and never again did");
	is_u64(take(table, row, hour + RIG_SECOND, 3, &ticket), TABLE_CHARGED, "its places are free");

	/* The next owner of a process slot. */
	struct table *old = rig_open(&rig), *next;
	struct table_ticket lost;
	is_u64(old->process_index, 1, "the next one has the dead one's process slot");
	is_u64(held(old, row, hour), 3, "but not what it held");
	table_give_back(table, &ticket, &(struct algo_time){.now = hour});
	is_u64(take(old, row, hour, 2, &lost), TABLE_CHARGED, "it takes two");
	is_u64(held(table, row, hour), 2, "which others see");
	table_close(&old);
	ok(!lost.live, "a ticket dies with its handle");
	next = rig_open(&rig);
	is_u64(next->process_index, 1, "the one after it");
	is_u64(held(table, row, hour), 0, "does not hold them: seen without a second's delay");
	is_u64(take(next, row, hour, 1, &lost), TABLE_CHARGED, "it begins with what it takes itself");
	is_u64(held(table, row, hour) + held(eye, row, hour) + held(next, row, hour), 3,
	       "one, for everybody");
	ok(table_give_back(next, &lost, &(struct algo_time){.now = hour}), "which it can give back");
	is_u64(held(table, row, hour), 0, "once");
	table_close(&next);
	table_close(&table);
	table_close(&eye);
	rig_free(&rig);
}

/* I15: who has the lock of a process slot but has not counted itself yet must not hide those behind it. */
static void check_lines(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *first = rig_open(&rig), *second;
	struct algo_numbers numbers = flight(3);
	uint32_t row = rig_row(first, 1, &numbers, 1);
	struct table_ticket ticket;
	atomic_set32(&first->process->owners, 0); /* where it was a moment ago */
	second = rig_open(&rig);
	is_u64(take(second, row, RIG_SECOND, 2, &ticket), TABLE_CHARGED, "one behind it holds two");
	is_u64(first->process->owners, 1, "I15: the line in front says that it has an owner");
	is_u64(held(first, row, RIG_SECOND), 2, "so they are found");
	is_u64(first->processes[2].owners, 0, "and nobody looks further than this");
	table_close(&second);
	table_close(&first);
	rig_free(&rig);
}

/* ---- no room ------------------------------------------------------------------------------------------------ */

static void check_full(void)
{
	enum { KEYS = 12000 };
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *other = rig_open(&rig);
	struct algo_numbers numbers = flight(1), token = rig_token(1, 3600 * RIG_SECOND, 10);
	uint32_t row = rig_row(table, 1, &numbers, 1), plain = rig_row(table, 2, &token, 1);
	struct table_ticket *tickets = calloc(KEYS, sizeof *tickets), ticket;
	struct algo_time t = {.now = 100 * RIG_SECOND};
	struct table_look look;
	uint32_t taken = 0, no_room = 0, refused = 0, given = 0;
	if (!tickets)
		rig_die("calloc", "no memory");
	for (unsigned i = 0; i < KEYS; i++) {
		struct table_key key = rig_key(table, 1, i);
		enum table_charge result = table_take(table, &key, row, &t, 1, TABLE_RESERVE, &tickets[i],
						      &look);
		taken += result == TABLE_CHARGED;
		no_room += result == TABLE_NO_ROOM;
	}
	ok(taken > 4000 && taken <= TABLE_SIZE_MIN / 16, "as many keys are held as have room");
	is_u64(taken + no_room, KEYS, "the others are told that there is none");
	for (unsigned i = 0; i < 40000; i++) { /* whatever comes */
		struct table_key key = rig_key(table, 2, i);
		table_charge(other, &key, plain, &t, 1, &look);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		struct table_key key = rig_key(table, 1, i);
		if (tickets[i].live)
			refused += table_take(other, &key, row, &t, 1, TABLE_RESERVE, &ticket, &look) ==
				   TABLE_REFUSED;
	}
	is_u64(refused, taken, "what is held is not forgotten for anything");
	for (unsigned i = 0; i < KEYS; i++)
		given += table_give_back(table, &tickets[i], &t);
	is_u64(given, taken, "all of it can be given back");
	for (unsigned i = 0, got = 0; i < 40000; i++) {
		struct table_key key = rig_key(table, 2, i);
		got += table_charge(other, &key, plain, &t, 1, &look) != TABLE_NO_ROOM;
		if (i == 39999)
			is_u64(got, 40000, "and its slots serve others then");
	}
	table_close(&other);
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	free(tickets);
	rig_free(&rig);
}

/* ---- edits ---------------------------------------------------------------------------------------------------- */

static void check_edit(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *other = rig_open(&rig);
	struct algo_numbers wide = flight(5), narrow = flight(3);
	uint32_t old = rig_row(table, 1, &wide, 1), new = rig_row(table, 1, &narrow, 2);
	struct table_ticket tickets[5], ticket;
	struct algo_time t = {.now = 100 * RIG_SECOND};
	for (unsigned i = 0; i < 4; i++)
		take(table, old, t.now, 1, &tickets[i]);
	is_u64(held(table, old, t.now), 4, "four of five in flight");
	is_u64(take(other, new, t.now, 1, &ticket), TABLE_REFUSED, "three from now on: none for a fifth");
	table_give_back(table, &tickets[0], &t);
	table_give_back(table, &tickets[1], &t);
	is_u64(take(other, new, t.now, 1, &ticket), TABLE_CHARGED, "two have ended: there is one place");
	is_u64(take(table, old, t.now, 1, &tickets[0]), TABLE_REFUSED,
	       "I5: for one with the old numbers there are three, too");
	table_give_back(other, &ticket, &t);
	table_give_back(table, &tickets[2], &t);
	table_give_back(table, &tickets[3], &t);
	is_u64(held(table, new, t.now), 0, "nothing is left");
	table_close(&other);
	table_close(&table);
	rig_free(&rig);
}

/* A reservation outlives the policy it was made under: its own cell keeps the row. */
static void check_row(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 4);
	struct table *table = rig_open(&rig), *other = rig_open(&rig);
	struct algo_numbers before = rig_token(5, MINUTE, 5), after = rig_token(10, MINUTE, 10);
	uint32_t old = rig_row(table, 1, &before, 1), unused = rig_row(table, 2, &before, 1), new;
	struct table_ticket ticket;
	struct algo_time t = {.now = 100 * RIG_SECOND};
	struct table_key key = rig_key(table, 1, 1);
	struct table_look look;
	struct algo_report report;
	table_set_generation(table, 1);
	is_u64(take(table, old, t.now, 2, &ticket), TABLE_CHARGED, "reserved");
	new = rig_row(table, 1, &after, 2);
	table_set_generation(table, 2);
	table_hold_generation(table, 2);
	table_hold_generation(other, 2);
	ledger_lock(table, 1000);
	is_u64(ledger_census(table), 1, "a census frees the row that nobody has");
	ledger_unlock(table);
	ok(!ledger_row(other, unused) && ledger_row(other, old), "and not the one that is held");
	ok(table_settle(table, &ticket, &t, 2), "settled");
	table_peek_held(other, &key, new, &t, 1, &look);
	table_describe(&look, &t, 1, false, &report);
	is_u64(report.remaining, 6, "two of five are four of ten");
	table_close(&other);
	table_close(&table);
	rig_free(&rig);
}

/* ---- too long --------------------------------------------------------------------------------------------------- */

static void check_overdue(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig);
	struct algo_numbers token = rig_token(1, 3600 * RIG_SECOND, 5), places = flight(2);
	uint32_t row = rig_row(table, 1, &token, 1), in_flight = rig_row(table, 2, &places, 1);
	struct table_key key = rig_key(table, 1, 1), other = rig_key(table, 2, 1);
	struct table_ticket first, second, serving;
	struct algo_time t = {.now = 100 * RIG_SECOND};
	struct table_look look;
	struct algo_report report;
	table_take(table, &other, in_flight, &t, 1, TABLE_RESERVE, &serving, &look);
	take(table, row, t.now, 2, &first);
	take(table, row, t.now + RIG_SECOND, 1, &second);
	is_u64(table_held(table), 3, "three tickets");
	t.now += MINUTE;
	table_overdue(table, &t);
	is_u64(table_held(table), 3, "for a minute they may be held");
	t.now += 1;
	table_overdue(table, &t);
	ok(!first.live && second.live, "a nanosecond longer, and the older is charged");
	is_u64(held(table, row, t.now), 1, "it is not held any more");
	ok(!table_settle(table, &first, &t, 0) && !table_give_back(table, &first, &t),
	   "and never given back");
	t.now += RIG_SECOND;
	table_overdue(table, &t);
	ok(!second.live && serving.live, "then the other; what is in flight is in flight");
	table_peek_held(table, &key, row, &t, 1, &look);
	table_describe(&look, &t, 1, false, &report);
	is_u64(report.remaining, 2, "three were charged");
	t.now += 24 * 3600 * RIG_SECOND;
	table_overdue(table, &t);
	ok(serving.live && table_held(table) == 1, "a day later it is in flight still");
	ok(table_settle(table, &serving, &t, 1) && table_held(table) == 0, "until it ends");
	table_close(&table);
	rig_free(&rig);
}

int main(void)
{
	check_many(1);
	check_many(4);
	check_owner();
	check_lines();
	check_full();
	check_edit();
	check_row();
	check_overdue();
	return done_testing();
}
