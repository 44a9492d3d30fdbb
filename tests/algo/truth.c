/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth: what is told to a client is true to the nanosecond. For random counters of every kind in random
 * states: after wait_ns the request is allowed, one nanosecond earlier it is not; after full_ns the word is
 * recovered, not earlier; `remaining` requests fit one after another, one more does not.
 */
#include "tests/algo/random_counter.h"

static bool allowed(const struct algo_numbers *n, uint64_t state, struct algo_time t, uint64_t later,
		    uint32_t cost)
{
	struct algo_outcome outcome;
	t.now += later;
	algo_step(n, state, &t, cost, &outcome);
	return outcome.allowed;
}

static struct claim waits = {"after the wait it is allowed, a nanosecond earlier it is not", 0, 0};
static struct claim none = {"no wait: allowed now", 0, 0};
static struct claim never = {"never: not even at the end of time", 0, 0};
static struct claim reset = {"recovered after full_ns, not earlier", 0, 0};
static struct claim remaining = {"remaining is what fits, and no more", 0, 0};
static struct claim turns = {"a delay ends when what stood before it has drained", 0, 0};
static struct claim early = {"whoever is charged first and described afterwards is told the same wait", 0, 0};
static struct claim used = {"the share used is what it is, to 2^-30, and never falls with use", 0, 0};
static struct claim rank = {"the rank is the time of recovery, to 2^-30", 0, 0};

/* Against the division of 128 bits, and against one more request. */
static void tell_share(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	big all, spent = random_used(n, state, t->now, &all);
	uint64_t told = algo_used(n, state, t->now), share = UINT32_MAX;
	struct algo_outcome more;
	if (spent < all)
		share = (uint64_t)((spent << 32) / all);
	claim(&used, told <= share + 4 && share <= told + 4 && (spent > 0 || told == 0) &&
			     (spent < all || spent == 0 || told == UINT32_MAX));
	algo_step(n, state, t, cost, &more);
	claim(&used, algo_used(n, more.state, t->now) >= told);
}

static void tell(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	struct algo_report report;
	algo_describe(n, state, t, cost, false, &report);
	if (report.wait_ns == ALGO_NEVER) {
		uint64_t end = ALGO_TIME_MAX - 1 - t->now;
		claim(&never, !allowed(n, state, *t, 0, cost) && !allowed(n, state, *t, end, cost));
	} else if (report.wait_ns) {
		claim(&waits, allowed(n, state, *t, report.wait_ns, cost) &&
				      !allowed(n, state, *t, report.wait_ns - 1, cost) &&
				      !allowed(n, state, *t, 0, cost));
	} else {
		claim(&none, allowed(n, state, *t, 0, cost));
	}

	if (report.full_ns == 0)
		claim(&reset, algo_recovered(n, state, t->now));
	else if (report.full_ns != ALGO_NEVER)
		claim(&reset, algo_recovered(n, state, t->now + report.full_ns) &&
				      !algo_recovered(n, state, t->now + report.full_ns - 1));
	else
		claim(&reset, !algo_recovered(n, state, ALGO_TIME_MAX));

	if (report.full_ns && report.full_ns != ALGO_NEVER) {
		uint64_t at = t->now + report.full_ns, told = algo_rank(n, state),
			 off = at > told ? at - told : told - at;
		claim(&rank, off <= (at >> 30) + 1);
	}

	/* one request of that cost, or that many of cost 1: the same */
	uint32_t most = report.remaining < ALGO_BURST_MAX ? report.remaining : ALGO_BURST_MAX;
	claim(&remaining, most == 0 || allowed(n, state, *t, 0, most));
	if (report.remaining < ALGO_BURST_MAX)
		claim(&remaining, !allowed(n, state, *t, 0, report.remaining + 1));
}

static void tell_delay(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	struct algo_outcome outcome;
	struct algo_report report;
	algo_step(n, state, t, cost, &outcome);
	if (!outcome.allowed || cost == 0)
		return;
	algo_describe(n, outcome.state, t, cost, true, &report);
	uint64_t before = bucket_debt(state, bucket_clock(n, t->now));
	uint64_t mark = bucket_clock(n, t->now) +
			before; /* virtual time at which all before it has drained */
	if (n->kind != ALGO_LEAKY_BUCKET || before <= n->at_once)
		claim(&turns, report.delay_ns == 0);
	else if (report.delay_ns == ALGO_NEVER)
		claim(&turns, bucket_clock(n, UINT64_MAX - 1) < mark - n->at_once);
	else
		claim(&turns, bucket_clock(n, t->now + report.delay_ns) >= mark - n->at_once &&
				      bucket_clock(n, t->now + report.delay_ns - 1) < mark - n->at_once);
	struct algo_report next;
	algo_describe(n, outcome.state, t, cost, false, &next);
	claim(&early,
	      next.wait_ns == report.wait_ns && next.remaining == report.remaining && next.delay_ns == 0);
}

int main(void)
{
	for (int run = 0; run < 60000; run++) {
		uint64_t each;
		struct algo_numbers n = random_numbers(random_kind(run), &each);
		struct algo_time t = {random_below(ALGO_TIME_MAX - 4 * YEAR),
				      (int64_t)random_below(YEAR * 50)};
		uint64_t state = random_use(&n, each, &t, (int)random_below(12));
		for (int i = 0; i < 8; i++) {
			uint32_t cost = i ? random_cost(&n) : 0;
			tell(&n, state, &t, cost);
			tell_share(&n, state, &t, cost);
			if (is_bucket(&n))
				tell_delay(&n, state, &t, cost);
			/* a clock that is a little late hears the truth too */
			if (t.now > SECOND && random_below(4) == 0)
				t.now -= random_below(SECOND);
		}
		/* after a settlement more may be used than there is */
		if (is_bucket(&n))
			state = bucket_clock(&n, t.now) + random_size(ALGO_DEBT_MAX);
		for (int i = (int)random_below(3); i > 0; i--)
			state = algo_settle(&n, state, &t, (uint32_t)random_size(ALGO_BURST_MAX));
		tell(&n, state, &t, random_cost(&n));
		tell_share(&n, state, &t, 1);
	}
	claim_end(&waits, 100000);
	claim_end(&none, 100000);
	claim_end(&never, 5000);
	claim_end(&reset, 400000);
	claim_end(&remaining, 400000);
	claim_end(&turns, 80000);
	claim_end(&early, 80000);
	claim_end(&rank, 100000);
	claim_end(&used, 400000);
	return done_testing();
}
