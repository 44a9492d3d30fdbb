/* SPDX-License-Identifier: BSD-2-Clause */
/* convert: a counter carried over when its limit's numbers change: the same share of it stays used. */
#include "algo/bucket.h"
#include "algo/window.h"

/* Where the carried window ends: it goes on if only its N or its zone has changed, else a new one begins. An end that
 * table time never sees is forged, and rounding it again could overflow. */
static uint64_t carried_end(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
			    const struct algo_time *t)
{
	if (from->kind == ALGO_FIXED_WINDOW && from->align == to->align &&
	    (from->align >= ALGO_CALENDAR_DAY || from->scale == to->scale)) {
		uint64_t end = window_end(from, state);
		if (end < ALGO_TIME_MAX + ALGO_TIME_MAX / 2)
			return end;
	}
	return window_begin(to, t, 0);
}

/* Used out of `from`, as the same share of `to`, rounded up. Used of a limit that lets nothing pass: all. */
static uint64_t share(uint64_t used, uint64_t from, uint64_t to)
{
	return from ? wide_ceil((wide)used * to, from) : to;
}

uint64_t algo_convert(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
		      const struct algo_time *t)
{
	if (algo_recovered(from, state, t->now))
		return 0;
	uint64_t used = from->kind == ALGO_FIXED_WINDOW ? window_used(from, state, t->now)
							: bucket_debt(state, bucket_clock(from, t->now));
	used = share(used, from->capacity, to->capacity);
	if (used == 0) /* of a limit that now lets nothing pass */
		return 0;
	if (to->kind == ALGO_FIXED_WINDOW)
		return window_word(to, carried_end(from, to, state, t),
				   used < to->capacity ? used : to->capacity);
	return bucket_clock(to, t->now) + (used < ALGO_DEBT_MAX ? used : ALGO_DEBT_MAX);
}
