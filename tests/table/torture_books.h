/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture_books: what outlives killed workers: what is known of each limit.
 *
 * A worker writes down what it is about to charge (`pending`), charges, counts, and clears the note. So what
 * is counted was charged for certain, and the bound on what is counted holds whenever the table's does; what
 * was charged and not counted is at most the note a dead worker left, and the parent adds it up as lost. What
 * will be given back leaves the count before it leaves the table.
 */
#ifndef WEIR_TESTS_TABLE_TORTURE_BOOKS_H
#define WEIR_TESTS_TABLE_TORTURE_BOOKS_H

#include <stdatomic.h>

#include "tests/table/torture_limits.h"
#include "tests/tap.h"

#define TORTURE_WORKERS 4u /* and one who is never killed: the witness */
#define TORTURE_WITNESS TORTURE_WORKERS
#define TORTURE_SLOTS	8u
#define TORTURE_TICKETS 12u /* that a worker holds at a time, at most */
#define TORTURE_WINDOWS 32768u
#define TORTURE_RECORDS (UINT32_C(2) << 20)
#define TORTURE_IMAGES	4096u
#define FRESH_KEYS	16u /* per epoch: nobody has ever charged them before */
#define FRESH_EPOCHS	32768u
#define FLOOD_KEYS	20000u
#define BAN_KEYS	40u

struct torture_book {
	_Atomic uint64_t counted, lost;	 /* lost: notes of the dead */
	_Atomic uint64_t last;		 /* latest table time at which anybody charged it */
	_Atomic uint64_t empty_at, idle; /* buckets: when it last refused; ns of which the refill was lost */
	_Atomic uint64_t over;		 /* times it was above its limit */
	_Atomic uint64_t no_room;
	_Atomic uint64_t held; /* a byte for each worker; from bit 56 on, one for each: about to die */
	_Atomic uint64_t most, settled, returned, orphaned;
};

struct torture_window {
	_Atomic uint32_t counted, full; /* full: it refused */
	_Atomic uint64_t last;		/* the latest charge */
};

struct torture_record {	     /* an admission to a log */
	_Atomic uint64_t at; /* 0: not written down to the end */
	_Atomic uint32_t cost;
	uint32_t limit;
};

struct torture_fresh {
	_Atomic uint64_t last;
	_Atomic uint32_t counted, refused;
};

struct torture {
	struct rig rig[RIGS];
	uint64_t begin[RIGS]; /* table time */
	int64_t wall;
	struct algo_numbers numbers[LIMITS];
	uint32_t row[LIMITS];
	_Atomic uint32_t epoch, finish;
	uint64_t killed[RIGS];			    /* table time at which the last worker was dead */
	_Atomic uint64_t leaked, again, slowest;    /* places that could not be had, could; ns it took */
	_Atomic uint32_t churn_row[TORTURE_IMAGES]; /* what an image would name, by generation */
	_Atomic uint32_t pending[TORTURE_WORKERS];  /* limit << 8 | cost, 1 << 31; 0: nothing under way */
	_Atomic uint64_t charges, no_room, wrong, published;
	struct torture_book book[LIMITS];
	struct torture_window window[HELD_END][TORTURE_WINDOWS];
	uint64_t opened[FRESH_EPOCHS]; /* table time at which the epoch began */
	struct torture_fresh fresh[FRESH_EPOCHS][FRESH_KEYS];
	_Atomic uint64_t flood_last[FLOOD_KEYS];
	_Atomic uint64_t banned[2][BAN_KEYS]; /* ns of all bans that began */
	_Atomic uint32_t records;
	struct torture_record record[TORTURE_RECORDS];
};

struct torture_worker {
	struct torture *torture;
	unsigned index;
	struct table *table[RIGS];
	uint64_t seed, generation;
	struct table_ticket ticket[TORTURE_TICKETS], churn_ticket[TORTURE_TICKETS];
	unsigned limit[TORTURE_TICKETS];
};

static inline void torture_latest(_Atomic uint64_t *last, uint64_t now)
{
	for (uint64_t seen = atomic_load(last);
	     now > seen && !atomic_compare_exchange_weak(last, &seen, now);)
		;
}

static inline struct table_key torture_key(struct torture_worker *w, unsigned limit, uint64_t id)
{
	return rig_key(w->table[torture_limits[limit].rig], limit, id);
}

static inline struct algo_time torture_time(struct torture_worker *w, unsigned limit)
{
	struct algo_time t;
	table_time(w->table[torture_limits[limit].rig], &t);
	torture_latest(&w->torture->book[limit].last, t.now);
	return t;
}

/* What came of a charge: is it as it must be? In a roomy table there is room. */
static inline void torture_judge(struct torture *torture, unsigned limit, enum table_charge result,
				 bool allowed)
{
	if (result == TABLE_NO_ROOM) {
		if (limit == CHURN || torture_limits[limit].rig == ROOMY)
			atomic_fetch_add(&torture->no_room, 1);
		else
			atomic_fetch_add(&torture->book[limit].no_room, 1);
	} else if (allowed != (result == TABLE_CHARGED)) {
		atomic_fetch_add(&torture->wrong, 1);
	}
}

static inline void torture_pend(struct torture_worker *w, unsigned limit, uint32_t cost)
{
	atomic_store(&w->torture->pending[w->index], UINT32_C(1) << 31 | (uint32_t)limit << 8 | cost);
}

static inline void torture_settled(struct torture_worker *w)
{
	atomic_store(&w->torture->pending[w->index], 0);
}

/* Units above the limit's bound are told at once. */
static inline struct torture_window *torture_window(struct torture *torture, unsigned limit, uint64_t index)
{
	const struct torture_limit *l = &torture_limits[limit];
	uint64_t begin = torture->begin[l->rig];
	uint64_t base = (l->align == ALGO_CLOCK ? (uint64_t)((int64_t)begin + torture->wall) : begin) /
			l->period;
	return index - base < TORTURE_WINDOWS ? &torture->window[limit][index - base] : NULL;
}

static inline void torture_in_window(struct torture *torture, unsigned limit, uint64_t index, uint64_t now,
				     uint32_t cost)
{
	struct torture_window *window = torture_window(torture, limit, index);
	if (!window)
		return;
	torture_latest(&window->last, now);
	if (atomic_fetch_add(&window->counted, cost) + cost > torture_limits[limit].n)
		atomic_fetch_add(&torture->book[limit].over, 1);
}

static inline void torture_full(struct torture *torture, unsigned limit, uint64_t index)
{
	struct torture_window *window = torture_window(torture, limit, index);
	if (window)
		atomic_store(&window->full, 1);
}

/* Windows in which somebody was refused. */
static inline uint64_t torture_windows_full(struct torture *torture, unsigned limit)
{
	uint64_t full = 0;
	for (unsigned i = 0; i < TORTURE_WINDOWS; i++)
		full += atomic_load(&torture->window[limit][i].full);
	return full;
}

/* What a bucket can have let pass by `now`. */
static inline uint64_t torture_bucket_bound(const struct torture *torture, unsigned limit, uint64_t now)
{
	const struct torture_limit *l = &torture_limits[limit];
	unsigned __int128 time = now - torture->begin[l->rig];
	return l->n + (uint64_t)(time * l->n * 1000001 / 1000000 / l->period) + 1;
}

#endif
