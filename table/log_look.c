/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_look: how much of a log is used, where there is room, and when there will be.
 *
 * In order (the usual case) two cells tell whether it is full, and a binary search how much is used. Where the order
 * is not known, all cells are looked at.
 */
#include <stdlib.h>

#include "table/log_ring.h"

#define NEAR 64u /* ends remembered without asking for memory */

/* `at` follows `before` in the ring. Was it taken later? Never so in a ring that is full and up to date. */
static bool taken_later(const struct log_cell *before, const struct log_cell *at)
{
	if (at->index == before->index)
		return false;
	return at->end > before->end ||
	       (at->end == before->end && (at->lap == before->lap) != (at->index == 0));
}

/* How many from `start` on are free: the first is, the last is not. */
static bool count_free(struct log_view *view, uint32_t start, uint32_t *free)
{
	uint32_t low = 0, high = view->count - 1; /* low is free, high is live */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		struct log_cell cell;
		if (!log_cell_read(view, (uint32_t)(((uint64_t)start + middle) % view->count), &cell))
			return false;
		if (log_cell_live(view, &cell))
			high = middle;
		else
			low = middle;
	}
	*free = high;
	return true;
}

/* Which of the live cells, by their ends, must end before the cost fits: 0: none. */
static uint64_t must_end(const struct log_view *view, uint32_t used, uint32_t cost)
{
	uint64_t wanted = (uint64_t)used + cost <= view->count ? UINT64_C(2) * cost : cost;
	return used + wanted > view->count ? used + wanted - view->count : 0;
}

enum seen { SEEN, SEEN_ENOUGH_NOT, SEEN_AGAIN }; /* NOT: it is not in order after all */

static enum seen look_in_order(struct log_view *view, uint32_t cost, struct log_room *out)
{
	uint32_t n = view->count, i = view->next, free = 0;
	struct log_cell before, at;
	if (!log_cell_read(view, (i + n - 1) % n, &before) || !log_cell_read(view, i, &at))
		return SEEN_AGAIN;
	/* The ring may lag: whoever took the cell has not said so yet, or was killed. */
	for (uint32_t step = 0; log_cell_live(view, &at); step++) {
		if (!before.at.slot || !view->slot || at.given || step == n)
			return SEEN_ENOUGH_NOT;
		if (!taken_later(&before, &at))
			break;
		before = at;
		i = (i + 1) % n;
		if (!log_cell_read(view, i, &at))
			return SEEN_AGAIN;
	}
	if (!log_cell_live(view, &at)) {
		/* The one before it is the newest. If it is gone, what the others are is not known. */
		if (!before.at.slot && view->until > view->now)
			return SEEN_ENOUGH_NOT;
		if (!log_cell_live(view, &before))
			free = n;
		else if (!view->slot)
			return SEEN_ENOUGH_NOT;
		else if (!count_free(view, i, &free))
			return SEEN_AGAIN;
	}
	*out = (struct log_room){.used = n - free, .start = i, .newest = before.end, .order = LOG_ORDERED};
	out->empty_at = out->used ? before.end : 0;

	uint64_t nth = must_end(view, out->used, cost);
	if (nth > out->used) {
		out->fits_at = ALGO_NEVER;
	} else if (nth > 0) { /* the live ones follow the free ones, in the order of their ends */
		if (!log_cell_read(view, (uint32_t)((i + free + nth - 1) % n), &at))
			return SEEN_AGAIN;
		if (!log_cell_live(view, &at)) /* a hole */
			return SEEN_ENOUGH_NOT;
		out->fits_at = at.end;
	}
	return SEEN;
}

/* None was free when the ring was written, and this one ends first. */
static enum seen look_at_least(struct log_view *view, struct log_room *out)
{
	struct log_cell at;
	if (!log_cell_read(view, view->next, &at))
		return SEEN_AGAIN;
	if (!log_cell_live(view, &at))
		return SEEN_ENOUGH_NOT;
	*out = (struct log_room){.used = view->count,
				 .start = view->next,
				 .newest = view->until,
				 .fits_at = at.end,
				 .empty_at = view->until,
				 .order = LOG_LEAST};
	return SEEN;
}

bool log_look(struct log_view *view, uint32_t cost, struct log_room *out)
{
	enum seen seen = view->order == LOG_ORDERED		 ? look_in_order(view, cost, out)
			 : view->order == LOG_LEAST && cost == 1 ? look_at_least(view, out)
								 : SEEN_ENOUGH_NOT;
	return seen == SEEN || (seen == SEEN_ENOUGH_NOT && log_scan(view, cost, out));
}

/* ---- all of them ------------------------------------------------------------------------------------- */

/* The `count` smallest so far, the largest of them first (a heap). */
static void remember(uint64_t *ends, uint64_t *used, uint64_t count, uint64_t end)
{
	uint64_t at;
	if (*used < count) {
		for (at = (*used)++; at > 0 && ends[(at - 1) / 2] < end; at = (at - 1) / 2)
			ends[at] = ends[(at - 1) / 2];
	} else {
		if (end >= ends[0])
			return;
		for (at = 0; 2 * at + 1 < count;) {
			uint64_t child = 2 * at + 1;
			child += child + 1 < count && ends[child + 1] > ends[child];
			if (ends[child] <= end)
				break;
			ends[at] = ends[child];
			at = child;
		}
	}
	ends[at] = end;
}

/* The end of the nth of the live cells. Without memory for that, that of the last: true, if late. */
static bool nth_end(struct log_view *view, uint64_t nth, uint64_t last, uint64_t *out)
{
	uint64_t near[NEAR], *ends = nth <= NEAR ? near : malloc(nth * sizeof *ends), used = 0;
	bool whole = true;
	*out = last;
	if (!ends)
		return true;
	for (uint32_t i = 0; whole && i < view->count; i++) {
		struct log_cell cell;
		whole = log_cell_read(view, i, &cell);
		if (whole && log_cell_live(view, &cell))
			remember(ends, &used, nth, cell.end);
	}
	if (whole && used)
		*out = ends[0];
	if (ends != near)
		free(ends);
	return whole;
}

bool log_scan(struct log_view *view, uint32_t cost, struct log_room *out)
{
	uint32_t n = view->count, descents = 0, after_descent = 0, free_from = n, free_first = n, least = 0;
	uint64_t first = 0, previous = 0, least_end = UINT64_MAX;
	*out = (struct log_room){.scanned = true};
	for (uint32_t i = 0; i < n; i++) {
		struct log_cell cell;
		if (!log_cell_read(view, i, &cell))
			return false;
		if (cell.end > out->newest)
			out->newest = cell.end;
		uint64_t end = log_cell_live(view, &cell) ? cell.end : 0;
		out->used += end != 0;
		if (end == 0 && free_first == n)
			free_first = i;
		if (end == 0 && i >= view->next && free_from == n)
			free_from = i;
		if (end && end < least_end) {
			least_end = end;
			least = i;
		}
		if (i == 0)
			first = end;
		else if (previous > end) {
			descents++;
			after_descent = i;
		}
		previous = end;
	}
	if (previous > first) {
		descents++;
		after_descent = 0;
	}
	out->empty_at = out->used ? out->newest : 0;
	out->order = descents <= 1 ? LOG_ORDERED : out->used < n ? LOG_LOOSE : LOG_LEAST;
	if (descents <= 1)
		out->start = descents ? after_descent : view->next;
	else
		out->start = out->used == n ? least : free_from < n ? free_from : free_first;
	uint64_t nth = must_end(view, out->used, cost);
	if (nth > out->used)
		out->fits_at = ALGO_NEVER;
	else if (nth == 1)
		out->fits_at = least_end;
	else if (nth > 1)
		return nth_end(view, nth, out->newest, &out->fits_at);
	return true;
}
