/* SPDX-License-Identifier: BSD-2-Clause */
/* bucket: building the numbers of a bucket, and everything about one that is not the hot path. */
#include "algo/bucket.h"

#define YEAR_NS	   (UINT64_C(366) * 86400 * 1000000000)
#define FASTEST_NS UINT64_C(1000) /* one token per 1,000 ns: 1,000,000 per second */

static bool rate_in_range(uint32_t count, uint64_t period_ns)
{
	if (count > ALGO_BURST_MAX || period_ns == 0)
		return false;
	if (count == 0)
		return period_ns <= YEAR_NS;
	return count * FASTEST_NS <= period_ns && period_ns <= (wide)count * YEAR_NS;
}

/* The finest unit in which the capacity stays below BUCKET_CAPACITY_MAX and the virtual clock slower than
 * table time, so that it stays below 2^60 and `scale` fits. At least 9: a token of 1,000 ns is then 512
 * units. */
static void choose_unit(uint32_t count, uint64_t period_ns, uint32_t tokens, struct algo_numbers *n)
{
	unsigned shift = BUCKET_SHIFT_MAX;
	while (((uint64_t)tokens << shift) > BUCKET_CAPACITY_MAX || ((uint64_t)count << shift) >= period_ns)
		shift--;
	n->shift = (uint8_t)shift;
	n->scale = wide_ceil((wide)count << (shift + 64), period_ns);
	n->inverse = wide_ceil((wide)1 << 96, n->scale);
	n->capacity = (uint64_t)tokens << shift;
}

bool algo_token_bucket(uint32_t count, uint64_t period_ns, uint32_t burst, struct algo_numbers *out)
{
	if (!rate_in_range(count, period_ns) || burst < 1 || burst > ALGO_BURST_MAX)
		return false;
	struct algo_numbers n = {.kind = ALGO_TOKEN_BUCKET, .quantity = count};
	if (count)
		choose_unit(count, period_ns, burst, &n);
	*out = n;
	return true;
}

bool algo_leaky_bucket(uint32_t count, uint64_t period_ns, uint32_t queue, uint32_t at_once,
		       uint64_t max_wait_ns, struct algo_numbers *out)
{
	if (!rate_in_range(count, period_ns) || queue >= ALGO_BURST_MAX || at_once > queue)
		return false;
	struct algo_numbers n = {.kind = ALGO_LEAKY_BUCKET, .quantity = count};
	if (count) {
		choose_unit(count, period_ns, queue + 1, &n);
		n.at_once = (uint64_t)at_once << n.shift;
	}
	/* What waits longer than max_wait stands behind more than at_once + what drains meanwhile: a shorter
	 * queue. */
	if (count && max_wait_ns) {
		wide patient = (wide)n.at_once + bucket_clock(&n, max_wait_ns) + (UINT64_C(1) << n.shift);
		if (patient < n.capacity)
			n.capacity = (uint64_t)patient;
	}
	*out = n;
	return true;
}

/* Until the virtual clock shows `clock`, which it does not yet at `now`. The first such time is exact. */
static uint64_t time_until(const struct algo_numbers *n, uint64_t clock, uint64_t now)
{
	if (n->scale == 0)
		return ALGO_NEVER;
	uint64_t at = wide_ceil((wide)clock << 64, n->scale);
	return at == ALGO_NEVER ? ALGO_NEVER : at - now;
}

/* Saturated, the word is below 2^60 of virtual time + 2^60 of debt: bit 62 stays 0. */
uint64_t bucket_settle(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost)
{
	uint64_t clock = bucket_clock(n, now);
	uint64_t debt = bucket_debt(state, clock), owed = debt + bucket_units(n, cost);
	if (owed > ALGO_DEBT_MAX)
		owed = ALGO_DEBT_MAX;
	return owed > debt ? clock + owed : state;
}

uint64_t bucket_punish(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost)
{
	uint64_t clock = bucket_clock(n, now);
	uint64_t debt = bucket_debt(state, clock), filled = debt + bucket_units(n, cost);
	if (filled > n->capacity)
		filled = n->capacity;
	return filled > debt ? clock + filled : state;
}

uint64_t bucket_give_back(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t charged_at,
			  uint32_t cost)
{
	/* What has drained since may have been this very cost, and forgotten if the bucket was whole in
	 * between. Only what cannot have drained is surely still in the debt: giving back more would let
	 * others have it a second time. */
	uint64_t clock = bucket_clock(n, now), then = bucket_clock(n, charged_at);
	uint64_t drained = clock > then ? clock - then : 0, owed = bucket_units(n, cost);
	uint64_t debt = bucket_debt(state, clock);
	owed = owed > drained ? owed - drained : 0;
	if (debt == 0 || owed == 0)
		return state;
	return debt > owed ? state - owed : 0;
}

void bucket_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost, bool charged,
		     struct algo_report *out)
{
	uint64_t clock = bucket_clock(n, now), units = bucket_units(n, cost);
	uint64_t debt = bucket_debt(state, clock);

	out->limit = (uint32_t)(n->capacity >> n->shift);
	out->remaining = debt < n->capacity ? (uint32_t)((n->capacity - debt) >> n->shift) : 0;
	out->full_ns = debt ? time_until(n, state, now) : 0;
	out->delay_ns = 0;
	if (units > n->capacity)
		out->wait_ns = ALGO_NEVER;
	else
		out->wait_ns = debt + units > n->capacity ? time_until(n, state - (n->capacity - units), now)
							  : 0;
	/* Its turn comes when the debt that stood before it has fallen to what need not wait. */
	uint64_t ahead = units + n->at_once;
	if (charged && n->kind == ALGO_LEAKY_BUCKET && debt > ahead)
		out->delay_ns = time_until(n, state - ahead, now);
}

uint64_t bucket_rank(const struct algo_numbers *n, uint64_t state)
{
	wide at = (wide)state * n->inverse >> 32;
	return at > UINT64_MAX ? UINT64_MAX : (uint64_t)at;
}

uint64_t bucket_window_ns(const struct algo_numbers *n)
{
	return n->scale ? wide_ceil((wide)n->capacity << 64, n->scale) : 0;
}

bool bucket_valid(const struct algo_numbers *n)
{
	return n->shift <= BUCKET_SHIFT_MAX && n->capacity <= BUCKET_CAPACITY_MAX &&
	       n->at_once <= n->capacity && (n->capacity >> n->shift) <= ALGO_BURST_MAX;
}
