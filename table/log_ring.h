/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_ring: the words of a log, and how they are read and written. For log*.c and those who walk the table.
 *
 *   ring word   until 44 (ticks of algo/log.h) | next 16. The low 6 bits of until, which is rounded up to a
 *               multiple of 64 ticks (8 ms), say more: order 2 | share 4.
 *   cell        end 56 (units of 32 ns, rounded up) | lap 1 | share 4
 *
 * share: 2^-share of N, rounded up, was used with this admission (for eviction). lap: of two neighbours that
 * end alike, tells which was taken later: it flips from cell N - 1 to cell 0 and nowhere else.
 */
#ifndef WEIR_TABLE_LOG_RING_H
#define WEIR_TABLE_LOG_RING_H

#include "algo/log.h"
#include "table/cell.h"

#define LOG_UNIT	32u
#define LOG_HOLES_MAX	1024u /* in a larger log nothing is given back: see log_uncharge */
#define LOG_SHARE_MAX	14u
#define LOG_GIVEN	15u /* instead of a share: given back; its end is when it was taken */
#define LOG_EXTRA_BITS	6u
#define LOG_EXTRA_SHIFT LOG_NEXT_BITS

enum log_order {
	LOG_ORDERED, /* from `next` on cells end one after the other; those that have ended come first */
	LOG_LOOSE,   /* not known: look at all of them */
	LOG_LEAST,   /* not in order, but none was free, and `next` is the one that ends first */
};

static inline uint64_t log_round(uint64_t end)
{
	return (end + LOG_UNIT - 1) & ~(uint64_t)(LOG_UNIT - 1);
}

/* `end`: rounded. */
static inline uint64_t log_cell_data(uint64_t end, bool lap, unsigned share)
{
	return end | (uint64_t)lap << 4 | share;
}

static inline uint64_t log_cell_end(uint64_t w1)
{
	return w1 & CELL_DATA & ~(uint64_t)(LOG_UNIT - 1);
}

/* LOG_GIVEN, too. */
static inline unsigned log_cell_share(uint64_t w1)
{
	return (unsigned)w1 & 15;
}

static inline unsigned log_ring_share(uint64_t word)
{
	return (unsigned)(word >> LOG_EXTRA_SHIFT) & 15;
}

static inline enum log_order log_ring_order(uint64_t word)
{
	unsigned order = (unsigned)(word >> (LOG_EXTRA_SHIFT + 4)) & 3;
	return order <= LOG_LEAST ? (enum log_order)order : LOG_LOOSE;
}

/* Table time in ns from which on nothing counts: late by less than 9 ms. What is rounded once stays as it is. */
static inline uint64_t log_ring_until(uint64_t word)
{
	return word >> (LOG_NEXT_BITS + LOG_EXTRA_BITS) << (LOG_SHIFT + LOG_EXTRA_BITS);
}

unsigned log_share(uint32_t used, uint32_t count);
uint64_t log_ring_word(uint64_t until, enum log_order order, unsigned share, uint32_t next);

struct log_view { /* a log as one decision sees it */
	struct table *table;
	const struct table_key *key;
	uint64_t now;
	uint32_t row; /* it is judged under: the caller's, or a newer one that was met (I5) */
	const struct ledger_row *mine; /* the same */
	uint32_t count;		       /* N */
	uint64_t period;
	struct slot *slot; /* of the ring word; NULL: absent */
	uint64_t w0, w1;   /* as read */
	/* What it says, under `mine`: */
	uint64_t until;
	uint32_t next;
	enum log_order order;
	unsigned share;
};

enum log_found {
	LOG_FOUND,   /* or absent: as if it had never been charged */
	LOG_AGAIN,   /* the ledger has moved on: begin again */
	LOG_UNKNOWN, /* the row is in no ledger */
	LOG_OTHER,   /* a newer policy makes it another kind, under view->row */
};
/* `row` to begin with; table, key and now are set. */
enum log_found log_find(struct log_view *view, uint32_t row);

struct log_cell {
	struct cell at;
	struct table_key key;
	uint32_t index;
	uint64_t end; /* under the view's numbers; 0: absent */
	uint64_t raw; /* as stored */
	bool lap, given;
};
/* False: begin again, under view->row if that is newer now: then view->count is another, and may be 0. */
bool log_cell_read(struct log_view *view, uint32_t index, struct log_cell *out);

static inline bool log_cell_live(const struct log_view *view, const struct log_cell *cell)
{
	return cell->end > view->now;
}

/* The ring says at least this much from now on. False: no room for it (it was absent). */
bool log_ring_point(struct log_view *view, uint32_t from, uint32_t next, uint64_t until, enum log_order order,
		    unsigned share);
/* Look at all the cells next time. */
void log_ring_loosen(struct log_view *view);

/* Ends up to `cost` cells that were stored with the end `raw`, from cell `from` on, at most `steps` of them. They are
 * free from when they were taken on, not for clocks that are later still: those see what ended then (I16). Returns how
 * many. */
uint32_t log_end(struct log_view *view, uint32_t from, uint32_t steps, uint64_t raw, uint32_t cost);
/* Empties all cells. Returns how many there were. */
uint32_t log_forget(struct log_view *view);

/* ---- log_look.c ---- */

struct log_room {
	uint32_t used;
	uint32_t start;	   /* the first free cell, or if none is, the one that ends first */
	uint64_t newest;   /* no cell ends later; 0: none that is known */
	uint64_t fits_at;  /* refused: when the cost fits; allowed: when the same cost fits once more, 0: now,
				 ALGO_NEVER: not before what is charged now has ended */
	uint64_t empty_at; /* 0: nothing counts */
	enum log_order order; /* of the cells from `start` on */
	bool scanned;
};
/* Finds room for `cost`, 1..count. False: begin again. */
bool log_look(struct log_view *view, uint32_t cost, struct log_room *out);
bool log_scan(struct log_view *view, uint32_t cost, struct log_room *out);

#endif
