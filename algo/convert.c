/* SPDX-License-Identifier: BSD-2-Clause */
/* convert: a counter carried over when its limit's numbers change: the same share of it stays used. */
#include "algo/bucket.h"
#include "algo/limit_req.h"
#include "algo/log.h"
#include "algo/sliding.h"
#include "algo/window.h"

/* Where the carried window ends: it goes on if only its N or its zone has changed, is moved to another billing day, or else a
 * new one begins. An end that table time never sees is forged, and rounding it again could overflow. */
static uint64_t carried_end(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
			    const struct algo_time *t)
{
	if (from->kind == ALGO_FIXED_WINDOW && from->align == to->align &&
	    (from->align >= ALGO_CALENDAR_DAY || from->scale == to->scale)) {
		uint64_t end = window_end(from, state);
		if (end < ALGO_TIME_MAX + ALGO_TIME_MAX / 2)
			return end;
	}
	if (from->kind == ALGO_FIXED_WINDOW && window_month_day(from) && window_month_day(to)) {
		uint64_t end = window_end(from, state);
		if (end < ALGO_TIME_MAX + ALGO_TIME_MAX / 2)
			return window_moved(to, t, end);
	}
	return window_begin(to, t, 0);
}

/* Used out of all, as the same share of `to`, rounded up. Used of a limit that lets nothing pass: all. Of a product
 * of more than 127 bits the lowest are lost, upwards, by less than one part in 2^38, and never beyond all. */
static uint64_t share(wide used, wide all, uint64_t to)
{
	if (all == 0)
		return to;
	bool beyond = used > all;
	for (; to && used >> 64 && used > (((wide)1 << 127) - 1) / to; all >>= 1)
		used = (used >> 1) + (used & 1);
	wide quotient = (used * to + all - 1) / all;
	if (!beyond && quotient > to)
		return to;
	return quotient < ALGO_DEBT_MAX ? (uint64_t)quotient : ALGO_DEBT_MAX;
}

static uint64_t carried_share(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
			      uint64_t now)
{
	switch (from->kind) {
	case ALGO_FIXED_WINDOW:
		return share(window_used(from, state, now), from->capacity, to->capacity);
	case ALGO_SLIDING_WINDOW:
		return share(sliding_estimate(from, state, now), (wide)from->capacity * from->scale,
			     to->capacity);
	case ALGO_LIMIT_REQ:
		return share(limit_req_debt(from, state, now), from->capacity, to->capacity);
	default:
		return share(bucket_debt(state, bucket_clock(from, now)), from->capacity, to->capacity);
	}
}

uint64_t algo_convert(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
		      const struct algo_time *t)
{
	if (algo_recovered(from, state, t->now))
		return 0;
	/* A ring's word does not say how many of its cells still count, and cells cannot be made out of a word:
	 * between a log and another kind nothing is carried, it begins recovered. */
	if (ALGO_IN_CELLS(from->kind) || ALGO_IN_CELLS(to->kind))
		return from->kind == to->kind ? log_carry(from, to, state) : 0;
	if (from->kind == ALGO_BAN || to->kind == ALGO_BAN)
		return from->kind == to->kind ? state : 0;
	if (from->kind == ALGO_SLIDING_WINDOW && to->kind == ALGO_SLIDING_WINDOW && from->scale == to->scale)
		return sliding_carry(from, to, state, t->now);
	if (from->kind == ALGO_LIMIT_REQ && to->kind == ALGO_LIMIT_REQ)
		return limit_req_carry(from, to, state, t->now);
	uint64_t used = carried_share(from, to, state, t->now);
	if (used == 0) /* of a limit that now lets nothing pass */
		return 0;
	switch (to->kind) {
	case ALGO_FIXED_WINDOW:
		return window_word(to, carried_end(from, to, state, t),
				   used < to->capacity ? used : to->capacity);
	case ALGO_SLIDING_WINDOW:
		return sliding_word(to, t->now, used);
	case ALGO_LIMIT_REQ:
		return limit_req_clock(to, t->now) + used;
	default:
		return bucket_clock(to, t->now) + used;
	}
}
