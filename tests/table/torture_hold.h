/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture_hold: units in flight, and reserved beside a bucket, a window and a log, by workers that die with them.
 *
 * One word per limit says how many units each worker holds for certain: a byte each, raised just after taking,
 * lowered just before giving back. So each change shows what everybody held at that moment. A worker that is about to
 * be killed is marked first, and counts no more: it may be dead.
 */
#ifndef WEIR_TESTS_TABLE_TORTURE_HOLD_H
#define WEIR_TESTS_TABLE_TORTURE_HOLD_H

#include <time.h>

#include "tests/table/torture_log.h"

#define HOLD_DOOMED	  56u
#define HOLD_BYTE(worker) (UINT64_C(255) << 8 * (worker))
#define HOLD_NEAR	  MS /* of a window's edge: the wall clock may have been read anew */
#define HOLD_FREE	  (2 * RIG_SECOND)

static uint64_t hold_sum(uint64_t word)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i <= TORTURE_WITNESS; i++)
		sum += word >> (HOLD_DOOMED + i) & 1 ? 0 : word >> 8 * i & 255;
	return sum;
}

/* By the parent, before the kill and after the death. */
static void hold_doom(struct torture *torture, unsigned worker)
{
	for (unsigned limit = HELD_ONE; limit < HELD_END; limit++)
		atomic_fetch_or(&torture->book[limit].held, UINT64_C(1) << (HOLD_DOOMED + worker));
}

static void hold_bury(struct torture *torture, unsigned worker)
{
	uint64_t mark = UINT64_C(1) << (HOLD_DOOMED + worker);
	for (unsigned limit = HELD_ONE; limit < HELD_END; limit++) {
		struct torture_book *book = &torture->book[limit];
		uint64_t word = atomic_fetch_and(&book->held, ~(HOLD_BYTE(worker) | mark));
		if (word & HOLD_BYTE(worker))
			atomic_fetch_add(&book->orphaned, 1);
	}
}

static enum table_charge hold_reach(struct torture_worker *w, unsigned limit, uint32_t cost,
				    struct table_ticket *ticket, const struct algo_time *t)
{
	struct torture *torture = w->torture;
	struct table_key key = torture_key(w, limit, 1);
	struct table_look look;
	enum table_charge result = table_take(w->table[torture_limits[limit].rig], &key, torture->row[limit],
					      t, cost, TABLE_RESERVE, ticket, &look);
	torture_judge(torture, limit, result, look.allowed);
	if ((result == TABLE_CHARGED) != ticket->live)
		atomic_fetch_add(&torture->wrong, 1);
	return result;
}

static void hold_take_one(struct torture_worker *w, unsigned which, unsigned limit, uint32_t cost)
{
	struct torture_book *book = &w->torture->book[limit];
	struct algo_time t = torture_time(w, limit);
	if (hold_reach(w, limit, cost, &w->ticket[which], &t) != TABLE_CHARGED)
		return;
	w->limit[which] = limit;
	uint64_t units = (uint64_t)cost << 8 * w->index;
	uint64_t sum = hold_sum(atomic_fetch_add(&book->held, units) + units);
	torture_latest(&book->most, sum);
	if (sum > torture_limits[limit].n)
		atomic_fetch_add(&book->over, 1);
	atomic_fetch_add(&w->torture->charges, 1);
}

/* What is charged after the clock was read is charged to the window of then, or, if that has ended, to the next. */
static void hold_in_window(struct torture *torture, unsigned limit, const struct algo_time *from,
			   const struct algo_time *to, uint32_t cost)
{
	uint64_t period = torture_limits[limit].period;
	uint64_t first = (uint64_t)((int64_t)from->now + from->wall - (int64_t)HOLD_NEAR) / period;
	uint64_t last = (uint64_t)((int64_t)to->now + to->wall + (int64_t)HOLD_NEAR) / period;
	if (first == last)
		torture_in_window(torture, limit, first, to->now, cost);
}

static void hold_end_one(struct torture_worker *w, unsigned which, uint32_t actual)
{
	struct torture *torture = w->torture;
	struct table_ticket *ticket = &w->ticket[which];
	unsigned limit = w->limit[which];
	struct torture_book *book = &torture->book[limit];
	struct table *table = w->table[torture_limits[limit].rig];
	bool ended;
	atomic_fetch_sub(&book->held, (uint64_t)ticket->cost << 8 * w->index);
	struct algo_time t = torture_time(w, limit);
	if (actual == 0 || torture_limits[limit].kind == ALGO_CONCURRENT) {
		ended = table_give_back(table, ticket, &t);
		atomic_fetch_add(&book->returned, 1);
	} else {
		ended = table_settle(table, ticket, &t, actual);
		atomic_fetch_add(&book->counted, actual);
		atomic_fetch_add(&book->settled, 1);
		struct algo_time after = torture_time(w, limit);
		if (limit == HELD_WINDOW)
			hold_in_window(torture, limit, &t, &after, actual);
		if (limit == HELD_LOG)
			log_record(torture, limit, t.now, actual);
	}
	if (!ended || table_settle(table, ticket, &t, 1)) /* once */
		atomic_fetch_add(&torture->wrong, 1);
}

static void hold_work(struct torture_worker *w, uint64_t roll, unsigned from, unsigned to)
{
	unsigned which = (unsigned)(roll % TORTURE_TICKETS),
		 limit = from + (unsigned)(roll >> 40) % (to - from);
	uint32_t cost = 1 + (uint32_t)(roll >> 16) % torture_limits[limit].cost;
	if (w->ticket[which].live)
		hold_end_one(w, which, (uint32_t)(roll >> 24) % (w->ticket[which].cost + 1));
	else
		hold_take_one(w, which, limit, cost);
}

/* ---- afterwards --------------------------------------------------------------------------------------- */

/* Everything at once, within two seconds of the last death, and not a unit more. An attempt that is late because the
 * machine stood still must succeed, too. */
static void hold_regain(struct torture_worker *w)
{
	struct torture *torture = w->torture;
	for (unsigned limit = HELD_ONE; limit < HELD_END; limit++) {
		const struct torture_limit *l = &torture_limits[limit];
		uint64_t killed = torture->killed[l->rig];
		struct table_ticket all, more;
		struct algo_time t;
		enum table_charge result;
		do {
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
			table_time(w->table[l->rig], &t);
			result = hold_reach(w, limit, l->n, &all, &t);
		} while (result != TABLE_CHARGED && t.now <= killed + HOLD_FREE);
		if (result != TABLE_CHARGED) {
			fprintf(stderr, "# leaked: %s\n", l->name);
			atomic_fetch_add(&torture->leaked, 1);
			continue;
		}
		atomic_fetch_add(&torture->again, 1);
		torture_latest(&torture->slowest, t.now - killed);
		if (hold_reach(w, limit, 1, &more, &t) != TABLE_REFUSED ||
		    !table_give_back(w->table[l->rig], &all, &t))
			atomic_fetch_add(&torture->wrong, 1);
	}
}

static void hold_check(struct torture *torture)
{
	char text[160];
	uint64_t died = 0;
	for (unsigned limit = HELD_ONE; limit < HELD_END; limit++) {
		const struct torture_limit *l = &torture_limits[limit];
		struct torture_book *book = &torture->book[limit];
		uint64_t counted = atomic_load(&book->counted), most = atomic_load(&book->most);
		uint64_t orphaned = atomic_load(&book->orphaned), returned = atomic_load(&book->returned);
		uint64_t settled = atomic_load(&book->settled), bound = UINT64_MAX;
		snprintf(text, sizeof text, "%s: never held above its limit", l->name);
		is_u64(atomic_load(&book->over), 0, text);
		if (limit == HELD_TOKEN)
			bound = torture_bucket_bound(torture, limit, atomic_load(&book->last));
		else if (limit == HELD_WINDOW)
			bound = l->n * ((atomic_load(&book->last) - torture->begin[l->rig]) / l->period + 2);
		if (bound != UINT64_MAX)
			ok(counted <= bound, "  and what was settled fits its bound");
		died += orphaned;
		bool used = most > 0 && returned > 0 && (settled > 0 || l->kind == ALGO_CONCURRENT);
		/* a table without room is not always used */
		ok(l->rig == DENYING || used, "  and was used in every way");
		note("%s: at most %" PRIu64 " of %u at once; %" PRIu64 " given back, %" PRIu64
		     " settled at %" PRIu64 ", %" PRIu64 " died with, %" PRIu64 " found no room",
		     l->name, most, l->n, returned, settled, counted, orphaned, atomic_load(&book->no_room));
	}
	ok(died > 0, "workers died with what they held");
	is_u64(atomic_load(&torture->leaked), 0, "within 2 s of the last death nothing is held any more");
	is_u64(atomic_load(&torture->again), 2 * (HELD_END - HELD_ONE),
	       "  every place of every limit was had again, by an old process and a new one");
	note("the last of them after %" PRIu64 " ms", atomic_load(&torture->slowest) / MS);
}

#endif
