/* SPDX-License-Identifier: BSD-2-Clause */
/* settle: what a request that failed, or succeeded, or never got an answer is charged (mission B23). */
#include "tests/flow/visit.h"

#define LOGIN "POST /login from 1.2.3.4"
#define NEVER NULL /* no answer at all: the client hung up */

/* One request, and how many of ten are left after it. */
static const struct {
	const char *words, *statuses;
	uint32_t left;
	const char *what;
} rows[] = {
	{"count: failures", "401", 9, "a failure is charged"},
	{"count: failures", "200", 10, "a success is not"},
	{"count: failures", "302", 10, "nor a redirect"},
	{"count: failures", "503", 10, "nor an outage"},
	{"count: failures", "400", 9, "400 is a failure"},
	{"count: failures", "399", 10, "399 is not"},
	{"count: failures", "499", 9, "499 is"},
	{"count: failures", "500", 10, "500 is not"},
	{"count: failures", "401 200", 9, "a failure is one behind a page with 200 too"},
	{"count: failures", "200 401", 9, "... in whatever order they are told"},
	{"count: failures", "502 200", 10, "an outage behind a page is none"},
	{"count: failures", "502 504 404 200", 9, "of many statuses one is enough"},
	{"count: failures", NEVER, 9, "whoever hangs up is charged"},
	{"count: failures", "", 9, "... also if a door asks without knowing anything"},
	{"count: failures, failure: [200]", "200", 9, "a site that answers a wrong password with 200"},
	{"count: failures, failure: [200]", "302", 10, "... and redirects the right one"},
	{"count: failures, failure: [200]", "401", 10, "... says what a failure is"},
	{"count: failures, failure: [401, 5xx]", "503", 9, "an outage, if that is asked for"},
	{"count: failures, failure: [401, 5xx]", "404", 10, "... then 404 is none"},
	{"count: failures, cost: 3", "401", 7, "at its cost"},
	{"count: failures, cost: 3", "200", 10, "... or not at all"},
	{"count: failures, cost: 3", NEVER, 7, "... who hangs up too"},
	{"count: successes", "200", 9, "successes: a success is charged"},
	{"count: successes", "302", 9, "... a redirect is one"},
	{"count: successes", "401", 10, "... a failure is not"},
	{"count: successes", "200 401", 10, "... nor one behind a page"},
	{"count: successes", NEVER, 9, "... who hangs up is charged"},
	{"count: successes", "503", 10, "... nor is an outage, whatever failures are"},
	{"count: successes", "200 502", 9, "... one that another backend made good is none"},
	{"count: successes, failure: [4xx, 5xx]", "503", 10, "... an outage is none, if it says so"},
	{"count: all", "200", 9, "all: whatever the answer"},
	{"count: all", "401", 9, "... charged"},
	{"count: all", NEVER, 9, "... and without one"},
	{"count: failures, mode: shadow", "401", 9, "a shadow limit charges failures in its own state"},
	{"count: failures, mode: shadow", "200", 10, "... and nothing else"},
	{"count: failures, exempt: [{ip: 1.2.3.4}]", "401", 10, "who is exempt is charged nothing"},
	{"count: failures, exempt: [{ip: 1.2.3.4}]", NEVER, 10, "... who hangs up neither"},
};

static const char *const kinds[] = {"token-bucket, burst: 10", "fixed-window", "sliding-window",
				    "sliding-log"};

static void matrix(void)
{
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			struct world world;
			char policy[256], what[256];
			uint64_t charged;

			snprintf(policy, sizeof policy,
				 "limits:\n  login: {match: POST /login, rate: 10/min, algorithm: %s, %s}\n",
				 kinds[k], rows[i].words);
			world_open(&world, policy);
			struct visit *visit = visit_open(&world, LOGIN, true);
			if (rows[i].statuses)
				visit_responded(&world, visit, rows[i].statuses);
			if (rows[i].statuses && *rows[i].statuses)
				is_u64(visit->flow->tickets, 0,
				       "an answer settles it: a slow reader holds nothing");
			visit_responded(&world, visit, "200 401 503"); /* once is once */
			flow_end(visit->flow, &world.time);
			snprintf(what, sizeof what, "%s, %s: %s", kinds[k], rows[i].words, rows[i].what);
			/* an answer after a door that knew nothing is an answer */
			uint32_t left = rows[i].statuses && *rows[i].statuses == '\0' ? 9 : rows[i].left;
			if (!rows[i].statuses) { /* and this one is an abort no more: asked again below */
				visit_close(&world, visit);
				world_close(&world);
				world_open(&world, policy);
				visit = visit_open(&world, LOGIN, true);
				flow_end(visit->flow, &world.time);
			}
			is_u64(visit_left(&world, visit, 0), left, what);
			charged = visit_stats(&world, 0).cost;
			is_u64(charged, 10 - left, "... and the statistics say so");
			is_u64(table_held(world.table), 0, "... nothing is left behind");
			visit_close(&world, visit);
			world_close(&world);
		}
}

/* What is refused has nothing to settle, in the other limits neither. */
static void refused(void)
{
	struct world world;
	struct visit *first, *second;

	world_open(&world, "limits:\n"
			   "  login: {match: POST /login, rate: 5/hour, count: failures}\n"
			   "  once: {match: POST /login, rate: 1/hour}\n");
	first = visit_open(&world, LOGIN, true);
	second = visit_open(&world, LOGIN, true);
	is_str(visit_says(first), "PASSED", "the first passes");
	is_str(visit_says(second), "REJECTED", "the second is refused by another limit");
	is_u64(second->flow->tickets, 0, "... and has given back what it reserved");
	is_u64(visit_left(&world, second, 0), 4, "... one is reserved, by the first");
	visit_responded(&world, second, "429");
	is_u64(visit_left(&world, second, 0), 4, "a refusal's own status is nobody's failure");
	visit_close(&world, second);
	visit_responded(&world, first, "200");
	is_u64(visit_left(&world, first, 0), 5, "the first succeeded: all five are left");
	visit_close(&world, first);
	world_close(&world);
}

/* Reserved, and never settled while its process lives: charged after a minute (T10), and told when it is heard of. */
static void overdue(void)
{
	struct world world;
	struct visit *visit;

	world_open(&world, "limits:\n  login: {match: POST /login, rate: 5/day, count: failures}\n");
	visit = visit_open(&world, LOGIN, true);
	world_pass(&world, 59 * SECOND);
	table_overdue(world.table, &world.time);
	is_u64(visit_left(&world, visit, 0), 4, "for a minute it is reserved");
	is_u64(visit_stats(&world, 0).cost, 0, "... not charged");
	world_pass(&world, 2 * SECOND);
	table_overdue(world.table, &world.time);
	is_u64(table_held(world.table), 0, "then it is held no more");
	is_u64(visit_left(&world, visit, 0), 4, "... but charged");
	visit_responded(&world, visit, "200");
	is_u64(visit_left(&world, visit, 0), 4, "an answer comes too late");
	is_u64(visit_stats(&world, 0).cost, 1, "... and the charge is told");
	visit_close(&world, visit);
	is_u64(visit_stats(&world, 0).cost, 1, "... once");
	world_close(&world);
}

/* Seventy seconds in a leaky bucket are weir's own, and no answer's: the minute begins with its turn. */
static void turn(void)
{
	struct world world;
	struct visit *first, *second;

	world_open(&world, "limits:\n"
			   "  slow: {match: POST /login, rate: 1 per 70s, algorithm: leaky-bucket, queue: 1, "
			   "wait: 3min}\n"
			   "  login: {match: POST /login, rate: 5/day, count: failures}\n");
	first = visit_open(&world, LOGIN, true);
	second = visit_open(&world, LOGIN, true);
	is_str(visit_says(second), "WAITS", "the second waits its turn");
	visit_responded(&world, first, "200");
	visit_close(&world, first);
	world_pass(&world, 70 * SECOND);
	table_overdue(world.table, &world.time);
	is_u64(table_held(world.table), 1, "that is longer than an answer may take, and it is held still");
	is_u64(visit_go(&world, second), FLOW_DONE, "it is its turn");
	world_pass(&world, 59 * SECOND);
	table_overdue(world.table, &world.time);
	is_u64(table_held(world.table), 1, "from then on it has a minute");
	visit_responded(&world, second, "200");
	is_u64(visit_left(&world, second, 1), 5, "... in time: nothing is charged");
	visit_close(&world, second);
	world_pass(&world, 140 * SECOND);
	first = visit_open(&world, LOGIN, true);
	second = visit_open(&world, LOGIN, true);
	world_pass(&world, 70 * SECOND);
	visit_go(&world, second);
	is_u64(visit_left(&world, second, 1), 3, "once more: both are held");
	world_pass(&world, 61 * SECOND);
	table_overdue(world.table, &world.time);
	is_u64(table_held(world.table), 0, "... a minute and more after the turn neither is");
	is_u64(visit_left(&world, second, 1), 3, "... but charged");
	visit_close(&world, first);
	visit_close(&world, second);
	world_pass(&world, 140 * SECOND);
	first = visit_open(&world, LOGIN, true);
	second = visit_open(&world, LOGIN, true);
	is_str(visit_says(second), "WAITS", "one more waits");
	visit_close(&world, second);
	visit_responded(&world, first, "200");
	is_u64(visit_left(&world, first, 1), 2, "... and hangs up: charged");
	visit_close(&world, first);
	is_u64(table_held(world.table), 0, "... nothing is left behind");
	world_close(&world);
}

/* Five a minute. Someone who knows one password holds his successes open, to get room back later for more guesses at
 * another than he was given: with a charge that is given back, 309 in six seconds. */
static void held_successes(void)
{
	struct world world;
	struct visit *open[64];
	size_t count = 0, guesses = 0, most = 0, over = 0;
	uint64_t times[1024], begin;

	world_open(&world, "limits:\n  login: {match: POST /login, rate: 5/min, count: failures}\n");
	begin = world.time.now;
	for (int i = 0; i < 20000; i++) {
		world_pass(&world, pick(60) * MS);
		uint64_t phase = (world.time.now - begin) / (20 * SECOND) % 3;
		if (phase == 0 && count < 64) { /* opens successes, and holds them */
			struct visit *visit = visit_open(&world, LOGIN, true);
			if (visit->flow->verdict.action == FLOW_PASS)
				open[count++] = visit;
			else
				visit_close(&world, visit);
		} else if (phase == 2 && count && pick(20) == 0) { /* lets them end, one by one */
			visit_responded(&world, open[--count], "200");
			visit_close(&world, open[count]);
		} else { /* and guesses */
			struct visit *visit = visit_open(&world, LOGIN, true);
			if (visit->flow->verdict.action == FLOW_PASS) {
				visit_responded(&world, visit, "401");
				if (guesses < 1024)
					times[guesses++] = world.time.now;
			}
			visit_close(&world, visit);
		}
		most = count > most ? count : most;
	}
	for (size_t i = 0; i < guesses; i++) {
		size_t n = 0;
		while (i + n < guesses && times[i + n] - times[i] < 60 * SECOND)
			n++;
		over += n > 9;
	}
	uint64_t elapsed = world.time.now - begin;
	ok(guesses > 10, "he gets his guesses");
	ok(guesses <= 5 + elapsed / (12 * SECOND), "... never more than five, and one every twelve seconds");
	is_u64(over, 0, "... in no minute more than nine");
	is_u64(most, 5, "... and holds at most five open");
	note("%zu guesses in %llu s", guesses, (unsigned long long)(elapsed / SECOND));
	while (count) {
		visit_responded(&world, open[--count], "200");
		visit_close(&world, open[count]);
	}
	is_u64(table_held(world.table), 0, "... nothing is left behind");
	world_close(&world);
}

int main(void)
{
	matrix();
	refused();
	overdue();
	turn();
	held_successes();
	return done_testing();
}
