/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_req: nginx's own leaky bucket, to the bit.
 *
 * nginx keeps two numbers for a key: excess, in thousandths of a request, and the ms of the last request that passed. With
 * rate in thousandths a second a request at `now` finds
 *
 *     excess' = max(excess - floor(rate * (now - last) / 1000) + 1000, 0)
 *
 * and passes if that is at most burst * 1000; then excess = excess', last = now. A key that is not known has excess'
 * = 0. One number says the same: W = 1000 * (excess + 1000) + rate * last, the virtual time, in millionths of a request,
 * at which the key is as good as unknown. Since excess is whole,
 *
 *     excess' + 1000 = ceil(max(W - rate * now, 0) / 1000) + 1000
 *
 * whatever `last` was: a bucket whose debt is rounded up to thousandths before each request. So the word is a
 * bucket's, absent is recovered, and the first free request is the one of capacity burst + 1.
 *
 * Not carried over from nginx: time that goes back. nginx counts it as none (a worker's clock is late) or, by more
 * than a minute, as 1 ms; table time does not go back, and a late clock gives nothing. Nor what a rate that changes does
 * to the past: nginx lets a key drain at the new one since `last`, here it is the old one until the word is carried over.
 */
#ifndef WEIR_ALGO_LIMIT_REQ_H
#define WEIR_ALGO_LIMIT_REQ_H

#include "algo/algo.h"

#define LIMIT_REQ_REQUEST UINT64_C(1000000) /* units of one request on ALGO_CLOCK_MS */
#define LIMIT_REQ_ROUND	  UINT64_C(1000)    /* and of what nginx counts in */

/* Units of one request: of the clock, or what the numbers say. Never 0. */
static inline uint64_t limit_req_token(const struct algo_numbers *n)
{
	if (n->align == ALGO_CLOCK_MS)
		return LIMIT_REQ_REQUEST;
	return n->scale ? n->scale : UINT64_C(1000000000);
}

/* Virtual time at `now`; below 2^60 (1,000 r/s) or `now` itself. */
static inline uint64_t limit_req_clock(const struct algo_numbers *n, uint64_t now)
{
	return n->align == ALGO_CLOCK_MS ? n->scale * (now / 1000000) : now;
}

/* The operations of algo.h, for this kind. What is given back at once leaves the rounding of the charge behind: less
 * than a thousandth of a request. */
void limit_req_step(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		    struct algo_outcome *out);
uint64_t limit_req_settle(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost);
/* So many units more are owed, whatever they were for; up to ALGO_DEBT_MAX. */
uint64_t limit_req_owe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t units);
uint64_t limit_req_punish(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost);
uint64_t limit_req_give_back(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t charged_at,
			     uint32_t cost);
uint64_t limit_req_excess(const struct algo_numbers *n, uint64_t state, uint64_t now, bool charged);
void limit_req_bounded(const struct algo_numbers *n, const struct algo_bound *bound,
		       struct algo_numbers *out);
void limit_req_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
			bool charged, struct algo_report *out);
uint64_t limit_req_rank(const struct algo_numbers *n, uint64_t state);
uint64_t limit_req_debt(const struct algo_numbers *n, uint64_t state,
			uint64_t now); /* rounded as nginx does */
/* From these numbers to others of the kind: the same excess in requests, as nginx keeps it; a counter whose asker says
 * the rate keeps its time. Rounded towards more. */
uint64_t limit_req_carry(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
			 uint64_t now);
/* Numbers whose asker says what a request takes: only the time is known of their word. */
static inline bool limit_req_asks(const struct algo_numbers *n)
{
	return n->align == ALGO_CLOCK_NS && n->scale == 0;
}
/* Numbers of one request, whose askers may have any burst, also at times when nobody says it: what their word owes may be
 * far beyond the capacity and is believed all the same (table/snapshot_judge.c). No others let wait for all of it. */
static inline void limit_req_let_ask(struct algo_numbers *n)
{
	n->at_once = n->capacity;
}
static inline bool limit_req_asks_burst(const struct algo_numbers *n)
{
	return n->capacity && n->at_once == n->capacity;
}
uint64_t limit_req_window_ns(const struct algo_numbers *n);
bool limit_req_valid(const struct algo_numbers *n);

#endif
