/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leaky_reference: the leaky bucket against a schedule of departures in exact fractions, and against the
 * integer arithmetic that nginx documents for limit_req.
 *
 * The schedule knows no debts: each request is given the time at which the drain is free for it. Times are
 * counted in 1/count ns, where one departure takes `period`.
 */
#include "tests/algo/common.h"

struct schedule {
	big free_at; /* when the drain is free again */
};

/* How long before `cost` would have its turn, in 1/count ns. */
static big turn(const struct schedule *s, big now)
{
	return s->free_at > now ? s->free_at - now : 0;
}

static void against_schedule(void)
{
	struct claim room = {"what the schedule has room for is admitted", 0, 0};
	struct claim over = {"what is admitted fits the schedule but for the rounding", 0, 0};
	struct claim delay = {"its delay is the schedule's, never longer, shorter by the rounding at most", 0,
			      0};
	struct claim never = {"beyond the end of time it is at least as long as that", 0, 0};
	struct claim patience = {"nobody waits longer than max_wait", 0, 0};
	struct claim even = {"departures are evenly spaced", 0, 0};

	for (int run = 0; run < 16000; run++) {
		uint32_t count, queue = (uint32_t)random_size(ALGO_BURST_MAX) - 1;
		uint64_t period;
		random_rate(&count, &period);
		uint32_t at_once = random_below(2) ? 0 : (uint32_t)random_below(queue + UINT64_C(1));
		uint64_t each = period / count + 1; /* ns of one departure */
		uint64_t max_wait = random_below(2) ? 0
						    : random_size(UINT64_MAX / 2 / each > queue
									  ? each * (queue + UINT64_C(1))
									  : each);
		struct algo_numbers n;
		if (!algo_leaky_bucket(count, period, queue, at_once, max_wait, &n)) {
			ok(false, "numbers in range are built");
			return;
		}
		struct schedule s = {0};
		struct algo_time t = {random_size(ALGO_TIME_MAX / 4), 0};
		uint64_t state = 0;
		big last = -(big)period,
		    rounding = ((big)5 * (big)period >> (n.shift + 2)) + 1; /* 1.25 units */
		uint32_t last_cost = 1;
		for (int step = 0; step < 300; step++) {
			uint32_t cost = random_below(4) ? 1
							: (uint32_t)random_size(
								  random_below(2) ? 8 : queue + UINT64_C(1));
			uint64_t pause = random_below(3)    ? random_below(2 * each)
					 : random_below(64) ? 0
							    : random_size(each * 4);
			if (pause > ALGO_TIME_MAX / 2 - t.now)
				break;
			t.now += pause;
			big now = (big)t.now * count, wait = turn(&s, now), patient = (big)max_wait * count;
			/* cost 1 has cost - 1 places behind its own turn */
			bool fits = wait + (big)(cost - 1) * (big)period <= (big)queue * (big)period;
			bool soon = !max_wait ||
				    wait + (big)(cost - 1) * (big)period - (big)at_once * (big)period <=
					    patient;

			struct algo_outcome outcome;
			algo_step(&n, state, &t, cost, &outcome);
			/* whether a wait of almost exactly max_wait is too long depends on where in a unit we
			 * are */
			bool edge = max_wait &&
				    wait + (big)(cost - 1) * (big)period - (big)at_once * (big)period >
					    patient - rounding;
			if (fits && soon && !edge)
				claim(&room, outcome.allowed);
			if (!outcome.allowed)
				continue;
			claim(&over,
			      wait + (big)(cost - 1) * (big)period <= (big)queue * (big)period + rounding);
			state = outcome.state;
			s.free_at = now + wait + (big)cost * (big)period;

			struct algo_report report;
			algo_describe(&n, state, &t, cost, true, &report);
			big expected = wait - (big)at_once * (big)period;
			if (expected < 0)
				expected = 0;
			big got = (big)report.delay_ns * count;
			if ((now + expected) / count >=
			    (big)ALGO_TIME_MAX) { /* turns that table time never sees */
				claim(&never, report.delay_ns >= ALGO_TIME_MAX - t.now);
				continue;
			}
			claim(&delay, got < expected + count && got >= expected - rounding);
			if (max_wait)
				claim(&patience, report.delay_ns <= max_wait);
			if (at_once == 0) {
				claim(&even, now + got - last >
						     (big)last_cost * (big)period - rounding - (big)count);
				last = now + got;
				last_cost = cost;
			}
		}
	}
	claim_end(&room, 800000);
	claim_end(&over, 800000);
	claim_end(&delay, 800000);
	claim_end(&never, 1000);
	claim_end(&patience, 400000);
	claim_end(&even, 400000);
}

/* limit_req in its own units: thousandths of a request and milliseconds. The very first request has no
 * excess. */
struct limit_req {
	int64_t excess, last_ms;
	bool known;
};

static int64_t limit_req(struct limit_req *z, int64_t rate, int64_t burst, int64_t delay, int64_t now_ms)
{
	int64_t excess = z->known ? z->excess - rate * (now_ms - z->last_ms) + 1000 : 0;
	if (excess < 0)
		excess = 0;
	if (excess > burst * 1000)
		return -1;
	*z = (struct limit_req){excess, now_ms, true};
	return excess <= delay * 1000 ? 0 : (excess - delay * 1000) / rate;
}

static void against_nginx(void)
{
	struct claim same = {"admitted and delayed as limit_req does, to the millisecond", 0, 0};
	struct claim refused = {"refused as limit_req does", 0, 0};
	for (int run = 0; run < 8000; run++) {
		uint32_t rate = (uint32_t)random_size(1000), queue = (uint32_t)random_below(40);
		uint32_t at_once = random_below(2) ? 0 : (uint32_t)random_below(queue + 1u);
		struct algo_numbers n = {0};
		algo_leaky_bucket(rate, SECOND, queue, at_once, 0, &n);
		struct limit_req z = {0};
		struct algo_time t = {random_below(1000) * SECOND, 0};
		uint64_t state = 0;
		for (int step = 0; step < 300; step++) {
			t.now += random_below(4) ? random_below(1500 / rate + 2) * MS : 0;
			struct algo_outcome outcome;
			struct algo_report report;
			algo_step(&n, state, &t, 1, &outcome);
			state = outcome.state;
			algo_describe(&n, state, &t, 1, true, &report);
			int64_t expected = limit_req(&z, rate, queue, at_once, (int64_t)(t.now / MS));
			if (expected < 0)
				claim(&refused, !outcome.allowed);
			else /* our delay may be 1 ns short of a whole millisecond */
				claim(&same,
				      outcome.allowed && (int64_t)((report.delay_ns + 1) / MS) == expected);
		}
	}
	claim_end(&same, 800000);
	claim_end(&refused, 400000);
}

int main(void)
{
	against_schedule();
	against_nginx();
	return done_testing();
}
