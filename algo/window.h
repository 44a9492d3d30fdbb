/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window: N in each window. The word holds the window's end and what was counted in it.
 *
 * A window whose end has passed is as good as none; the next charge begins a new one. Until then the stored
 * window holds, also for a clock that is late. With b bits for the count an end is a multiple of 2^b ns,
 * rounded up: less than 2N ns late, which is a millionth of the period at 500 per second and 0.2 % at most.
 * The known flaw: N just before an end and N just after it.
 */
#ifndef WEIR_ALGO_WINDOW_H
#define WEIR_ALGO_WINDOW_H

#include "algo/algo.h"

/* The day, 1..31, of which each month's window begins: billing days and calendar months; 0: another alignment. */
static inline unsigned window_month_day(const struct algo_numbers *n)
{
	return n->align == ALGO_CALENDAR_MONTH ? 1 : algo_align_day(n->align);
}

/* Are count and period in the range of every kind of window? */
bool window_in_range(uint32_t count, uint64_t period_ns);

static inline uint32_t window_count(const struct algo_numbers *n, uint64_t state)
{
	return (uint32_t)(state & ((UINT64_C(1) << n->count_bits) - 1));
}

/* End of the stored window in table time; 0 for the word 0. */
static inline uint64_t window_end(const struct algo_numbers *n, uint64_t state)
{
	return state >> n->count_bits << n->shift;
}

/* What the window that holds at `now` has counted. */
static inline uint32_t window_used(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	return now < window_end(n, state) ? window_count(n, state) : 0;
}

/* The word of a window that ends at `end` (rounded up to a tick) and has counted `count` > 0. */
static inline uint64_t window_word(const struct algo_numbers *n, uint64_t end, uint64_t count)
{
	return (end + (UINT64_C(1) << n->shift) - 1) >> n->shift << n->count_bits | count;
}

/* Where a window that begins now ends. `before`: end of the window before it, 0 if there was none. */
uint64_t window_begin(const struct algo_numbers *n, const struct algo_time *t, uint64_t before);

/* Where a window of a month ends that would have ended at `end` (table time) under another billing day. */
uint64_t window_moved(const struct algo_numbers *to, const struct algo_time *t, uint64_t end);

void window_step(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		 struct algo_outcome *out);
uint64_t window_settle(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
		       uint32_t cost);
uint64_t window_punish(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
		       uint32_t cost);
uint64_t window_give_back(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
			  uint64_t charged_at, uint32_t cost);
void window_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		     struct algo_report *out);
bool window_valid(const struct algo_numbers *n);

#endif
