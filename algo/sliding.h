/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sliding: the sliding window counter. N in a window that slides, estimated from two counts.
 *
 * Windows are the multiples of the period in table time. The word holds the number of the newest one that was
 * charged, its count, and the count of the one before. At `e` into a window the estimate is
 *
 *     previous * (period - e) / period + current
 *
 * compared exactly, as products of 128 bits. It is the truth, but for less than one, if what was
 * admitted in the window before came evenly.
 * A clock that is late sees the stored window at its start.
 *
 * What holds, however requests come: no window (of those multiples) holds more than N, and no period anywhere more
 * than 2N - 1. That much gets who takes N in the last instant of a window and then all that becomes free in the
 * next: its N weigh less and less there, though they are still younger than a period. Exact is ALGO_SLIDING_LOG.
 * On the other side, N at the start of a window still weigh in the whole next one: the wait can be nearly two
 * periods, where a log knows one.
 */
#ifndef WEIR_ALGO_SLIDING_H
#define WEIR_ALGO_SLIDING_H

#include "algo/algo.h"
#include "algo/wide.h"

/* The number of the window that `now` is in. No division: the reciprocal is rounded down, so its quotient is right
 * or one too small. */
static inline uint64_t sliding_index(const struct algo_numbers *n, uint64_t now)
{
	uint64_t index = wide_high(now, n->inverse);
	return index + (now - index * n->scale >= n->scale);
}

/* Table time from which on nothing weighs any more; 0 for the word 0. */
static inline uint64_t sliding_end(const struct algo_numbers *n, uint64_t state)
{
	uint64_t one = (UINT64_C(1) << n->count_bits) - 1, index = state >> n->count_bits >> n->count_bits;
	if (state & one)
		return (index + 2) * n->scale;
	return state >> n->count_bits & one ? (index + 1) * n->scale : 0;
}

/* The estimate at `now`, in parts of 1/period (n->scale); N * period is all of it. */
wide sliding_estimate(const struct algo_numbers *n, uint64_t state, uint64_t now);
/* The same, and all of it in *capacity, scaled down to 63 bits; never more than all of it. */
uint64_t sliding_used(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t *capacity);
/* The word of a window that begins at `now` with `count` used (saturates at what the bits hold). */
uint64_t sliding_word(const struct algo_numbers *n, uint64_t now, uint64_t count);
/* Under another N, the period being the same: at no later time a smaller share. */
uint64_t sliding_carry(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
		       uint64_t now);

/* The rest of algo.h's operations. */
void sliding_step(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		  struct algo_outcome *out);
uint64_t sliding_settle(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost);
uint64_t sliding_punish(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost);
uint64_t sliding_give_back(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t charged_at,
			   uint32_t cost);
void sliding_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		      struct algo_report *out);
bool sliding_valid(const struct algo_numbers *n);

#endif
