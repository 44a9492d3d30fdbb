/* SPDX-License-Identifier: BSD-2-Clause */
/* convert: a counter carried over when its limit's numbers change: the same share of it stays used. */
#include <string.h>

#include "algo/bucket.h"
#include "algo/window.h"

/* A window goes on if only its N has changed. */
static bool same_window(const struct algo_numbers *a, const struct algo_numbers *b)
{
	return a->kind == ALGO_FIXED_WINDOW && b->kind == ALGO_FIXED_WINDOW && a->align == b->align &&
	       (a->align >= ALGO_CALENDAR_DAY || a->scale == b->scale);
}

/* Used out of `from`, as a share of `to`, rounded up. Nothing can be used of a limit that lets nothing pass:
 * full, then. */
static uint64_t share(uint64_t used, uint64_t from, uint64_t to)
{
	return from ? wide_ceil((wide)used * to, from) : to;
}

uint64_t algo_convert(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
		      const struct algo_time *t)
{
	if (algo_recovered(from, state, t->now) || to->capacity == 0)
		return 0;
	if (memcmp(from, to, sizeof *from) == 0)
		return state;

	uint64_t used = from->kind == ALGO_FIXED_WINDOW ? window_used(from, state, t->now)
							: bucket_debt(state, bucket_clock(from, t->now));
	used = share(used, from->capacity, to->capacity);
	if (used == 0)
		return 0;
	if (to->kind == ALGO_FIXED_WINDOW) {
		uint64_t end = same_window(from, to) ? window_end(from, state) : window_begin(to, t, 0);
		return window_word(to, end, used < to->capacity ? used : to->capacity);
	}
	return bucket_clock(to, t->now) + (used < ALGO_DEBT_MAX ? used : ALGO_DEBT_MAX);
}
