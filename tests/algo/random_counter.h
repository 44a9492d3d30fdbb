/* SPDX-License-Identifier: BSD-2-Clause */
/* random_counter: numbers of any kind as the builders make them, and words as requests leave them behind. */
#ifndef WEIR_TESTS_ALGO_RANDOM_COUNTER_H
#define WEIR_TESTS_ALGO_RANDOM_COUNTER_H

#include "tests/algo/common.h"

#include "algo/bucket.h"
#include "algo/limit_req.h"
#include "algo/window.h"

#define KINDS 5 /* those whose words say it all */

static inline enum algo_kind random_kind(int i) /* in turn */
{
	static const enum algo_kind kinds[KINDS] = {ALGO_TOKEN_BUCKET, ALGO_LEAKY_BUCKET, ALGO_FIXED_WINDOW,
						    ALGO_SLIDING_WINDOW, ALGO_LIMIT_REQ};
	return kinds[i % KINDS];
}

static inline bool is_bucket(const struct algo_numbers *n)
{
	return n->kind == ALGO_TOKEN_BUCKET || n->kind == ALGO_LEAKY_BUCKET;
}

/* What is used, and *all of it in the same parts. Of a sliding window, by division: parts of 1/period. */
static inline big random_used(const struct algo_numbers *n, uint64_t state, uint64_t now, big *all)
{
	*all = (big)n->capacity;
	if (n->kind == ALGO_FIXED_WINDOW)
		return window_used(n, state, now);
	if (n->kind == ALGO_LIMIT_REQ)
		return (big)limit_req_debt(n, state, now);
	if (is_bucket(n))
		return (big)bucket_debt(state, bucket_clock(n, now));
	uint64_t mask = (UINT64_C(1) << n->count_bits) - 1, stored = state >> 2 * n->count_bits;
	uint64_t index = now / n->scale, elapsed = now % n->scale;
	big current = (big)(state & mask), previous = (big)(state >> n->count_bits & mask);
	*all *= n->scale;
	if (index < stored)
		elapsed = 0;
	if (index > stored + 1)
		return 0;
	return index > stored ? current * (big)(n->scale - elapsed)
			      : previous * (big)(n->scale - elapsed) + current * (big)n->scale;
}

/* Of nginx: on either clock, of the ns one sometimes with a rate that only the asker knows. */
static inline bool random_limit_req(uint32_t *count, uint64_t *period, struct algo_numbers *out)
{
	uint32_t burst = (uint32_t)random_size(ALGO_BURST_MAX) - 1;
	uint32_t at_once = (uint32_t)random_below(burst + UINT64_C(1));
	uint64_t choice = random_below(8);
	if (choice == 0) {
		*count = 1, *period = SECOND;
		return algo_limit_req_exact(0, 0, burst, at_once, out);
	}
	if (choice < 4)
		return algo_limit_req_exact(*count, *period, burst, at_once, out);
	*period = choice < 6 ? SECOND : MINUTE;
	*count = (uint32_t)random_size(*period / MS);
	return algo_limit_req(*count, *period, burst, at_once, out);
}

/* A counter of that kind. *each: about how long one unit of it takes to come back. */
static inline struct algo_numbers random_numbers(enum algo_kind kind, uint64_t *each)
{
	struct algo_numbers n = {0};
	uint32_t count;
	uint64_t period;
	bool built;
	random_rate(&count, &period);
	*each = period / count + 1;
	if (kind == ALGO_TOKEN_BUCKET) {
		built = algo_token_bucket(count, period, (uint32_t)random_size(ALGO_BURST_MAX), &n);
	} else if (kind == ALGO_LEAKY_BUCKET) {
		uint32_t queue = (uint32_t)random_size(ALGO_BURST_MAX) - 1;
		uint64_t max_wait = random_below(2) ? 0 : random_size(1000 * *each);
		built = algo_leaky_bucket(count, period, queue, (uint32_t)random_below(queue + UINT64_C(1)),
					  max_wait, &n);
	} else if (kind == ALGO_LIMIT_REQ) {
		built = random_limit_req(&count, &period, &n);
		*each = period / count + 1;
	} else {
		period = MS + random_size(400 * DAY - MS);
		uint64_t most = period / 1000 < ALGO_COUNT_MAX ? period / 1000 : ALGO_COUNT_MAX;
		while (kind == ALGO_SLIDING_WINDOW && !algo_sliding_window((uint32_t)most, period, &n))
			most /= 2;
		count = (uint32_t)random_size(most);
		*each = period / count + 1;
		built = kind == ALGO_SLIDING_WINDOW
				? algo_sliding_window(count, period, &n)
				: algo_fixed_window(count, period, (enum algo_align)random_below(7), &n);
	}
	if (!built)
		ok(false, "numbers in range are built");
	return n;
}

/* Most that a request of this counter can cost without being hopeless; hopeless ones come too, rarely. */
static inline uint32_t random_cost(const struct algo_numbers *n)
{
	uint64_t capacity = is_bucket(n)		? n->capacity >> n->shift
			    : n->kind == ALGO_LIMIT_REQ ? n->capacity / limit_req_token(n)
							: n->capacity;
	if (capacity > ALGO_BURST_MAX - 1)
		capacity = ALGO_BURST_MAX - 1;
	if (random_below(32) == 0)
		return (uint32_t)capacity + 1;
	return random_below(3) ? (uint32_t)random_size(capacity ? capacity : 1) : 1;
}

/* A little use: requests at random times from t->now on, which moves. */
static inline uint64_t random_use(const struct algo_numbers *n, uint64_t each, struct algo_time *t, int steps)
{
	uint64_t state = 0;
	for (int i = 0; i < steps; i++) {
		struct algo_outcome outcome;
		algo_step(n, state, t, random_cost(n), &outcome);
		state = outcome.state;
		uint64_t pause = random_below(3) ? random_below(each * 2) : 0;
		if (t->now + pause < ALGO_TIME_MAX - 3 * YEAR)
			t->now += pause;
	}
	return state;
}

#endif
