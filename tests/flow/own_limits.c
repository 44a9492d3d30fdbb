/* SPDX-License-Identifier: BSD-2-Clause */
/* own_limits: what a client reads about itself: his own numbers, free of charge, and nothing of anybody else's. */
#include "flow/own_limits.h"
#include "tests/flow/world.h"

static const char POLICY[] =
	"respond: {own_limits: /.weir/limits}\n"
	"clients: {address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}}\n"
	"limits:\n"
	"  api: {match: /api, key: ip, rate: 100/min}\n"
	"  both: {match: /api, key: ip, rate: [5/s, 1000/hour], algorithm: fixed-window}\n"
	"  tenant: {match: /api, key: header.x-tenant, missing: skip, rate: 50/s}\n"
	"  seat: {match: /api, key: [ip, cookie.seat], missing: skip, rate: 50/s}\n"
	"  asked: {match: /api, key: query.who | ip, rate: 50/s}\n"
	"  quota: {match: /api, key: ip, rate: 100/month, over: {allow: 20%, notify: [80%]}}\n"
	"  flight: {match: /api, key: ip, concurrent: 3}\n"
	"  routes: {match: [/a, /b], key: route, rate: 5/s}\n"
	"  everybody: {match: /api, key: site, rate: 500/s}\n"
	"  trial: {match: /api, key: ip, rate: 7/s, mode: shadow}\n"
	"  off: {match: /api, key: ip, rate: 8/s, mode: disabled}\n";

static struct world world;
static char told[65536];

static const char *tell(const char *line, size_t size)
{
	const struct flow_verdict *verdict = world_ask(&world, line);

	if (verdict->action != FLOW_TELL)
		return flow_status_word(verdict->status);
	if (size > sizeof told)
		abort();
	memset(told, 'x', sizeof told);
	size_t used = flow_own_limits(world.flow, told, size);
	if (used > size)
		abort();
	told[used < sizeof told ? used : sizeof told - 1] = '\0';
	return told;
}

/* The second in which nothing is remembered is the same one in a header and here. */
static void same_reset(void)
{
	static const char *const LIKE[] = {"algorithm: fixed-window", "algorithm: sliding-window",
					   "algorithm: sliding-log", "algorithm: token-bucket",
					   "algorithm: fixed-window, align: calendar UTC"};
	char policy[256];

	for (size_t i = 0; i < sizeof LIKE / sizeof LIKE[0]; i++) {
		uint64_t bad = 0, sum = 0;

		snprintf(policy, sizeof policy, "limits:\n  w: {match: /api, key: ip, rate: 9/hour, %s}\n",
			 LIKE[i]);
		world_open(&world, policy);
		for (int k = 0; k < 9; k++) {
			uint64_t header = world_ask(&world, "GET /api from 1.2.3.4")->reset_s;
			const char *at = strstr(tell("GET /.weir/limits from 1.2.3.4", 65536), "\"reset\":");

			bad += !at || strtoull(at + 8, NULL, 10) != header;
			sum += header;
			world_pass(&world, 7 * SECOND + 123456789);
		}
		ok(sum > 9 * 300, LIKE[i]);
		is_u64(bad, 0, "... at the same second in a header and for who asks");
		world_close(&world);
	}
}

/* What is met by the path itself holds there, and is not charged for being asked. */
static void site_wide(void)
{
	world_open(&world, "limits:\n"
			   "  all: {key: ip, rate: 3/min, algorithm: fixed-window}\n"
			   "  mine: {key: session, missing: ip, rate: 2/hour}\n"
			   "  deep: {match: POST /x, key: body.user, missing: ip, rate: 1/hour}\n"
			   "  trial: {key: ip, rate: 1/day, mode: shadow}\n"
			   "clients: {exempt: [{ip: 9.9.9.9}], session: cookie.sid}\n");
	for (int i = 0; i < 10; i++)
		is_str(world_says(&world, "GET /.weir/limits from 1.2.3.4"), "OWN_LIMITS", "asking is free");
	for (int i = 0; i < 3; i++)
		is_str(world_says(&world, i < 1	  ? "GET / from 1.2.3.4 | Cookie: sid=a"
					  : i < 2 ? "GET / from 1.2.3.4 | Cookie: sid=b"
						  : "GET / from 1.2.3.4 | Cookie: sid=c"),
		       i ? "REJECTED_SHADOW" : "PASSED", "three pass");
	ok(strstr(tell("GET /.weir/limits from 5.6.7.8", 65536), "\"used\":0") != NULL, "others are told");
	const struct flow_verdict *verdict = world_ask(&world, "GET /.weir/limits from 1.2.3.4");
	is_str(flow_status_word(verdict->status), "REJECTED",
	       "who has nothing left of a limit of every path is refused");
	is_u64(verdict->http_status, 429, "... with 429");
	ok(verdict->retry_after_s >= 60 && verdict->retry_after_s <= 61, "... until it ends");
	world_pass(&world, verdict->retry_after_s * SECOND);
	is_str(world_says(&world, "GET /.weir/limits from 1.2.3.4"), "OWN_LIMITS", "... which it does");
	for (int i = 0; i < 3; i++)
		world_says(&world, "GET / from 7.7.7.7 | Cookie: sid=mine");
	ok(strstr(tell("GET /.weir/limits from 7.7.7.7 | Cookie: sid=mine", 65536),
		  "\"limit\":2,\"used\":2") != NULL,
	   "who has used up his hour reads just that");
	for (int i = 0; i < 5; i++)
		world_says(&world, "GET / from 9.9.9.9");
	is_str(world_says(&world, "GET /.weir/limits from 9.9.9.9"), "OWN_LIMITS", "who is exempt is not");
	world_close(&world);
}

/* Invented keys are charged, whether they are answered or not. */
static void guessing(void)
{
	static const char *const UNKNOWN[] = {"deny", "ip"}, *const SAID[] = {"UNKNOWN", "OWN_LIMITS"};
	char policy[512];

	for (size_t i = 0; i < 2; i++) {
		snprintf(policy, sizeof policy,
			 "limits:\n"
			 "  all: {key: ip, rate: 3/hour}\n"
			 "  slots: {key: ip, concurrent: 100}\n"
			 "clients: {api_keys: {database: /nowhere/keys.db, unknown: %s}}\n",
			 UNKNOWN[i]);
		world_open(&world, policy);
		for (int k = 0; k < 3; k++)
			is_str(world_says(&world, "GET /.weir/limits from 1.2.3.4 | X-API-Key: guess"),
			       SAID[i], UNKNOWN[i]);
		is_str(world_says(&world, "GET /.weir/limits from 1.2.3.4 | X-API-Key: guess"), "REJECTED",
		       "three guesses, and no more");
		is_str(world_says(&world, "GET /.weir/limits from 5.6.7.8"), "OWN_LIMITS",
		       "without a key it is free");
		is_u64(world.flow->tickets, 0, "and nothing is held");
		world_close(&world);
	}
}

/* It is free, so it must be cheap. */
static void many(void)
{
	static char policy[300 * 64] = "limits:\n";
	size_t size = strlen(policy), count = 0;

	for (int i = 0; i < 300; i++)
		size += (size_t)snprintf(policy + size, sizeof policy - size,
					 "  l%d: {match: /p%d, rate: 5/s}\n", i, i);
	world_open(&world, policy);
	for (const char *at = tell("GET /.weir/limits from 1.2.3.4", 65536); (at = strstr(at, "{\"name\""));
	     at++)
		count++;
	is_u64(count, 256, "the first 256 limits are told");
	ok(strstr(told, "\"l255\"") && !strstr(told, "\"l256\""), "... in the policy's order");
	world_close(&world);
}

int main(void)
{
	world_open(&world, POLICY);
	/* 2030-01-01 00:00:00 UTC: the month has 31 days left */
	is_str(tell("GET /.weir/limits from 1.2.3.4", 65536),
	       "{\"plan\":null,\"limits\":["
	       "{\"name\":\"api\",\"match\":\"/"
	       "api\",\"limit\":100,\"used\":0,\"remaining\":100,\"reset\":0,\"window\":60},"
	       "{\"name\":\"both/s\",\"match\":\"/"
	       "api\",\"limit\":5,\"used\":0,\"remaining\":5,\"reset\":0,\"window\":1},"
	       "{\"name\":\"both/hour\",\"match\":\"/"
	       "api\",\"limit\":1000,\"used\":0,\"remaining\":1000,\"reset\":0,\"window\":3600},"
	       "{\"name\":\"quota\",\"match\":\"/"
	       "api\",\"limit\":100,\"used\":0,\"remaining\":100,\"reset\":0,"
	       "\"window\":2629746},"
	       "{\"name\":\"flight\",\"match\":\"/"
	       "api\",\"limit\":3,\"used\":0,\"remaining\":3,\"reset\":0,\"window\":0}"
	       "]}\n",
	       "nothing used: what there is for an address");
	for (int i = 0; i < 30; i++)
		world_says(&world, "GET /api from 1.2.3.4 | X-Tenant: acme");
	const char *after = "{\"plan\":null,\"limits\":["
			    "{\"name\":\"api\",\"match\":\"/"
			    "api\",\"limit\":100,\"used\":5,\"remaining\":95,\"reset\":3,\"window\":60},"
			    "{\"name\":\"both/s\",\"match\":\"/"
			    "api\",\"limit\":5,\"used\":5,\"remaining\":0,\"reset\":1,\"window\":1},"
			    "{\"name\":\"both/hour\",\"match\":\"/"
			    "api\",\"limit\":1000,\"used\":5,\"remaining\":995,\"reset\":3600,"
			    "\"window\":3600},"
			    "{\"name\":\"quota\",\"match\":\"/"
			    "api\",\"limit\":100,\"used\":5,\"remaining\":95,\"reset\":2678400,"
			    "\"window\":2629746},"
			    "{\"name\":\"flight\",\"match\":\"/"
			    "api\",\"limit\":3,\"used\":0,\"remaining\":3,\"reset\":0,\"window\":0}"
			    "]}\n";
	is_str(tell("GET /.weir/limits from 1.2.3.4 | X-Tenant: acme", 65536), after,
	       "five have passed: used, left, until when; of a tenant, a seat, whom anybody can name, "
	       "nothing");
	for (int i = 0; i < 100; i++)
		tell("GET /.weir/limits from 1.2.3.4 | X-Tenant: acme", 65536);
	is_str(tell("GET /.weir/limits from 1.2.3.4 | X-Tenant: acme", 65536), after, "asking is free");
	is_str(tell("HEAD /.weir/limits?x=1 from 1.2.3.4 | X-Tenant: acme", 65536), after, "and by HEAD");
	ok(strstr(tell("GET /.weir/limits from 5.6.7.8", 65536), "\"used\":0") != NULL &&
		   !strstr(tell("GET /.weir/limits from 5.6.7.8", 65536), "\"used\":5"),
	   "another client sees his own");
	is_str(tell("POST /.weir/limits from 1.2.3.4", 65536), "UNLIMITED",
	       "a POST is a request like others");
	is_str(tell("GET /.weir/limit from 1.2.3.4", 65536), "UNLIMITED", "so is another path");

	/* over: 120 pass, 100 are told */
	for (int i = 0; i < 130; i++) {
		world_pass(&world, SECOND);
		world_says(&world, "GET /api from 1.2.3.4");
	}
	ok(strstr(tell("GET /.weir/limits from 1.2.3.4", 65536),
		  "{\"name\":\"quota\",\"match\":\"/api\",\"limit\":100,\"used\":120,\"remaining\":0,") !=
		   NULL,
	   "beyond the soft quota nothing is left, and all of it is told");

	/* cut at a whole entry, whatever the room */
	unsigned bad = 0;
	for (size_t size = 40; size < 700; size++) {
		const char *said = tell("GET /.weir/limits from 1.2.3.4 | X-Tenant: acme", size);
		size_t length = strlen(said);
		bad += length > size || strncmp(said, "{\"plan\":null,\"limits\":[", 23) != 0 ||
		       (strcmp(said + length - 4, "}]}\n") != 0 && strcmp(said + 23, "]}\n") != 0);
	}
	is_u64(bad, 0, "with less room there are fewer entries, all of them whole");
	is_u64(flow_own_limits(world.flow, (char[10]){0}, 10), 0, "and with none nothing");
	world_close(&world);
	same_reset();
	site_wide();
	guessing();
	many();
	return done_testing();
}
