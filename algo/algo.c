/* SPDX-License-Identifier: BSD-2-Clause */
/* algo: each operation handed to the kind of counter it is for. Two arithmetics serve all kinds: buckets and
 * windows. */
#include "algo/algo.h"

#include "algo/bucket.h"
#include "algo/step.h"
#include "algo/window.h"

void algo_step(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
	       struct algo_outcome *out)
{
	step_inline(n, state, t, cost, out);
}

uint64_t algo_punish(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	return n->kind == ALGO_FIXED_WINDOW ? window_punish(n, state, t, cost)
					    : bucket_punish(n, state, t->now, cost);
}

uint64_t algo_give_back(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
			uint64_t charged_at, uint32_t cost)
{
	return n->kind == ALGO_FIXED_WINDOW ? window_give_back(n, state, t, charged_at, cost)
					    : bucket_give_back(n, state, t->now, charged_at, cost);
}

void algo_describe(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		   bool charged, struct algo_report *out)
{
	if (n->kind == ALGO_FIXED_WINDOW)
		window_describe(n, state, t->now, cost, out);
	else
		bucket_describe(n, state, t->now, cost, charged, out);
}

bool algo_recovered(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	return n->kind == ALGO_FIXED_WINDOW ? window_end(n, state) <= now : state <= bucket_clock(n, now);
}

uint64_t algo_rank(const struct algo_numbers *n, uint64_t state)
{
	return n->kind == ALGO_FIXED_WINDOW ? window_end(n, state) : bucket_rank(n, state);
}

uint32_t algo_used(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	uint64_t used = n->kind == ALGO_FIXED_WINDOW ? window_used(n, state, now)
						     : bucket_debt(state, bucket_clock(n, now));
	uint64_t capacity = n->capacity;
	if (used == 0)
		return 0;
	if (used >= capacity)
		return UINT32_MAX;
	/* used < capacity: the top 32 bits of the capacity are exact enough, and a division of 64 bits does */
	unsigned bits = 64 - (unsigned)__builtin_clzll(capacity), shift = bits > 32 ? bits - 32 : 0;
	uint64_t share = (used >> shift << 32) / (capacity >> shift);
	return share > UINT32_MAX ? UINT32_MAX : (uint32_t)share;
}

uint64_t algo_window_ns(const struct algo_numbers *n)
{
	return n->kind == ALGO_FIXED_WINDOW ? n->scale : bucket_window_ns(n);
}

bool algo_valid(const struct algo_numbers *n)
{
	switch (n->kind) {
	case ALGO_TOKEN_BUCKET:
	case ALGO_LEAKY_BUCKET:
		return bucket_valid(n);
	case ALGO_FIXED_WINDOW:
		return window_valid(n);
	default:
		return false;
	}
}
