/* SPDX-License-Identifier: BSD-2-Clause */
/* limit_req: building the numbers, and what is done with the word. Debts are rounded up before anything is added to
 * them, as nginx truncates what has drained; products go through 128 bits, since a request may take a year. */
#include "algo/limit_req.h"

#include "algo/wide.h"

#define SECOND_NS    UINT64_C(1000000000)
#define MS_NS	     UINT64_C(1000000)
#define TOKEN_NS_MIN UINT64_C(1000)			 /* 1,000,000 per second */
#define TOKEN_NS_MAX (UINT64_C(366) * 86400 * SECOND_NS) /* one per year */
#define RATE_MAX     UINT64_C(1000000)			 /* of the ms clock: 1,000 r/s in thousandths */
#define CAPACITY_MAX (UINT64_C(1) << 59)		 /* half of ALGO_DEBT_MAX */

/* Capacity and at_once in units. A burst that takes longer than 2^59 ns to drain (18 years) is cut to that. */
static void set_bound(struct algo_numbers *n, uint32_t burst, uint32_t at_once)
{
	uint64_t token = limit_req_token(n);
	if (burst >= ALGO_BURST_MAX)
		burst = ALGO_BURST_MAX - 1;
	wide capacity = (wide)token * (burst + 1), free = (wide)token * (at_once < burst ? at_once : burst);
	n->capacity = capacity <= CAPACITY_MAX ? (uint64_t)capacity : CAPACITY_MAX / token * token;
	n->at_once = free < n->capacity ? (uint64_t)free : n->capacity;
}

bool algo_limit_req(uint32_t count, uint64_t period_ns, uint32_t burst, uint32_t at_once,
		    struct algo_numbers *out)
{
	uint64_t seconds = period_ns / SECOND_NS;
	if ((period_ns != SECOND_NS && period_ns != 60 * SECOND_NS) || count > 1000 * seconds ||
	    burst >= ALGO_BURST_MAX || at_once > burst)
		return false;
	struct algo_numbers n = {.kind = ALGO_LIMIT_REQ, .align = ALGO_CLOCK_MS, .quantity = count};
	if (count) {
		n.scale = count * UINT64_C(1000) / seconds;
		set_bound(&n, burst, at_once);
	}
	*out = n;
	return true;
}

bool algo_limit_req_exact(uint32_t count, uint64_t period_ns, uint32_t burst, uint32_t at_once,
			  struct algo_numbers *out)
{
	if (burst >= ALGO_BURST_MAX || at_once > burst)
		return false;
	struct algo_numbers n = {.kind = ALGO_LIMIT_REQ, .align = ALGO_CLOCK_NS, .quantity = count};
	if (count) {
		n.scale = period_ns / count;
		if (n.scale < TOKEN_NS_MIN || period_ns > (wide)count * TOKEN_NS_MAX)
			return false;
	}
	set_bound(&n, burst, at_once);
	*out = n;
	return true;
}

void limit_req_bounded(const struct algo_numbers *n, const struct algo_bound *bound, struct algo_numbers *out)
{
	*out = *n;
	if (n->capacity == 0) /* nothing passes, whoever asks */
		return;
	if (n->align == ALGO_CLOCK_NS && bound->token_ns)
		out->scale = bound->token_ns;
	if (n->align == ALGO_CLOCK_NS) {
		out->scale = limit_req_token(out);
		if (out->scale < TOKEN_NS_MIN)
			out->scale = TOKEN_NS_MIN;
		if (out->scale > TOKEN_NS_MAX)
			out->scale = TOKEN_NS_MAX;
	}
	set_bound(out, bound->burst, bound->at_once);
}

static uint64_t owed_at(uint64_t state, uint64_t clock)
{
	return state > clock ? state - clock : 0;
}

uint64_t limit_req_debt(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	uint64_t owed = owed_at(state, limit_req_clock(n, now));
	return n->align == ALGO_CLOCK_MS ? (owed + LIMIT_REQ_ROUND - 1) / LIMIT_REQ_ROUND * LIMIT_REQ_ROUND
					 : owed;
}

static wide units_of(const struct algo_numbers *n, uint32_t cost)
{
	return (wide)limit_req_token(n) * cost;
}

void limit_req_step(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		    struct algo_outcome *out)
{
	wide owed = units_of(n, cost) + limit_req_debt(n, state, now);
	out->allowed = owed <= n->capacity;
	out->state = out->allowed && cost ? limit_req_clock(n, now) + (uint64_t)owed : state;
}

/* The word with so much owed, if that is more than it says: bounded, since virtual time is below 2^60. */
static uint64_t owing(const struct algo_numbers *n, uint64_t state, uint64_t now, wide owed, uint64_t most)
{
	uint64_t clock = limit_req_clock(n, now), bounded = owed < most ? (uint64_t)owed : most;
	return bounded > owed_at(state, clock) ? clock + bounded : state;
}

uint64_t limit_req_owe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t units)
{
	return units ? owing(n, state, now, (wide)limit_req_debt(n, state, now) + units, ALGO_DEBT_MAX)
		     : state;
}

uint64_t limit_req_settle(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost)
{
	wide units = units_of(n, cost);
	return limit_req_owe(n, state, now, units < ALGO_DEBT_MAX ? (uint64_t)units : ALGO_DEBT_MAX);
}

uint64_t limit_req_punish(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost)
{
	wide owed = units_of(n, cost) + limit_req_debt(n, state, now);
	return cost ? owing(n, state, now, owed, n->capacity) : state;
}

uint64_t limit_req_give_back(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t charged_at,
			     uint32_t cost)
{
	uint64_t clock = limit_req_clock(n, now), then = limit_req_clock(n, charged_at);
	uint64_t drained = clock > then ? clock - then : 0, debt = owed_at(state, clock);
	wide taken = units_of(n, cost);
	if (debt == 0 || taken <= drained)
		return state;
	wide owed = taken - drained;
	return debt > owed ? state - (uint64_t)owed : 0;
}

/* First ns at which the virtual clock shows `clock` or later; ALGO_NEVER: it does not. */
static uint64_t shown_at(const struct algo_numbers *n, uint64_t clock)
{
	if (n->align != ALGO_CLOCK_MS || clock == 0)
		return clock;
	if (n->scale == 0)
		return ALGO_NEVER;
	wide at = (wide)wide_ceil(clock, n->scale) * MS_NS;
	return at < ALGO_NEVER ? (uint64_t)at : ALGO_NEVER;
}

/* Until then; the clock does not show it yet at `now`. */
static uint64_t time_until(const struct algo_numbers *n, uint64_t clock, uint64_t now)
{
	uint64_t at = shown_at(n, clock);
	return at == ALGO_NEVER ? ALGO_NEVER : at - now;
}

/* What waits behind `ahead` units; nginx truncates it to ms. */
static uint64_t delay_of(const struct algo_numbers *n, uint64_t ahead)
{
	if (n->align != ALGO_CLOCK_MS || ahead == 0)
		return ahead;
	if (n->scale == 0)
		return ALGO_NEVER;
	wide delay = (wide)(ahead / n->scale) * MS_NS;
	return delay < ALGO_NEVER ? (uint64_t)delay : ALGO_NEVER;
}

void limit_req_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
			bool charged, struct algo_report *out)
{
	uint64_t token = limit_req_token(n), debt = limit_req_debt(n, state, now);
	wide units = units_of(n, cost);

	out->limit = (uint32_t)(n->capacity / token);
	out->remaining = debt < n->capacity ? (uint32_t)((n->capacity - debt) / token) : 0;
	out->full_ns = debt ? time_until(n, state, now) : 0;
	out->wait_ns = ALGO_NEVER;
	if (units <= n->capacity) {
		uint64_t spare = n->capacity - (uint64_t)units;
		if (n->align == ALGO_CLOCK_MS)
			spare -= spare % LIMIT_REQ_ROUND;
		out->wait_ns = debt > spare ? time_until(n, state - spare, now) : 0;
	}
	out->delay_ns = charged && debt > units + n->at_once
				? delay_of(n, debt - (uint64_t)units - n->at_once)
				: 0;
}

uint64_t limit_req_excess(const struct algo_numbers *n, uint64_t state, uint64_t now, bool charged)
{
	uint64_t token = limit_req_token(n), debt = limit_req_debt(n, state, now);
	if (charged)
		debt = debt > token ? debt - token : 0;
	return wide_ceil((wide)debt * 1000, token);
}

uint64_t limit_req_rank(const struct algo_numbers *n, uint64_t state)
{
	return shown_at(n, state);
}

uint64_t limit_req_carry(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
			 uint64_t now)
{
	uint64_t clock = limit_req_clock(to, now), owed = owed_at(state, limit_req_clock(from, now));
	if (owed == 0 || to->capacity == 0)
		return 0;
	if (limit_req_asks(from) || limit_req_asks(to)) {
		uint64_t at = shown_at(from, state), latest = now + ALGO_DEBT_MAX;
		at = at < latest ? at : latest;
		owed = owed_at(limit_req_clock(to, at + (to->align == ALGO_CLOCK_MS ? MS_NS - 1 : 0)), clock);
	} else {
		owed = wide_ceil((wide)owed * limit_req_token(to), limit_req_token(from));
	}
	return clock + (owed < ALGO_DEBT_MAX ? owed : ALGO_DEBT_MAX);
}

uint64_t limit_req_window_ns(const struct algo_numbers *n)
{
	if (n->align != ALGO_CLOCK_MS)
		return n->capacity;
	return n->scale ? wide_ceil((wide)n->capacity * MS_NS, n->scale) : 0;
}

bool limit_req_valid(const struct algo_numbers *n)
{
	if (n->align > ALGO_CLOCK_NS || n->at_once > n->capacity || n->capacity > CAPACITY_MAX)
		return false;
	if (n->align == ALGO_CLOCK_MS ? n->scale > RATE_MAX
				      : n->scale && (n->scale < TOKEN_NS_MIN || n->scale > TOKEN_NS_MAX))
		return false;
	return n->capacity / limit_req_token(n) <= ALGO_BURST_MAX;
}
