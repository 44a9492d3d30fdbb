/* SPDX-License-Identifier: BSD-2-Clause */
/* retry: Retry-After is true, for every algorithm, through the whole flow (mission B30). */
#include "tests/flow/world.h"

static const char *const limits[] = {
	"rate: 5/min",
	"rate: 5/min, burst: 1",
	"rate: 7/s, burst: 3",
	"rate: 1000000/s, burst: 2",
	"rate: 1/year, burst: 2, algorithm: token-bucket",
	"rate: 10/min, burst: 9, cost: 4",
	"rate: 2/s, algorithm: leaky-bucket, queue: 3, at_once: 3",
	"rate: 2/s, algorithm: leaky-bucket, queue: 5",
	"rate: 3/s, algorithm: leaky-bucket, queue: 5, wait: 1s",
	"rate: 5/10s, algorithm: fixed-window",
	"rate: 5/10s, algorithm: fixed-window, align: clock",
	"rate: 7/hour, algorithm: fixed-window, cost: 3",
	"rate: 5/10s, algorithm: sliding-window",
	"rate: 7/min, algorithm: sliding-window, cost: 3",
	"rate: 5/10s, algorithm: sliding-log",
	"rate: 7/min, algorithm: sliding-log, cost: 3",
	"rate: 3/day",
	"rate: 3/week",
	"rate: 3/month",
	"rate: [3/s, 5/min]",
	"rate: [2/10s, 3/min], algorithm: fixed-window",
	"rate: 5/min, count_denied: true",
	"rate: 5/10s, algorithm: fixed-window, count_denied: true",
	"rate: 2/s, algorithm: leaky-bucket, queue: 2, count_denied: true",
};

/* Two worlds in step: what the first says is tried in both, a nanosecond early in the one that is asked dry.
 */
static void truth(void)
{
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct world world;
		char policy[256], what[300];
		size_t early = 0, late = 0, rounded = 0, refusals = 0;
		struct door door;
		char room[64];

		snprintf(policy, sizeof policy, "limits:\n  one: {key: ip, %s}\n", limits[i]);
		world_open(&world, policy);
		world_read("GET / from 1.2.3.4", &door, room, sizeof room);
		for (int round = 0; round < 40; round++) {
			struct flow_verdict refused = {0};
			world_pass(&world, pick(1000) * MS + pick(1000000));
			for (int n = 0; n < 50 && refused.action == FLOW_PASS; n++)
				refused = *world_decide(&world, &door, true, false);
			if (refused.action != FLOW_REFUSE)
				continue;
			refusals++;
			rounded += refused.retry_after_s != (refused.wait_ns + SECOND - 1) / SECOND ||
				   refused.retry_after_s < 1;
			world.time.now += refused.wait_ns - 1;
			early += world_decide(&world, &door, true, true)->action != FLOW_REFUSE;
			world.time.now += 1;
			late += world_decide(&world, &door, true, true)->action != FLOW_PASS;
			world.time.now += refused.retry_after_s * SECOND - refused.wait_ns;
			late += world_decide(&world, &door, true, false)->action != FLOW_PASS;
		}
		snprintf(what, sizeof what, "%s: a retry after exactly that long is let in", limits[i]);
		is_u64(late, 0, what);
		is_u64(early, 0, "... a nanosecond earlier it is not");
		is_u64(rounded, 0, "... and Retry-After is that in seconds, rounded up, at least 1");
		is_u64(refusals, 40, "... forty times");
		world_close(&world);
	}
}

static void several(void)
{
	struct world world;
	const struct flow_verdict *verdict;

	/* the longest wait is the one to tell: after the shorter one, the other still refuses */
	world_open(&world, "limits:\n"
			   "  short: {key: ip, rate: 1/s, burst: 1}\n"
			   "  long: {key: ip, rate: 1/min, burst: 1}\n"
			   "  middle: {key: ip, rate: 1/10s, burst: 1}\n");
	world_ask(&world, "GET / from 1.2.3.4");
	verdict = world_ask(&world, "GET / from 1.2.3.4");
	is_u64(verdict->limit_index, 1, "of several refusals, the longest wait is told");
	is_u64(verdict->retry_after_s, 60, "... in full");
	world_close(&world);

	world_open(&world, "limits:\n  big: {key: ip, rate: 3/s, burst: 3, cost: 5}\n");
	verdict = world_ask(&world, "GET / from 1.2.3.4");
	is_str(flow_status_word(verdict->status), "REJECTED", "a cost that can never fit is refused");
	is_u64(verdict->retry_after_s, 0, "... and told no time to come back");
	ok(verdict->wait_ns == ALGO_NEVER, "... for there is none");
	world_close(&world);

	world_open(&world, "limits:\n  none: {key: ip, rate: 0/s}\n");
	verdict = world_ask(&world, "GET / from 1.2.3.4");
	is_str(flow_status_word(verdict->status), "REJECTED", "rate 0 refuses everything");
	is_u64(verdict->retry_after_s, 0, "... without Retry-After");
	world_close(&world);
}

/* count_denied: hammering keeps the wait at its full length; without it the wait runs out. */
static void hammering(void)
{
	struct world world;
	const struct flow_verdict *verdict = NULL;

	world_open(&world, "limits:\n  one: {key: ip, rate: 1/10s, burst: 1, count_denied: true}\n");
	for (int i = 0; i < 100; i++, world_pass(&world, SECOND))
		verdict = world_ask(&world, "GET / from 1.2.3.4");
	is_u64(verdict->retry_after_s, 10, "with count_denied, each try begins the wait anew");
	world_close(&world);

	size_t passed = 0;
	world_open(&world, "limits:\n  one: {key: ip, rate: 1/10s, burst: 1}\n");
	for (int i = 0; i < 100; i++, world_pass(&world, SECOND))
		passed += world_ask(&world, "GET / from 1.2.3.4")->action == FLOW_PASS;
	is_u64(passed, 10, "without, denied requests cost nothing");
	world_close(&world);
}

/* A queue: each waits its turn, evenly; who cannot wait passes at once, but is counted. */
static void waiting(void)
{
	static const uint64_t waits[] = {0, 0, 500, 1000, 1500};
	struct world world;
	struct door door;
	char room[64];

	world_open(&world,
		   "limits:\n  one: {key: ip, rate: 2/s, algorithm: leaky-bucket, queue: 4, at_once: 1}\n");
	world_read("GET / from 1.2.3.4", &door, room, sizeof room);
	for (size_t i = 0; i < 5; i++) {
		flow_begin(world.flow, &world.env, &door.request, &world.time, true, false);
		enum flow_step step = flow_run(world.flow);
		is_u64(step, waits[i] ? FLOW_WAIT : FLOW_DONE, waits[i] ? "it waits" : "it passes at once");
		is_u64(world.flow->verdict.wait_ms, waits[i], "... for its turn");
		is_str(flow_status_word(world.flow->verdict.status), waits[i] ? "DELAYED" : "PASSED",
		       "... and says so");
		is_u64(flow_run(world.flow), FLOW_DONE, "... then it is done");
		is_u64(flow_run(world.flow), FLOW_DONE, "... once");
	}
	is_str(flow_status_word(world_decide(&world, &door, true, false)->status), "REJECTED",
	       "a full queue refuses");
	world_pass(&world, 500 * MS);
	const struct flow_verdict *verdict = world_decide(&world, &door, false, false);
	is_str(flow_status_word(verdict->status), "PASSED", "where no one can wait, it passes at once");
	is_u64(verdict->wait_ms, 0, "... without a wait");
	is_str(flow_status_word(world_decide(&world, &door, false, false)->status), "REJECTED",
	       "... but was counted");
	world_close(&world);

	/* several queues: the longest wait; rounded up to the millisecond */
	world_open(&world, "limits:\n"
			   "  a: {key: ip, rate: 3/s, algorithm: leaky-bucket, queue: 4}\n"
			   "  b: {key: site, rate: 2/s, algorithm: leaky-bucket, queue: 4}\n");
	world_ask(&world, "GET / from 1.2.3.4");
	is_u64(world_ask(&world, "GET / from 5.6.7.8")->wait_ms, 500,
	       "alone in its own queue, second in the site's");
	is_u64(world_ask(&world, "GET / from 5.6.7.8")->wait_ms, 1000, "of several waits, the longest");
	world_pass(&world, 10 * SECOND);
	world_ask(&world, "GET / from 1.2.3.4");
	world_close(&world);
	world_open(&world, "limits:\n  a: {key: ip, rate: 3/s, algorithm: leaky-bucket, queue: 4}\n");
	world_ask(&world, "GET / from 1.2.3.4");
	is_u64(world_ask(&world, "GET / from 1.2.3.4")->wait_ms, 334,
	       "a third of a second is 334 milliseconds");
	world_close(&world);
}

int main(void)
{
	truth();
	several();
	hammering();
	waiting();
	return done_testing();
}
