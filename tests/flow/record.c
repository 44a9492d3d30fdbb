/* SPDX-License-Identifier: BSD-2-Clause */
/* record: the numbers agree with what happened, and a flood is told in few events (T5, mission B60, B62). */
#include "tests/flow/world.h"

#define IP "GET / from 1.2.3.4"

static struct stats_limit limit_sum(struct world *world, size_t counter)
{
	const struct image_counter *counters = image_at(world->env.image, world->env.image->counters.offset);
	struct stats_limit sum;

	stats_limit_sum(world->table, (uint16_t)counters[counter].stat, &sum);
	return sum;
}

#define LIMIT(field, index, expected, what)                                                                  \
	do {                                                                                                 \
		struct stats_limit sum_ = limit_sum(&world, index);                                          \
		is_u64(sum_.field, expected, what);                                                          \
	} while (0)

static void statistics(void)
{
	struct world world;
	struct stats_process process;

	world_open(&world, "clients: {deny: [{ip: 6.6.6.6}], exempt: [{ip: 10.0.0.1}]}\n"
			   "limits:\n"
			   "  page: {match: /p, rate: [3/min, 100/hour], cost: 1}\n"
			   "  keyed: {match: /k, key: header.x-key, missing: ip, rate: 2/min, cost: 2}\n"
			   "  dark: {match: /d, rate: 1/min, mode: shadow}\n"
			   "  queue: {match: /q, rate: 1/s, algorithm: leaky-bucket, queue: 2}\n");
	for (int i = 0; i < 5; i++)
		world_ask(&world, "GET /p from 1.2.3.4");
	world_ask(&world, "GET /p from 10.0.0.1");
	world_ask(&world, "GET /k from 1.2.3.4");
	world_ask(&world, "GET /k from 1.2.3.4 | X-Key: 1");
	for (int i = 0; i < 4; i++)
		world_ask(&world, "GET /d from 1.2.3.4");
	for (int i = 0; i < 4; i++)
		world_ask(&world, "GET /q from 1.2.3.4");
	world_ask(&world, "GET /p from 6.6.6.6");
	world_ask(&world, "GET /none from 1.2.3.4 | X-Forwarded-For: 9.9.9.9");

	LIMIT(allowed, 0, 3, "allowed: requests, not rates");
	LIMIT(refused, 0, 2, "refused: requests");
	LIMIT(exempt, 0, 1, "exempt: counted apart");
	LIMIT(cost, 0, 3, "... and charged to nothing");
	LIMIT(missing, 2, 1, "missing keys are counted");
	LIMIT(allowed, 2, 2, "... those that passed too");
	LIMIT(cost, 2, 4, "... with their cost");
	LIMIT(allowed, 3, 1, "a shadow limit's allowed");
	LIMIT(shadow, 3, 3, "... and what it would have refused");
	LIMIT(refused, 3, 0, "... which it did not");
	LIMIT(allowed, 4, 3, "a queue's allowed");
	LIMIT(delayed, 4, 2, "... of which two waited");
	LIMIT(refused, 4, 1, "... and who found it full");

	stats_process_sum(world.table, &process);
	is_u64(process.decisions, 18, "every request is a decision");
	is_u64(process.denied, 1, "one was denied");
	is_u64(process.unmatched, 1, "one met no limit");
	is_u64(process.untrusted, 1, "one had a forwarding header that nobody vouches for");

	struct door door;
	char room[64];
	world_read("GET /p from 1.2.3.4", &door, room, sizeof room);
	world_decide(&world, &door, true, true);
	stats_process_sum(world.table, &process);
	is_u64(process.decisions, 18, "explaining is not deciding");
	world_close(&world);
}

/* A flood of one limit beside a trickle of another: each is told once a second, with how many it stands for.
 */
static void flood(void)
{
	struct world world;
	struct stats_event events[STATS_EVENTS + 1];
	size_t told = 0, lines = 0;
	uint64_t refused = 0;

	world_open(&world, "limits:\n  a: {match: /a, rate: 1/hour, burst: 1}\n  b: {match: /b, rate: "
			   "1/hour, burst: 1}\n");
	world_ask(&world, "GET /a from 1.2.3.4");
	world_ask(&world, "GET /b from 5.6.7.8");
	for (int i = 0; i < 100000; i++) {
		world_pass(&world, 100000); /* ten seconds in all */
		refused += world_ask(&world, "GET /a from 1.2.3.4")->action == FLOW_REFUSE;
		if (i % 50000 == 25000)
			world_ask(&world, "GET /b from 5.6.7.8");
	}
	is_u64(refused, 100000, "a flood of 100,000 refusals in ten seconds");
	size_t count = stats_events(world.table, events, STATS_EVENTS + 1);
	for (size_t i = 0; i < count; i++) {
		bool a = events[i].length == 7 && memcmp(events[i].text, "1.2.3.4", 7) == 0;
		lines += a;
		told += a ? events[i].count : 0;
		if (events[i].kind != STATS_EVENT_REFUSED)
			told = 0;
	}
	is_u64(lines, 10, "... is told in ten events");
	is_u64(told, 90001, "... that stand for all of them but the last, unfinished second");
	is_u64(count - lines, 2, "... and does not drown the other limit");
	world_close(&world);
}

static void kinds(void)
{
	static const struct {
		const char *policy, *line;
		int times;
		enum stats_event_kind kind;
		const char *text;
	} rows[] = {
		{"limits:\n  one: {key: header.x-key | ip, rate: 1/min}\n", IP " | X-Key: abc", 2,
		 STATS_EVENT_REFUSED, "abc"},
		{"limits:\n  one: {rate: 1/min, mode: shadow}\n", IP, 2, STATS_EVENT_SHADOW, "1.2.3.4"},
		{"clients: {deny: [{ip: 1.2.3.4}]}\nlimits:\n  one: {rate: 1/min}\n", IP, 1,
		 STATS_EVENT_DENIED, "1.2.3.4"},
		{"limits:\n  one: {rate: 9/min}\n", IP " | X-Forwarded-For: 9.9.9.9", 1,
		 STATS_EVENT_UNTRUSTED, "1.2.3.4"},
		{"limits:\n  one: {rate: 9/min}\n", "GET / | Forwarded: for=9.9.9.9", 1,
		 STATS_EVENT_UNTRUSTED, "unix:"},
		{"limits:\n  one: {key: header.x-key, missing: deny, rate: 1/min}\n", IP, 1,
		 STATS_EVENT_REFUSED, ""},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world world;
		struct stats_event events[STATS_EVENTS];
		char text[120] = "";

		world_open(&world, rows[i].policy);
		for (int n = 0; n < rows[i].times; n++)
			world_ask(&world, rows[i].line);
		is_u64(stats_events(world.table, events, STATS_EVENTS), 1, rows[i].line);
		is_u64(events[0].kind, rows[i].kind, "... is an event of its kind");
		is_u64(events[0].count, 1, "... stands for itself");
		memcpy(text, events[0].text, events[0].length);
		is_str(text, rows[i].text, "... and names whom it is about");
		world_close(&world);
	}
}

static void recorder(void)
{
	static const struct {
		uint64_t at;
		bool due;
		uint32_t count;
	} rows[] = {
		{SECOND, true, 1},	    {SECOND, false, 0},		{2 * SECOND - 1, false, 0},
		{2 * SECOND, true, 3},	    {2 * SECOND + 5, false, 0}, {9 * SECOND, true, 2},
		{3 * SECOND, true, 1}, /* a clock that went back does not silence it */
		{3 * SECOND + 1, false, 0},
	};
	static struct flow_recorder book;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t count = 0;
		bool due = flow_recorder_due(&book, STATS_EVENT_REFUSED, 7, rows[i].at, &count);
		ok(due == rows[i].due && count == rows[i].count,
		   "told once a second, with the others in the count");
	}
	uint32_t count;
	ok(flow_recorder_due(&book, STATS_EVENT_SHADOW, 7, 3 * SECOND + 1, &count), "each kind for itself");
	ok(flow_recorder_due(&book, STATS_EVENT_REFUSED, 8, 3 * SECOND + 1, &count), "each limit for itself");
	ok(!flow_recorder_due(&book, STATS_EVENT_NONE, 8, 9 * SECOND, &count), "nothing is nothing to tell");
	ok(!flow_recorder_due(&book, (enum stats_event_kind)77, 8, 9 * SECOND, &count),
	   "nor is what is unknown");
}

int main(void)
{
	statistics();
	flood();
	kinds();
	recorder();
	return done_testing();
}
