/* SPDX-License-Identifier: BSD-2-Clause */
/* own_limits: what a client reads about itself: his own numbers, free of charge, and nothing of anybody else's. */
#include "flow/own_limits.h"
#include "tests/flow/world.h"

static const char POLICY[] =
	"respond: {own_limits: /.weir/limits}\n"
	"clients: {address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}}\n"
	"limits:\n"
	"  api: {match: /api, key: ip, rate: 100/min}\n"
	"  both: {match: /api, key: header.x-tenant, missing: skip, rate: [5/s, 1000/hour], algorithm: "
	"fixed-window}\n"
	"  quota: {match: /api, key: ip, rate: 100/month, over: {allow: 20%, notify: [80%]}}\n"
	"  flight: {match: /api, key: ip, concurrent: 3}\n"
	"  routes: {match: [/a, /b], key: route, rate: 5/s}\n"
	"  everybody: {match: /api, key: site, rate: 500/s}\n"
	"  trial: {match: /api, key: ip, rate: 7/s, mode: shadow}\n"
	"  off: {match: /api, key: ip, rate: 8/s, mode: disabled}\n";

static struct world world;

static const char *tell(const char *line, size_t size)
{
	static char out[65536];
	const struct flow_verdict *verdict = world_ask(&world, line);

	if (verdict->action != FLOW_TELL)
		return flow_status_word(verdict->status);
	if (size > sizeof out)
		abort();
	memset(out, 'x', sizeof out);
	size_t used = flow_own_limits(world.flow, out, size);
	if (used > size)
		abort();
	out[used < sizeof out ? used : sizeof out - 1] = '\0';
	return out;
}

int main(void)
{
	world_open(&world, POLICY);
	/* 2030-01-01 00:00:00 UTC: the month has 31 days left */
	is_str(tell("GET /.weir/limits from 1.2.3.4", 65536),
	       "{\"plan\":null,\"limits\":["
	       "{\"name\":\"api\",\"match\":\"/"
	       "api\",\"limit\":100,\"used\":0,\"remaining\":100,\"reset\":0,\"window\":60},"
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
	       "five have passed: used, left, until when; with the tenant its limits too");
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
	return done_testing();
}
