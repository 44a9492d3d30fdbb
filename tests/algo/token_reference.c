/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * token_reference: the token bucket against buckets that hold exact fractions of tokens, over random rates,
 * bursts, costs, pauses and give-backs.
 *
 * The reference counts tokens in 1/period parts, as 128-bit integers: a nanosecond adds `count` parts, a
 * token is `period` of them. What it has room for must pass, always; what passes may exceed it by the
 * rounding of the virtual clock only: one unit for its floor and a quarter for its rate. A bucket polled
 * every nanosecond can lose no fraction, or the first claim breaks.
 */
#include "tests/algo/common.h"

struct reference {
	big parts, full, part, token; /* level, most, added per ns, of one token */
	uint64_t at;
};

static struct reference reference_new(uint32_t count, uint64_t period, uint32_t burst)
{
	big full = (big)burst * period;
	return (struct reference){full, full, count, period, 0};
}

static void refill(struct reference *r, uint64_t now)
{
	r->parts += (big)(now - r->at) * r->part;
	r->at = now;
	if (r->parts > r->full)
		r->parts = r->full;
}

/* A pause worth looking at: nothing, a few ns, about what the next cost needs, a long rest. */
static uint64_t pause_ns(const struct reference *r, uint32_t cost)
{
	big missing = (big)cost * r->token - r->parts;
	uint64_t until = missing > 0 ? (uint64_t)((missing + r->part - 1) / r->part) : 0;
	switch (random_below(8)) {
	case 0:
		return 0;
	case 1:
		return random_below(4);
	case 2:
		return random_size(1 + (uint64_t)(r->full / r->part));
	case 3:
	case 4:
		return until;
	case 5:
		return until ? until - 1 : 0;
	default:
		return random_below(2 * (uint64_t)(r->token / r->part) + 2);
	}
}

int main(void)
{
	struct claim room = {"what the exact bucket has room for passes", 0, 0};
	struct claim over = {"what passes exceeds the exact bucket by at most the rounding", 0, 0};
	struct claim tight = {"what is refused did not fit", 0, 0};
	struct claim left = {"remaining: the whole tokens of the exact bucket, to the rounding", 0, 0};
	struct claim back = {"a give-back at once restores the bucket", 0, 0};

	for (int run = 0; run < 16000; run++) {
		uint32_t count, burst = (uint32_t)random_size(ALGO_BURST_MAX);
		uint64_t period;
		struct algo_numbers n;
		random_rate(&count, &period);
		if (!algo_token_bucket(count, period, burst, &n)) {
			ok(false, "numbers in range are built");
			return done_testing();
		}
		struct reference r = reference_new(count, period, burst);
		struct algo_time t = {random_size(ALGO_TIME_MAX / 4), 0};
		r.at = t.now;
		uint64_t state = 0;
		/* 1.25 units in parts, rounded up */
		big rounding = ((big)5 * (big)period >> (n.shift + 2)) + 1;
		for (int step = 0; step < 300; step++) {
			uint32_t cost = (uint32_t)random_size(burst);
			if (random_below(2))
				cost = 1;
			if (random_below(64) == 0)
				cost = burst + 1;
			uint64_t pause = pause_ns(&r, cost);
			if (pause > ALGO_TIME_MAX / 2 - t.now)
				break;
			t.now += pause;
			refill(&r, t.now);

			struct algo_report report;
			algo_describe(&n, state, &t, 1, false, &report);
			big whole = r.parts < 0 ? 0 : r.parts / r.token;
			claim(&left, report.remaining == whole || (report.remaining == whole + 1 &&
								   (r.parts + rounding) / r.token > whole));

			struct algo_outcome outcome;
			algo_step(&n, state, &t, cost, &outcome);
			big after = r.parts - (big)cost * r.token;
			if (after >= 0)
				claim(&room, outcome.allowed);
			if (outcome.allowed)
				claim(&over, after >= -rounding);
			else
				claim(&tight, after < 0 && outcome.state == state);
			if (!outcome.allowed)
				continue;
			if (random_below(8) == 0) {
				uint64_t given = algo_give_back(&n, outcome.state, &t, t.now, cost);
				struct algo_report before, now;
				algo_describe(&n, state, &t, 1, false, &before);
				algo_describe(&n, given, &t, 1, false, &now);
				claim(&back, before.remaining == now.remaining &&
						     before.full_ns == now.full_ns &&
						     before.wait_ns == now.wait_ns);
				state = given;
			} else {
				state = outcome.state;
				r.parts = after;
			}
		}
	}
	claim_end(&room, 2000000);
	claim_end(&over, 2000000);
	claim_end(&tight, 1000000);
	claim_end(&left, 1000000);
	claim_end(&back, 100000);
	return done_testing();
}
