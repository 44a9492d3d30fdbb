/* SPDX-License-Identifier: BSD-2-Clause */
/* in_flight: at most N at the same time (mission B6), beside other kinds of limits: all or none. */
#include "tests/flow/visit.h"

#define A "GET /files/a from 1.2.3.4"
#define B "GET /files/b from 5.6.7.8"

static void places(void)
{
	struct world world;
	struct visit *one, *two, *three;
	const struct flow_verdict *verdict;

	world_open(&world, "limits:\n  downloads: {match: /files/*, concurrent: 2}\n");
	one = visit_open(&world, A, true);
	two = visit_open(&world, A, true);
	is_str(visit_says(one), "PASSED", "one in flight");
	is_u64(one->flow->verdict.limit, 2, "... of two");
	is_u64(one->flow->verdict.remaining, 1, "... one is left");
	is_str(visit_says(two), "PASSED", "two in flight");
	is_u64(two->flow->verdict.remaining, 0, "... none is left");
	three = visit_open(&world, A, true);
	verdict = &three->flow->verdict;
	is_str(visit_says(three), "REJECTED", "a third is refused");
	is_u64(verdict->retry_after_s, 1, "... with a hint of one second");
	is_u64(verdict->effective_s, 0, "... no time is promised");
	is_u64(verdict->reset_s, 0, "... nor a reset");
	is_u64(three->flow->tickets, 0, "... it holds nothing");
	visit_close(&world, three);
	three = visit_open(&world, B, true);
	is_str(visit_says(three), "PASSED", "someone else has places of his own");
	visit_close(&world, three);
	visit_responded(&world, one, "200");
	three = visit_open(&world, A, true);
	is_str(visit_says(three), "REJECTED", "an answer that has begun is still in flight");
	visit_close(&world, three);
	world_pass(&world, 3600 * SECOND);
	table_overdue(world.table, &world.time);
	three = visit_open(&world, A, true);
	is_str(visit_says(three), "REJECTED", "... however long it takes");
	visit_close(&world, three);
	visit_close(&world, one);
	three = visit_open(&world, A, true);
	is_str(visit_says(three), "PASSED", "its end frees the place");
	flow_end(three->flow, &world.time);
	is_u64(table_held(world.table), 1, "... once");
	flow_end(three->flow, &world.time);
	is_u64(table_held(world.table), 1, "... however often it is told");
	visit_close(&world, three);
	visit_close(&world, two);
	is_u64(table_held(world.table), 0, "nothing is left behind");
	struct stats_limit stats = visit_stats(&world, 0);
	is_u64(stats.allowed, 4, "four were allowed");
	is_u64(stats.refused, 3, "three refused");
	is_u64(stats.cost, 0, "and nothing was charged");
	world_close(&world);
}

/* One request on limits that are open or full: everything is taken, or nothing. */
static const struct {
	const char *what, *policy, *status;
	uint32_t left[3]; /* of each counter, after it */
	uint32_t before;  /* requests before it that are still in flight */
	uint32_t held;	  /* tickets that it holds */
} mixed[] = {
	{"all fit",
	 "  a: {rate: 5/hour}\n  b: {concurrent: 3}\n  c: {rate: 4/hour, count: failures}\n",
	 "PASSED",
	 {4, 2, 3},
	 0,
	 2},
	{"no place",
	 "  a: {rate: 5/hour}\n  b: {concurrent: 1}\n  c: {rate: 4/hour, count: failures}\n",
	 "REJECTED",
	 {4, 0, 3},
	 1,
	 0},
	{"the rate is used up",
	 "  a: {rate: 1/hour}\n  b: {concurrent: 3}\n  c: {rate: 4/hour, count: failures}\n",
	 "REJECTED",
	 {0, 2, 3},
	 1,
	 0},
	{"all failures are reserved",
	 "  a: {rate: 5/hour}\n  b: {concurrent: 3}\n  c: {rate: 1/hour, count: failures}\n",
	 "REJECTED",
	 {4, 2, 0},
	 1,
	 0},
	{"a log is full",
	 "  a: {rate: 1/hour, algorithm: sliding-log}\n  b: {concurrent: 3}\n  c: {rate: 4/hour}\n",
	 "REJECTED",
	 {0, 2, 3},
	 1,
	 0},
	{"a log gives back",
	 "  a: {rate: 5/hour, algorithm: sliding-log}\n  b: {concurrent: 3}\n  c: {rate: 1/hour}\n",
	 "REJECTED",
	 {4, 2, 0},
	 1,
	 0},
	{"one limit of two kinds",
	 "  a: {rate: 5/hour, concurrent: 1}\n  c: {rate: 4/hour}\n",
	 "REJECTED",
	 {4, 0, 3},
	 1,
	 0},
	{"a window that slides",
	 "  a: {rate: 5/hour, algorithm: sliding-window}\n  b: {concurrent: 1}\n  c: {rate: "
	 "4/hour}\n",
	 "REJECTED",
	 {4, 0, 3},
	 1,
	 0},
	{"a full shadow",
	 "  a: {rate: 5/hour}\n  b: {concurrent: 1, mode: shadow}\n  c: {rate: 4/hour}\n",
	 "REJECTED_SHADOW",
	 {3, 0, 2},
	 1,
	 0},
	{"a shadow beside a refusal",
	 "  a: {rate: 1/hour}\n  b: {concurrent: 3, mode: shadow}\n  c: {rate: 4/hour}\n",
	 "REJECTED",
	 {0, 2, 3},
	 1,
	 0},
	{"exempt",
	 "  a: {rate: 5/hour}\n  b: {concurrent: 1, exempt: [{ip: 1.2.3.4}]}\n  c: {rate: 4/hour}\n",
	 "PASSED",
	 {3, 1, 2},
	 1,
	 0},
	{"a place of the whole site",
	 "  a: {rate: 5/hour}\n  b: {key: site, concurrent: 1}\n  c: {rate: 4/hour}\n",
	 "REJECTED",
	 {4, 0, 3},
	 1,
	 0},
};

static void all_or_none(void)
{
	for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
		struct world world;
		char policy[512], what[128];
		struct visit *before[4], *visit;

		snprintf(policy, sizeof policy, "limits:\n%s", mixed[i].policy);
		world_open(&world, policy);
		for (uint32_t n = 0; n < mixed[i].before; n++)
			before[n] = visit_open(&world, A, true);
		visit = visit_open(&world, A, true);
		is_str(visit_says(visit), mixed[i].status, mixed[i].what);
		is_u64(visit->flow->tickets, mixed[i].held, "... it holds what it should");
		for (uint32_t n = 0; n < 3; n++) {
			snprintf(what, sizeof what, "... counter %u has the rest it should", n);
			is_u64(visit_left(&world, visit, n), mixed[i].left[n], what);
		}
		visit_close(&world, visit);
		for (uint32_t n = 0; n < mixed[i].before; n++)
			visit_close(&world, before[n]);
		is_u64(table_held(world.table), 0, "... and in the end nothing is held");
		world_close(&world);
	}
}

/* explain describes, and takes nothing. */
static void dry(void)
{
	struct world world;
	struct visit *one;
	struct door door;
	char room[64];

	world_open(&world, "limits:\n  a: {concurrent: 1}\n  b: {rate: 2/hour, count: failures}\n"
			   "  c: {rate: 2/hour, algorithm: sliding-log}\n");
	world_read(A, &door, room, sizeof room);
	for (int i = 0; i < 3; i++) {
		is_str(flow_status_word(world_decide(&world, &door, true, true)->status), "PASSED",
		       "explained, it would pass");
		is_u64(world.flow->verdict.remaining, 0, "... and leave no place");
		is_u64(table_held(world.table), 0, "... but takes none");
	}
	one = visit_open(&world, A, true);
	is_str(flow_status_word(world_decide(&world, &door, true, true)->status), "REJECTED",
	       "while one is in flight it would not");
	visit_close(&world, one);
	is_str(flow_status_word(world_decide(&world, &door, true, true)->status), "PASSED",
	       "after it, it would again");
	one = visit_open(&world, A, true);
	visit_close(&world, one);
	is_str(flow_status_word(world_decide(&world, &door, true, true)->status), "REJECTED",
	       "two are charged to the log, and the failures");
	is_u64(world.flow->verdict.limit_index, 2, "... of which the log takes longest");
	world_close(&world);
}

/* A place is lost with its process, not with its handle's other places: see tests/table. Here: never run, never held. */
static void nothing(void)
{
	struct flow_env env = {NULL, NULL, NULL, NULL};
	struct flow *flow = calloc(1, flow_size(NULL));
	struct flow_request request = {.method = TEXT("GET")};
	struct algo_time t = {UINT64_C(1) << 41, 0};
	struct flow_pace pace;
	uint64_t wait;
	unsigned status = 200;

	flow_begin(flow, &env, &request, &t, true, false);
	is_u64(flow_run(flow), FLOW_DONE, "without a table it is done at once");
	flow_responded(flow, &t, &status, 1);
	flow_pace(flow, &pace);
	is_u64(pace.bytes_per_s + pace.total, 0, "... has no pace");
	is_u64(flow_pace_take(flow, &t, 5000, 0, &wait), 5120, "... takes as much as it wants");
	flow_pace_return(flow, &t, 100);
	flow_end(flow, &t);
	is_u64(flow->tickets, 0, "... and ends with nothing");
	free(flow);
}

int main(void)
{
	places();
	all_or_none();
	dry();
	nothing();
	return done_testing();
}
