/* SPDX-License-Identifier: BSD-2-Clause */
/* algo: each operation handed to the kind of counter it is for. Whatever is no other kind is a bucket. A log's word
 * is only the ring's, and a concurrent limit has none: what they count the table knows. */
#include "algo/algo.h"

#include "algo/ban.h"
#include "algo/bucket.h"
#include "algo/concurrent.h"
#include "algo/limit_req.h"
#include "algo/log.h"
#include "algo/sliding.h"
#include "algo/step.h"
#include "algo/window.h"

void step_other(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		struct algo_outcome *out)
{
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		window_step(n, state, t, cost, out);
		break;
	case ALGO_SLIDING_WINDOW:
		sliding_step(n, state, t->now, cost, out);
		break;
	case ALGO_LIMIT_REQ:
		limit_req_step(n, state, t->now, cost, out);
		break;
	case ALGO_BAN:
		*out = (struct algo_outcome){.state = state,
					     .allowed = cost == 0 || t->now >= ban_until(state)};
		break;
	default:
		*out = (struct algo_outcome){.state = state, .allowed = cost == 0};
	}
}

void algo_step(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
	       struct algo_outcome *out)
{
	step_inline(n, state, t, cost, out);
}

uint64_t algo_settle(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	if (n->capacity == 0) /* what lets nothing pass has nothing to remember */
		return state;
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		return window_settle(n, state, t, cost);
	case ALGO_SLIDING_WINDOW:
		return sliding_settle(n, state, t->now, cost);
	case ALGO_LIMIT_REQ:
		return limit_req_settle(n, state, t->now, cost);
	case ALGO_SLIDING_LOG:
	case ALGO_CONCURRENT:
	case ALGO_BAN:
		return state;
	default:
		return bucket_settle(n, state, t->now, cost);
	}
}

uint64_t algo_punish(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		return window_punish(n, state, t, cost);
	case ALGO_SLIDING_WINDOW:
		return sliding_punish(n, state, t->now, cost);
	case ALGO_LIMIT_REQ:
		return limit_req_punish(n, state, t->now, cost);
	case ALGO_SLIDING_LOG:
	case ALGO_CONCURRENT:
	case ALGO_BAN:
		return state;
	default:
		return bucket_punish(n, state, t->now, cost);
	}
}

uint64_t algo_give_back(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
			uint64_t charged_at, uint32_t cost)
{
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		return window_give_back(n, state, t, charged_at, cost);
	case ALGO_SLIDING_WINDOW:
		return sliding_give_back(n, state, t->now, charged_at, cost);
	case ALGO_LIMIT_REQ:
		return limit_req_give_back(n, state, t->now, charged_at, cost);
	case ALGO_SLIDING_LOG:
	case ALGO_CONCURRENT:
	case ALGO_BAN:
		return state;
	default:
		return bucket_give_back(n, state, t->now, charged_at, cost);
	}
}

void algo_describe(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		   bool charged, struct algo_report *out)
{
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		window_describe(n, state, t->now, cost, out);
		break;
	case ALGO_SLIDING_WINDOW:
		sliding_describe(n, state, t->now, cost, out);
		break;
	case ALGO_SLIDING_LOG:
		log_describe(n, state, t->now, cost, out);
		break;
	case ALGO_CONCURRENT:
		concurrent_describe(n, cost, out);
		break;
	case ALGO_BAN:
		ban_describe(n, state, t->now, cost, out);
		break;
	case ALGO_LIMIT_REQ:
		limit_req_describe(n, state, t->now, cost, charged, out);
		break;
	default:
		bucket_describe(n, state, t->now, cost, charged, out);
	}
}

bool algo_recovered(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		return window_end(n, state) <= now;
	case ALGO_SLIDING_WINDOW:
		return sliding_end(n, state) <= now;
	case ALGO_SLIDING_LOG:
		return log_until(n, state) <= now;
	case ALGO_CONCURRENT:
		return true;
	case ALGO_BAN:
		return ban_end(n, state) <= now;
	case ALGO_LIMIT_REQ:
		return state <= limit_req_clock(n, now);
	default:
		return state <= bucket_clock(n, now);
	}
}

uint64_t algo_rank(const struct algo_numbers *n, uint64_t state)
{
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		return window_end(n, state);
	case ALGO_SLIDING_WINDOW:
		return sliding_end(n, state);
	case ALGO_SLIDING_LOG:
		return log_until(n, state);
	case ALGO_CONCURRENT:
		return 0;
	case ALGO_BAN:
		return ban_end(n, state);
	case ALGO_LIMIT_REQ:
		return limit_req_rank(n, state);
	default:
		return bucket_rank(n, state);
	}
}

/* What is used, and in *capacity all of it in the same parts. */
static uint64_t used_of(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t *capacity)
{
	*capacity = n->capacity;
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		return window_used(n, state, now);
	case ALGO_SLIDING_WINDOW:
		return sliding_used(n, state, now, capacity);
	case ALGO_SLIDING_LOG:
		return now < log_until(n, state);
	case ALGO_CONCURRENT:
		return 0;
	case ALGO_BAN:
		return ban_used(n, state, now);
	case ALGO_LIMIT_REQ:
		return limit_req_debt(n, state, now);
	default:
		return bucket_debt(state, bucket_clock(n, now));
	}
}

uint32_t algo_used(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	uint64_t capacity, used = used_of(n, state, now, &capacity);
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
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
	case ALGO_SLIDING_WINDOW:
	case ALGO_SLIDING_LOG:
		return n->scale;
	case ALGO_CONCURRENT:
		return 0;
	case ALGO_BAN:
		return 2 * n->capacity;
	case ALGO_LIMIT_REQ:
		return limit_req_window_ns(n);
	default:
		return bucket_window_ns(n);
	}
}

void algo_bounded(const struct algo_numbers *n, const struct algo_bound *bound, struct algo_numbers *out)
{
	switch (n->kind) {
	case ALGO_LIMIT_REQ:
		limit_req_bounded(n, bound, out);
		break;
	case ALGO_CONCURRENT:
		concurrent_bounded(n, bound, out);
		break;
	default:
		*out = *n;
	}
}

uint64_t algo_excess(const struct algo_numbers *n, uint64_t state, uint64_t now, bool charged)
{
	return n->kind == ALGO_LIMIT_REQ ? limit_req_excess(n, state, now, charged) : 0;
}

bool algo_valid(const struct algo_numbers *n)
{
	switch (n->kind) {
	case ALGO_TOKEN_BUCKET:
	case ALGO_LEAKY_BUCKET:
		return bucket_valid(n);
	case ALGO_FIXED_WINDOW:
		return window_valid(n);
	case ALGO_SLIDING_WINDOW:
		return sliding_valid(n);
	case ALGO_SLIDING_LOG:
		return log_valid(n);
	case ALGO_CONCURRENT:
		return concurrent_valid(n);
	case ALGO_LIMIT_REQ:
		return limit_req_valid(n);
	case ALGO_BAN:
		return ban_valid(n);
	default:
		return false;
	}
}
