/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bucket: token and leaky bucket, one arithmetic: debts on a virtual clock (GCRA, ITU-T I.371).
 *
 * The virtual clock advances by one token (2^shift units) in the time one token takes to refill. `scale`, its
 * units per ns, is rounded up: over the whole of table time that amounts to less than a quarter of a unit,
 * and it makes "5 a minute" wait 12 s, never 12.000000001. What a step needs stands here, inline, for the
 * table's compare-and-swap loop: one widening multiplication, no division.
 */
#ifndef WEIR_ALGO_BUCKET_H
#define WEIR_ALGO_BUCKET_H

#include "algo/algo.h"
#include "algo/wide.h"

#define BUCKET_SHIFT_MAX    40u			/* finest unit: 2^-40 tokens */
#define BUCKET_CAPACITY_MAX (UINT64_C(1) << 59) /* in units; half of ALGO_DEBT_MAX */

/* Virtual time at `now`, in units; below 2^60. */
static inline uint64_t bucket_clock(const struct algo_numbers *n, uint64_t now)
{
	return wide_high(now, n->scale);
}

/* What is still owed at virtual time `clock`: never negative, never clamped to the capacity. */
static inline uint64_t bucket_debt(uint64_t state, uint64_t clock)
{
	return state > clock ? state - clock : 0;
}

/* A cost in units. One beyond the contract stays what it is, more than any capacity, instead of overflowing. */
static inline uint64_t bucket_units(const struct algo_numbers *n, uint32_t cost)
{
	uint32_t bounded = cost > ALGO_BURST_MAX ? ALGO_BURST_MAX + 1 : cost;
	return (uint64_t)bounded << n->shift;
}

static inline void bucket_step(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
			       struct algo_outcome *out)
{
	uint64_t clock = bucket_clock(n, now);
	uint64_t debt = bucket_debt(state, clock) + bucket_units(n, cost);
	out->allowed = debt <= n->capacity;
	out->state = out->allowed && cost ? clock + debt : state;
}

/* The rest of algo.h's operations, for buckets. */
uint64_t bucket_settle(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost);
uint64_t bucket_punish(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost);
uint64_t bucket_give_back(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t charged_at,
			  uint32_t cost);
void bucket_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost, bool charged,
		     struct algo_report *out);
uint64_t bucket_rank(const struct algo_numbers *n, uint64_t state);
uint64_t bucket_window_ns(const struct algo_numbers *n);
bool bucket_valid(const struct algo_numbers *n);

#endif
