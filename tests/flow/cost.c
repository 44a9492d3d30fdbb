/* SPDX-License-Identifier: BSD-2-Clause */
/* cost: what requests cost, by number, header, body and answer; what is told and charged at each step. */
#include "tests/flow/world.h"

static struct door door;
static char room[8192];

/* One request with a body, decided; what it said before the body is not asked twice. */
static const struct flow_verdict *ask(struct world *world, const char *line, const char *body)
{
	world_end(world);
	world_read(line, &door, room, sizeof room);
	door.request.can_read_body = true;
	flow_begin(world->flow, &world->env, &door.request, &world->time, true, false);
	world->ran = true;
	if (flow_run(world->flow) == FLOW_BODY) {
		door.request.body = text_of(body);
		door.request.has_body = door.request.body_whole = true;
		if (flow_run(world->flow) != FLOW_DONE)
			abort();
	}
	return &world->flow->verdict;
}

static uint32_t left(struct world *world)
{
	struct table_look look;
	struct algo_report report;
	const struct flow_hit *hit = &world->flow->hits[0];

	table_peek_held(world->table, &hit->key, hit->row, &world->time, 1, &look);
	table_describe(&look, &world->time, 1, false, &report);
	return report.remaining;
}

#define N "POST /a from 1.2.3.4 | Content-Type: application/json"
#define F "POST /a from 1.2.3.4 | Content-Type: application/x-www-form-urlencoded"

static void asked(void)
{
	static const struct {
		const char *cost, *line, *body;
		uint32_t left;
	} cases[] = {
		{"7", "POST /a from 1.2.3.4", "", 993},
		{"header.x-cost", "POST /a from 127.0.0.1 | X-Cost: 12", "", 988},
		{"header.x-cost", "POST /a from 127.0.0.1 | X-Cost: 12.1", "", 987},
		{"header.x-cost", "POST /a from 127.0.0.1 | X-Cost: 0", "", 1000},
		{"header.x-cost", "POST /a from 127.0.0.1 | X-Cost: -5", "", 999},
		{"header.x-cost", "POST /a from 127.0.0.1 | X-Cost: 5 apples", "", 999},
		{"header.x-cost", "POST /a from 127.0.0.1", "", 999},
		{"header.x-cost", "POST /a from 1.2.3.4 | X-Cost: 0", "",
		 999}, /* not trusted: its word is nothing */
		{"body.n", "POST /a from 1.2.3.4 | Content-Type: application/json", "{\"n\": 40}", 960},
		{"body.n", "POST /a from 1.2.3.4 | Content-Type: application/json", "{\"n\": \"40\"}", 960},
		{"body.n", "POST /a from 1.2.3.4 | Content-Type: application/json", "{\"n\": 0}",
		 999}, /* nothing is free */
		{"body.n", "POST /a from 1.2.3.4 | Content-Type: application/json", "{}", 999},
		{"body.n", "POST /a from 1.2.3.4 | Content-Type: application/x-www-form-urlencoded",
		 "n=3&n=9", 991},
		{"body.items.count", "POST /a from 1.2.3.4 | Content-Type: application/json",
		 "{\"items\": [1, [2, 3], {}]}", 997},
		{"body.items.count", "POST /a from 1.2.3.4 | Content-Type: application/json",
		 "{\"items\": []}", 999},
		{"body.count", "POST /a from 1.2.3.4 | Content-Type: application/json", "[{}, {}, {}, {}]",
		 996},
		{"{reserve: body.n, at_most: 100}", "POST /a from 1.2.3.4 | Content-Type: application/json",
		 "{\"n\": 4000000000}", 900},
		/* nothing to be read from: it does not say it */
		{"{reserve: body.n, at_most: 100}", N, "", 999},
		{"{reserve: body.n, at_most: 100}", N, "{\"n\": null}", 999},
		{"{reserve: body.n, at_most: 100}", N, "{\"n\": \"\"}", 999},
		{"{reserve: body.n, at_most: 100}", F, "m=1", 999},
		{"{reserve: body.items.count, at_most: 100}", N, "{\"items\": null}", 999},
		{"{reserve: body.count, at_most: 100}", N, "{\"query\": \"a\"}", 999},
		/* it may say anything: the most */
		{"{reserve: body.n, at_most: 100}", N, "{\"n\": -40}", 900},
		{"{reserve: body.n, at_most: 100}", N, "{\"n\": \"900 tokens\"}", 900},
		{"{reserve: body.n, at_most: 100}", N, "{\"n\": \"1,000\"}", 900},
		{"{reserve: body.n, at_most: 100}", N, "{\"n\": [5]}", 900},
		{"{reserve: body.n, at_most: 100}", N, "{\"n\": 5, \"x\": NaN}", 900},
		{"{reserve: body.n, at_most: 100}", N, "n=5", 900},
		{"{reserve: body.n, at_most: 100}", N "; charset=utf-16", "{\"n\": 5}", 900},
		{"{reserve: body.n, at_most: 100}", N " | Content-Encoding: gzip", "{\"n\": 5}", 900},
		{"{reserve: body.n, at_most: 100}", "POST /a from 1.2.3.4", "n=5", 900},
		{"{reserve: body.items.count, at_most: 100}", F, "items[]=1&items[]=2", 900},
		{"{reserve: body.items.count, at_most: 100}", N, "{\"items\": {\"0\": 1}}", 900},
		{"body.n", N, "{\"n\": \"5 or so\"}", 0}, /* no most is said: all that the limit holds */
		{"body.items.count", N, "{\"items\": [1, 2", 0},
	};
	char policy[512], what[256];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world world;

		snprintf(policy, sizeof policy,
			 "clients: {address: {from: x-forwarded-for, trusted: [127.0.0.1]}}\n"
			 "limits: {a: {match: POST /a, key: ip, rate: 1000/hour, cost: %s}}\n",
			 cases[i].cost);
		world_open(&world, policy);
		snprintf(what, sizeof what, "cost %s: %s", cases[i].cost, cases[i].body);
		is_str(flow_status_word(ask(&world, cases[i].line, cases[i].body)->status), "PASSED", what);
		is_u64(left(&world), cases[i].left, "... so much is left");
		world_close(&world);
	}
}

/* Of a body of 30 KB the first 16 are looked at. */
static void cut(void)
{
	static const struct {
		const char *cost, *begins, *filler, *ends;
		uint32_t left;
	} cases[] = {
		{"body.n", "{\"n\": 7, \"x\": \"", "x", "\"}", 993},
		{"body.n", "{\"x\": \"", "x", "\", \"n\": 7}", 900},
		{"body.n", "{\"n\": \"7", " ", "\"}", 900},
		{"body.items.count", "{\"items\": [1, 2, 3], \"x\": \"", "x", "\"}", 997},
		{"body.items.count", "{\"x\": \"", "x", "\", \"items\": [1, 2, 3]}", 900},
		{"body.items.count", "{\"items\": [1", ",2", "]}", 900},
		{"body.items.count", "{\"items\": [\"", "x", "\"]}", 900},
		{"body.items.count", "{\"items\": [1], \"items\": [1", ",2", "]}", 900},
		{"body.count", "[1", ",2", "]", 900},
	};
	static char body[30000];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char policy[256], what[256];
		struct world world;
		size_t size = (size_t)sprintf(body, "%s", cases[i].begins);

		while (size + 64 < sizeof body)
			size += (size_t)sprintf(body + size, "%s", cases[i].filler);
		strcpy(body + size, cases[i].ends);
		snprintf(policy, sizeof policy,
			 "limits: {a: {match: POST /a, key: ip, rate: 1000/hour, cost: {reserve: %s, "
			 "at_most: 100}}}\n",
			 cases[i].cost);
		world_open(&world, policy);
		ask(&world, N, body);
		snprintf(what, sizeof what, "cost %s: %s and 30 KB, then %s", cases[i].cost, cases[i].begins,
			 cases[i].ends);
		is_u64(left(&world), cases[i].left, what);
		world_close(&world);
	}
}

#define CHAT "POST /chat from 1.2.3.4 | Content-Type: application/json"

/* 300 are reserved; then the answer comes, or does not. */
static void settled(void)
{
	static const struct {
		const char *more, *type, *encoding, *answer;
		unsigned status;
		uint32_t left;
		uint64_t unsettled;
	} cases[] = {
		{"", "application/json", "", "{\"usage\": {\"total\": 100}}", 200, 900, 0},
		{"", "application/json", "", "{\"usage\": {\"total\": 0}}", 200, 1000, 0},
		{"", "application/json", "", "{\"usage\": {\"total\": 450}}", 200, 700,
		 0}, /* no more than was asked for */
		{", overdraw: yes", "application/json", "", "{\"usage\": {\"total\": 450}}", 200, 550, 0},
		{", overdraw: yes", "application/json", "", "{\"usage\": {\"total\": 5000}}", 200, 0, 0},
		{"", "application/json", "", "{\"usage\": {}}", 200, 700,
		 1}, /* not said: the reserve stands, and is counted */
		{"", "application/json", "gzip", "{\"usage\": {\"total\": 100}}", 200, 700, 1},
		{"", "text/html", "", "{\"usage\": {\"total\": 100}}", 200, 700, 1},
		{"", "application/json", "", "{\"error\": 1}", 400, 700, 1},
		{"", "application/json", "", "{\"error\": 1}", 502, 1000, 0}, /* an outage uses nothing up */
		{"", "text/event-stream", "",
		 "data: {\"usage\": {\"total\": 1}}\n\ndata: {\"x\": 1}\n\ndata: {\"usage\": {\"total\": "
		 "120}}\n\ndata: [DONE]\n\n",
		 200, 880, 0},
	};
	char policy[512], what[256];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stats_process sum;
		struct world world;
		size_t size = strlen(cases[i].answer);

		snprintf(policy, sizeof policy,
			 "limits: {t: {match: POST /chat, key: ip, rate: 1000/hour, "
			 "cost: {reserve: body.max, at_most: 500, settle: response.body.usage.total}%s}}\n",
			 cases[i].more);
		world_open(&world, policy);
		ask(&world, CHAT, "{\"max\": 300}");
		snprintf(what, sizeof what, "%s %u: %s", cases[i].type, cases[i].status, cases[i].answer);
		is_u64(world.flow->verdict.remaining, 700, what);
		flow_responded(world.flow, &world.time, &cases[i].status, 1);
		world_pass(&world, 90 * SECOND); /* longer than a reservation lives by itself */
		table_overdue(world.table, &world.time);
		world.time.now -= 90 * SECOND;
		if (flow_wants_body(world.flow, text_of(cases[i].type), text_of(cases[i].encoding)))
			for (size_t at = 0; at < size; at++)
				flow_body(world.flow, &world.time, cases[i].answer + at, 1, at + 1 == size);
		world_end(&world);
		is_u64(left(&world), cases[i].left, "... then so much is left");
		stats_process_sum(world.table, &sum);
		is_u64(sum.unsettled, cases[i].unsettled,
		       "... and the operator can see that nothing was said");
		world_close(&world);
	}
}

static bool said(void *context, struct text name, struct text *value)
{
	(void)context;
	*value = TEXT("250");
	return text_equal(name, TEXT("x-used"));
}

static void by_header(void)
{
	struct world world;
	const unsigned ok = 200;

	world_open(&world, "limits: {t: {match: POST /chat, key: ip, rate: 1000/hour, "
			   "cost: {reserve: 400, settle: response.header.x-used}}}\n");
	ask(&world, CHAT, "");
	door.request.response_header = said;
	flow_responded(world.flow, &world.time, &ok, 1);
	is_u64(world.flow->verdict.remaining, 750,
	       "settled by a header of the answer, and its own answer says so");
	world_end(&world);
	is_u64(left(&world), 750, "... once");
	world_close(&world);
}

/* While in debt, wait: the debt is paid at the limit's pace. */
static void debt(void)
{
	struct world world;
	const unsigned ok = 200;
	const char *answer = "{\"usage\": {\"total\": 100}}";

	world_open(&world, "limits: {t: {match: POST /chat, key: ip, rate: 60/min, "
			   "cost: {reserve: 10, settle: response.body.usage.total}, overdraw: yes}}\n");
	ask(&world, CHAT, "");
	flow_responded(world.flow, &world.time, &ok, 1);
	ok(flow_wants_body(world.flow, TEXT("application/json"), TEXT("")), "the body is wanted");
	flow_body(world.flow, &world.time, answer, strlen(answer), true);
	is_u64(ask(&world, CHAT, "")->retry_after_s, 50, "100 of 60 used: 40 owed, 10 wanted: 50 s");
	world_pass(&world, 50 * SECOND);
	is_str(flow_status_word(ask(&world, CHAT, "")->status), "PASSED", "... and then it passes");
	world_close(&world);
}

/* Two limits, two fields of one answer. */
static void two_fields(void)
{
	struct world world;
	const unsigned ok = 200;
	const char *answer = "{\"usage\": {\"in\": 7, \"out\": 11}}";
	uint32_t first;

	world_open(&world, "limits:\n"
			   "  in: {match: POST /chat, key: ip, rate: 100/hour, cost: {reserve: 50, settle: "
			   "response.body.usage.in}}\n"
			   "  out: {match: POST /chat, key: ip, rate: 100/hour, cost: {reserve: 50, settle: "
			   "response.body.usage.out}}\n");
	ask(&world, CHAT, "");
	flow_responded(world.flow, &world.time, &ok, 1);
	ok(flow_wants_body(world.flow, TEXT("application/json"), TEXT("")), "two fields are looked for");
	flow_body(world.flow, &world.time, answer, strlen(answer), true);
	first = left(&world);
	world.flow->hits[0] = world.flow->hits[1];
	is_u64(first * 1000 + left(&world), 93089, "each limit is charged its own");
	world_close(&world);
}

int main(void)
{
	asked();
	cut();
	settled();
	by_header();
	debt();
	two_fields();
	return done_testing();
}
