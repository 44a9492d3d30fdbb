/* SPDX-License-Identifier: BSD-2-Clause */
/* queue: waiting for a place in flight, in virtual time. */
#include "tests/flow/visit.h"

#define A	"GET /a from 1.2.3.4"
#define ONE_TWO "limits:\n  one: {concurrent: 1, queue: 2, wait: 1s}\n"

static void times(void)
{
	static const struct {
		uint64_t at_ms, wait_ms;
		const char *says;
	} looks[] = {
		{50, 50, "WAITS"},  {100, 50, "WAITS"}, {499, 50, "WAITS"}, {500, 20, "WAITS"},
		{960, 20, "WAITS"}, {981, 19, "WAITS"}, {999, 1, "WAITS"},  {1000, 0, "REJECTED"},
	};
	struct world world;
	struct visit *first, *waits;
	uint64_t at = 0;

	world_open(&world, ONE_TWO);
	first = visit_open(&world, A, true);
	is_str(visit_says(first), "PASSED", "a place is free");
	waits = visit_open(&world, A, true);
	is_str(visit_says(waits), "WAITS", "none is: it waits");
	is_u64(waits->flow->verdict.wait_ms, 50, "... and looks again in 50 ms");
	is_u64(flow_hit_waiting(waits->flow, &waits->flow->hits[0]), 1, "... in the queue");
	for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
		world_pass(&world, (looks[i].at_ms - at) * MS);
		at = looks[i].at_ms;
		visit_go(&world, waits);
		is_str(visit_says(waits), looks[i].says, "it waits for a second, then it is refused");
		is_u64(waits->flow->verdict.wait_ms, looks[i].wait_ms, "... and says when to look again");
	}
	is_u64(waits->flow->verdict.retry_after_s, 1, "... with a hint");
	is_u64(waits->flow->tickets, 0, "... out of the queue");
	is_u64(flow_hit_waiting(first->flow, &first->flow->hits[0]), 0, "... in which nobody is left");
	visit_close(&world, waits);
	visit_close(&world, first);
	is_u64(table_held(world.table), 0, "... nothing is left behind");
	world_close(&world);
}

static void gets_in(void)
{
	struct world world;
	struct visit *first, *second, *third, *fourth;

	world_open(&world, ONE_TWO);
	first = visit_open(&world, A, true);
	second = visit_open(&world, A, true);
	third = visit_open(&world, A, true);
	fourth = visit_open(&world, A, true);
	is_str(visit_says(third), "WAITS", "two may wait");
	is_str(visit_says(fourth), "REJECTED", "a third may not");
	visit_close(&world, fourth);
	fourth = visit_open(&world, "GET /a from 5.6.7.8", true);
	is_str(visit_says(fourth), "PASSED", "others have a queue of their own");
	visit_close(&world, fourth);
	world_pass(&world, 200 * MS);
	visit_close(&world, first);
	fourth = visit_open(&world, A, true);
	is_str(visit_says(fourth), "REJECTED", "who comes now does not pass those who wait");
	visit_close(&world, fourth);
	visit_go(&world, third);
	is_str(visit_says(third), "DELAYED", "who looks first gets in");
	is_u64(third->flow->verdict.wait_ms, 0, "... at once");
	is_u64(third->flow->tickets, 1, "... with one place, and none in the queue");
	visit_go(&world, second);
	is_str(visit_says(second), "WAITS", "the other waits on");
	visit_close(&world, second);
	is_u64(flow_hit_waiting(third->flow, &third->flow->hits[0]), 0,
	       "... and goes away: his place in the queue is free");
	first = visit_open(&world, A, true);
	second = visit_open(&world, A, true);
	is_str(visit_says(second), "WAITS", "... for two more");
	visit_close(&world, third);
	visit_go(&world, second);
	is_str(visit_says(second), "DELAYED", "... of whom one gets in");
	struct stats_limit stats = visit_stats(&world, 0);
	is_u64(stats.delayed, 2, "statistics: two waited and got in");
	is_u64(stats.refused, 2, "... two found the queue full");
	is_u64(stats.allowed, 4, "... four were let in");
	visit_close(&world, second);
	visit_close(&world, first);
	is_u64(table_held(world.table), 0, "nothing is left behind");
	world_close(&world);
}

/* What else the request is limited by is charged when it gets in, not before. */
static void others(void)
{
	struct world world;
	struct visit *first, *second, *third;

	world_open(&world, "limits:\n"
			   "  places: {concurrent: 1, queue: 5, wait: 10s}\n"
			   "  hourly: {rate: 3/hour}\n"
			   "  failed: {rate: 5/hour, count: failures}\n");
	first = visit_open(&world, A, true);
	second = visit_open(&world, A, true);
	third = visit_open(&world, A, true);
	is_str(visit_says(second), "WAITS", "waiting");
	is_u64(visit_left(&world, second, 1), 2, "... it has not been charged");
	is_u64(visit_left(&world, second, 2), 4, "... and has reserved nothing");
	visit_close(&world, first);
	visit_go(&world, second);
	is_str(visit_says(second), "DELAYED", "it gets in");
	is_u64(visit_left(&world, second, 1), 1, "... and is charged");
	visit_responded(&world, second, "200");
	visit_close(&world, second);
	first = visit_open(&world, A, true); /* behind the third */
	visit_go(&world, third);
	is_str(visit_says(third), "DELAYED", "the next gets in");
	is_u64(visit_left(&world, third, 1), 0, "... and uses up the rate");
	visit_go(&world, first);
	is_str(visit_says(first), "REJECTED", "who waits while the rate is used up is refused");
	is_u64(first->flow->verdict.limit_index, 1, "... by the rate");
	is_u64(first->flow->tickets, 0, "... and waits no more");
	visit_close(&world, first);
	visit_close(&world, third);
	is_u64(table_held(world.table), 0, "nothing is left behind");
	world_close(&world);
}

static void cannot(void)
{
	static const struct {
		const char *policy, *says;
		bool can_wait;
		const char *what;
	} rows[] = {
		{"  one: {concurrent: 1, queue: 2}\n", "REJECTED", false, "who cannot wait is refused"},
		{"  one: {concurrent: 1, queue: 2, mode: shadow}\n", "REJECTED_SHADOW", true,
		 "a shadow waits for nothing"},
		{"  one: {concurrent: 1}\n", "REJECTED", true, "without a queue nobody waits"},
		{"  one: {concurrent: 1, queue: 2}\n  two: {rate: 1/hour}\n", "REJECTED", true,
		 "nobody waits for what another limit refuses"},
		{"  one: {concurrent: 1, queue: 2}\n  two: {key: site, concurrent: 1}\n", "REJECTED", true,
		 "... nor where one of two places cannot be waited for"},
		{"  one: {concurrent: 1, queue: 2}\n  two: {key: site, concurrent: 1, queue: 1}\n", "WAITS",
		 true, "two queues: it waits in both"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world world;
		char policy[256];
		snprintf(policy, sizeof policy, "limits:\n%s", rows[i].policy);
		world_open(&world, policy);
		struct visit *first = visit_open(&world, A, true);
		struct visit *second = visit_open(&world, A, rows[i].can_wait);
		is_str(visit_says(second), rows[i].says, rows[i].what);
		visit_close(&world, second);
		visit_close(&world, first);
		is_u64(table_held(world.table), 0, "... nothing is left behind");
		world_close(&world);
	}

	struct world world;
	world_open(&world, "limits:\n  none: {concurrent: 0}\n");
	is_str(world_says(&world, A), "REJECTED", "where there are no places nobody gets one");
	world_close(&world);
}

/* Two queues: the shorter patience counts; in one of them full is full. */
static void two_queues(void)
{
	struct world world;
	struct visit *first, *second, *third;

	world_open(&world, "limits:\n"
			   "  own: {concurrent: 1, queue: 5, wait: 10s}\n"
			   "  all: {key: site, concurrent: 1, queue: 1, wait: 500ms}\n");
	first = visit_open(&world, A, true);
	second = visit_open(&world, "GET /a from 5.6.7.8", true);
	third = visit_open(&world, A, true);
	is_str(visit_says(second), "WAITS", "it waits for the site's place");
	is_str(visit_says(third), "REJECTED", "the site's queue is full");
	is_u64(third->flow->tickets, 0, "... so that it does not stay in its own");
	visit_close(&world, third);
	world_pass(&world, 500 * MS);
	visit_go(&world, second);
	is_str(visit_says(second), "REJECTED", "the shortest of the waits counts");
	visit_close(&world, second);
	visit_close(&world, first);
	world_close(&world);
}

static void dry(void)
{
	struct world world;
	struct visit *first, *second, *third;
	struct door door;
	char room[64];

	world_open(&world, ONE_TWO);
	world_read(A, &door, room, sizeof room);
	first = visit_open(&world, A, true);
	is_str(flow_status_word(world_decide(&world, &door, true, true)->status), "DELAYED",
	       "explained: it would wait");
	is_u64(table_held(world.table), 1, "... it does not");
	second = visit_open(&world, A, true);
	third = visit_open(&world, A, true);
	is_str(flow_status_word(world_decide(&world, &door, true, true)->status), "REJECTED",
	       "explained: the queue is full");
	visit_close(&world, third);
	visit_close(&world, second);
	visit_close(&world, first);
	world_close(&world);
}

/* A place in flight, then a turn: two waits of one request. */
static void and_a_turn(void)
{
	struct world world;
	struct visit *first, *second;

	world_open(&world, "limits:\n"
			   "  places: {concurrent: 1, queue: 5, wait: 10s}\n"
			   "  even: {algorithm: leaky-bucket, rate: 1/s, queue: 5}\n");
	first = visit_open(&world, A, true);
	second = visit_open(&world, A, true);
	is_str(visit_says(second), "WAITS", "it waits for a place");
	is_u64(second->flow->next, FLOW_AT_QUEUE, "... in the queue");
	world_pass(&world, 100 * MS);
	visit_close(&world, first);
	visit_go(&world, second);
	is_str(visit_says(second), "WAITS", "then for its turn");
	is_u64(second->flow->verdict.wait_ms, 900, "... the rest of the second");
	is_u64(second->flow->next, FLOW_AT_TURN, "... charged, and in flight");
	world_pass(&world, 900 * MS);
	visit_go(&world, second);
	is_str(visit_says(second), "DELAYED", "then it goes");
	visit_close(&world, second);
	is_u64(table_held(world.table), 0, "nothing is left behind");
	world_close(&world);
}

int main(void)
{
	times();
	gets_in();
	others();
	cannot();
	two_queues();
	dry();
	and_a_turn();
	return done_testing();
}
