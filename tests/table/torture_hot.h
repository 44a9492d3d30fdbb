/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture_hot: buckets and windows, one key each, charged by everybody.
 *
 * That what was offered was used is judged where a counter said so itself: one that refuses is full. So a
 * machine that stands still for seconds proves nothing, and breaks nothing.
 */
#ifndef WEIR_TESTS_TABLE_TORTURE_HOT_H
#define WEIR_TESTS_TABLE_TORTURE_HOT_H

#include "algo/sliding.h"
#include "algo/window.h"
#include "tests/table/torture_books.h"

/* The window that a word is of. Ends are a period apart, so each has a number of its own. */
static uint64_t hot_window(const struct algo_numbers *numbers, uint64_t state, const struct algo_time *t)
{
	uint64_t period = numbers->scale, end;
	if (numbers->kind == ALGO_SLIDING_WINDOW) {
		uint64_t stored = state >> numbers->count_bits >> numbers->count_bits;
		uint64_t now = sliding_index(numbers, t->now);
		return stored > now ? stored : now;
	}
	end = window_end(numbers, state);
	if (numbers->align == ALGO_CLOCK) /* to the nearest: the wall clock is read anew each second */
		return ((uint64_t)((int64_t)end + t->wall) + period / 2) / period;
	return end / period;
}

/* A bucket was empty then and is empty now: what flowed in between was used, unless it ran over. */
static void hot_empty(struct torture_book *book, const struct torture_limit *l, uint64_t now)
{
	uint64_t seen = atomic_load(&book->empty_at);
	while (now > seen && !atomic_compare_exchange_weak(&book->empty_at, &seen, now))
		;
	if (now > seen && now - seen > l->period)
		atomic_fetch_add(&book->idle, now - seen - l->period);
}

static void hot_charge(struct torture_worker *w, unsigned limit, uint32_t cost, bool regret)
{
	struct torture *torture = w->torture;
	const struct torture_limit *l = &torture_limits[limit];
	struct torture_book *book = &torture->book[limit];
	struct table *table = w->table[l->rig];
	struct table_key key = torture_key(w, limit, 1);
	struct algo_time t = torture_time(w, limit);
	struct table_look look;
	torture_pend(w, limit, cost);
	enum table_charge result = table_charge(table, &key, torture->row[limit], &t, cost, &look);
	torture_judge(torture, limit, result, look.allowed);
	if (result == TABLE_CHARGED) {
		atomic_fetch_add(&book->counted, cost);
		atomic_fetch_add(&torture->charges, 1);
		if (limit >= HOT_WINDOW)
			torture_in_window(torture, limit, hot_window(&look.numbers, look.state, &t), t.now,
					  cost);
		if (regret) {
			atomic_fetch_sub(&book->counted, cost);
			table_uncharge(table, &key, torture->row[limit], &t, t.now, cost);
		}
	} else if (result == TABLE_REFUSED && limit >= HOT_WINDOW) {
		torture_full(torture, limit, hot_window(&look.numbers, look.state, &t));
	} else if (result == TABLE_REFUSED) {
		hot_empty(book, l, t.now);
	}
	torture_settled(w);
}

static void hot_work(struct torture_worker *w, uint64_t roll)
{
	bool regret = (roll >> 16 & 7) == 0;
	unsigned limit = (unsigned)(roll >> 40) % (regret ? HOT_WINDOW : HOT_COUNT);
	hot_charge(w, limit, 1 + (uint32_t)(roll >> 8) % torture_limits[limit].cost, regret);
}

/* Until it refuses: what follows, or what went before, is rate * time. The caller is alone. */
static void hot_use_up(struct torture *torture, struct table *table)
{
	for (unsigned limit = HOT_TOKEN; limit <= HOT_LEAKY; limit++) {
		struct torture_book *book = &torture->book[limit];
		struct table_key key = rig_key(table, limit, 1);
		struct algo_time t;
		struct table_look look;
		table_time(table, &t);
		torture_latest(&book->last, t.now);
		while (table_charge(table, &key, torture->row[limit], &t, 1, &look) == TABLE_CHARGED)
			atomic_fetch_add(&book->counted, 1);
		if (atomic_load(&book->empty_at) == 0)
			atomic_store(&book->empty_at, t.now);
		hot_empty(book, &torture_limits[limit], t.now);
	}
}

/* While they work: what is counted first was charged before the clock is read. */
static uint64_t hot_over(struct torture *torture, struct table *table)
{
	static const unsigned buckets[] = {HOT_TOKEN, HOT_LEAKY, HELD_TOKEN};
	uint64_t over = 0;
	for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
		uint64_t counted = atomic_load(&torture->book[buckets[i]].counted);
		struct algo_time t;
		table_time(table, &t);
		over += counted > torture_bucket_bound(torture, buckets[i], t.now);
	}
	return over;
}

/* Neighbours: what was admitted in the one before still weighs at the last admission of the next. */
static uint64_t hot_slid_over(struct torture *torture, const struct torture_limit *l)
{
	struct torture_window *window = torture->window[HOT_SLIDING];
	uint64_t base = torture->begin[ROOMY] / l->period, over = 0;
	for (unsigned i = 1; i < TORTURE_WINDOWS; i++) {
		uint64_t before = atomic_load(&window[i - 1].counted), here = atomic_load(&window[i].counted);
		uint64_t last = atomic_load(&window[i].last), end = (base + i + 1) * l->period;
		uint64_t left = last + l->period > end ? end - last : l->period; /* a late clock: its start */
		over += here > 0 && before * left + here * l->period > l->n * l->period;
	}
	return over;
}

static void hot_check(struct torture *torture)
{
	char text[160];
	for (unsigned limit = 0; limit < HOT_COUNT; limit++) {
		const struct torture_limit *l = &torture_limits[limit];
		struct torture_book *book = &torture->book[limit];
		uint64_t counted = atomic_load(&book->counted), lost = atomic_load(&book->lost);
		uint64_t over = atomic_load(&book->over), idle = atomic_load(&book->idle);
		uint64_t full = torture_windows_full(torture, limit), least;
		snprintf(text, sizeof text, "%s: never above its bound", l->name);
		if (limit <= HOT_LEAKY) {
			uint64_t bound = torture_bucket_bound(torture, limit, atomic_load(&book->last));
			ok(counted <= bound, text);
			uint64_t unused = idle * l->n / l->period;
			least = bound / 100 * 99; /* in whole requests, and not what was given back late */
			least -= unused < least ? unused : least;
			note("%s: counted %" PRIu64 ", in flight at deaths %" PRIu64 ", bound %" PRIu64
			     ", idle %" PRIu64 " ms",
			     l->name, counted, lost, bound, idle / MS);
		} else {
			if (limit == HOT_SLIDING)
				over += hot_slid_over(torture, l);
			is_u64(over, 0, text);
			least = full * (l->n - l->cost + 1) / (limit == HOT_SLIDING ? 2 : 1);
			ok(full > 0, "  and it was full");
			note("%s: counted %" PRIu64 ", in flight at deaths %" PRIu64 ", %" PRIu64
			     " windows were full",
			     l->name, counted, lost, full);
		}
		snprintf(text, sizeof text, "%s: what was offered was used", l->name);
		ok(counted + lost >= least, text);
	}
}

#endif
