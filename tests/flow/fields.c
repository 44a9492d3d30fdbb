/* SPDX-License-Identifier: BSD-2-Clause */
/* fields: each form of the rate fields, and what goes together, byte for byte (mission B31). */
#include "tests/flow/answered.h"
#include "tests/flow/visit.h"

#define IP     "GET / from 1.2.3.4"
#define LOGIN  "limits:\n  login: {rate: 5/min}\n"
#define HOURLY "limits:\n  hourly: {rate: [10/min, 100/hour]}\n"
#define BOTH   "limits:\n  calls: {rate: 100/min}\n  downloads: {concurrent: 2}\n"
#define SITE   "limits:\n  calls: {rate: 100/min}\n  all: {key: site, rate: 10/min}\n"

static const struct {
	const char *name, *headers, *limits, *line;
	int times, busy; /* requests answered before, and those that are still in flight */
	const char *expect;
} rows[] = {
	{"x-ratelimit", "x-ratelimit", LOGIN, IP, 1, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 4\nX-RateLimit-Reset: 1893456012\n"},
	{"x-ratelimit in seconds from now", "x-ratelimit-delta", LOGIN, IP, 1, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 4\nX-RateLimit-Reset: 12\n"},
	{"... refused", "x-ratelimit-delta", LOGIN, IP, 6, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 60\nRetry-After: 12\n"},
	{"github", "github", LOGIN, IP, 2, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 3\nX-RateLimit-Reset: 1893456024\nX-RateLimit-Used: "
	 "2\n"
	 "X-RateLimit-Resource: login\n"},
	{"github, refused", "github", LOGIN, IP, 6, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1893456060\nX-RateLimit-Used: "
	 "5\n"
	 "X-RateLimit-Resource: login\nRetry-After: 12\n"},
	{"github, of several rates", "github", HOURLY, IP, 1, 0,
	 "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 9\nX-RateLimit-Reset: 1893456006\nX-RateLimit-Used: "
	 "1\n"
	 "X-RateLimit-Resource: hourly/min\n"},
	{"draft 6", "draft-6", LOGIN, IP, 1, 0,
	 "RateLimit-Policy: 5;w=60\nRateLimit-Limit: 5\nRateLimit-Remaining: 4\nRateLimit-Reset: 12\n"},
	{"draft 6, several", "draft-6", HOURLY, IP, 1, 0,
	 "RateLimit-Policy: 10;w=60, 100;w=3600\nRateLimit-Limit: 10\nRateLimit-Remaining: "
	 "9\nRateLimit-Reset: 6\n"},
	{"draft 6, refused", "draft-6", LOGIN, IP, 6, 0,
	 "RateLimit-Policy: 5;w=60\nRateLimit-Limit: 5\nRateLimit-Remaining: 0\nRateLimit-Reset: 12\n"
	 "Retry-After: 12\n"},
	{"draft 7", "draft-7", LOGIN, IP, 1, 0,
	 "RateLimit-Policy: 5;w=60\nRateLimit: limit=5, remaining=4, reset=12\n"},
	{"draft 7, several", "draft-7", HOURLY, IP, 1, 0,
	 "RateLimit-Policy: 10;w=60, 100;w=3600\nRateLimit: limit=10, remaining=9, reset=6\n"},
	{"draft 7, refused", "draft-7", LOGIN, IP, 6, 0,
	 "RateLimit-Policy: 5;w=60\nRateLimit: limit=5, remaining=0, reset=12\nRetry-After: 12\n"},
	{"draft 11, several", "ratelimit", HOURLY, IP, 1, 0,
	 "RateLimit-Policy: \"hourly/min\";q=10;w=60, \"hourly/hour\";q=100;w=3600\nRateLimit: "
	 "\"hourly/min\";r=9;t=54\n"},
	{"the site's limit is told only by its refusal", "draft-6", SITE, IP, 1, 0,
	 "RateLimit-Policy: 100;w=60\nRateLimit-Limit: 100\nRateLimit-Remaining: 99\nRateLimit-Reset: 1\n"},
	{"none", "none", LOGIN, IP, 6, 0, "Retry-After: 12\n"},
	/* together */
	{"github and draft 7", "[github, draft-7]", LOGIN, IP, 1, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 4\nX-RateLimit-Reset: 1893456012\nX-RateLimit-Used: "
	 "1\n"
	 "X-RateLimit-Resource: login\nRateLimit-Policy: 5;w=60\nRateLimit: limit=5, remaining=4, "
	 "reset=12\n"},
	{"delta and draft 11", "[x-ratelimit-delta, ratelimit]", LOGIN, IP, 1, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 4\nX-RateLimit-Reset: 12\n"
	 "RateLimit-Policy: \"login\";q=5;w=60\nRateLimit: \"login\";r=4;t=48\n"},
	{"the most there can be, to a script", "[github, draft-6]", LOGIN, IP " | Origin: https://a.example",
	 6, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1893456060\nX-RateLimit-Used: "
	 "5\n"
	 "X-RateLimit-Resource: login\nRateLimit-Policy: 5;w=60\nRateLimit-Limit: 5\nRateLimit-Remaining: 0\n"
	 "RateLimit-Reset: 12\nRetry-After: 12\n"
	 "expose X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Used, "
	 "X-RateLimit-Resource, "
	 "RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After\n"},
	/* in flight: no window, no reset, no time */
	{"in flight", "[x-ratelimit, ratelimit]", BOTH, IP, 1, 0,
	 "X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 1\n"
	 "RateLimit-Policy: \"downloads\";q=2;qu=\"concurrent-requests\", \"calls\";q=100;w=60\n"
	 "RateLimit: \"downloads\";r=1\n"},
	{"in flight, refused", "[x-ratelimit, ratelimit]", BOTH, IP, 1, 2,
	 "X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 0\n"
	 "RateLimit-Policy: \"downloads\";q=2;qu=\"concurrent-requests\", \"calls\";q=100;w=60\n"
	 "RateLimit: \"downloads\";r=0\nRetry-After: 1\n"},
	{"in flight, in GitHub's words", "github", BOTH, IP, 1, 1,
	 "X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 0\nX-RateLimit-Used: 2\nX-RateLimit-Resource: "
	 "downloads\n"},
	{"in flight, in draft 7, which knows no such thing", "draft-7", BOTH, IP, 1, 2,
	 "RateLimit-Policy: 100;w=60\nRetry-After: 1\n"},
	{"... nor does draft 6", "draft-6", BOTH, IP, 1, 1, "RateLimit-Policy: 100;w=60\n"},
	{"... so that alone it is not told", "draft-6", "limits:\n  downloads: {concurrent: 2}\n", IP, 1, 0,
	 ""},
	/* other kinds */
	{"a log", "[x-ratelimit-delta, ratelimit]", "limits:\n  one: {rate: 5/min, algorithm: sliding-log}\n",
	 IP, 2, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 3\nX-RateLimit-Reset: 60\n"
	 "RateLimit-Policy: \"one\";q=5;w=60\nRateLimit: \"one\";r=3;t=36\n"},
	{"a log, refused", "[x-ratelimit-delta, ratelimit]",
	 "limits:\n  one: {rate: 5/min, algorithm: sliding-log}\n", IP, 6, 0,
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 60\n"
	 "RateLimit-Policy: \"one\";q=5;w=60\nRateLimit: \"one\";r=0;t=60\nRetry-After: 60\n"},
	{"failures: what is reserved is not left", "ratelimit",
	 "limits:\n  login: {rate: 5/min, count: failures}\n", IP, 1, 2,
	 "RateLimit-Policy: \"login\";q=5;w=60\nRateLimit: \"login\";r=2;t=24\n"},
	{"a pace is not told", "ratelimit", "limits:\n  d: {bandwidth: 1MiB/s, total: 2MiB/s}\n", IP, 1, 0,
	 ""},
	{"... beside what is", "ratelimit",
	 "limits:\n  d: {bandwidth: 1MiB/s, total: 2MiB/s}\n  login: {rate: 5/min}\n", IP, 1, 0,
	 "RateLimit-Policy: \"login\";q=5;w=60\nRateLimit: \"login\";r=4;t=48\n"},
};

static void forms(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct visit *busy[4];
		struct world world;
		char policy[512], *body, text[8192];

		snprintf(policy, sizeof policy, "respond: {headers: %s, body: text}\n%s", rows[i].headers,
			 rows[i].limits);
		world_open(&world, policy);
		for (int n = 0; n < rows[i].busy; n++)
			busy[n] = visit_open(&world, rows[i].line, true);
		snprintf(text, sizeof text, "%s", answer(&world, rows[i].line, rows[i].times, ""));
		if ((body = strstr(text, "text/plain")))
			*body = '\0';
		is_str(text, rows[i].expect, rows[i].name);
		for (int n = 0; n < rows[i].busy; n++)
			visit_close(&world, busy[n]);
		world_close(&world);
	}
}

/* What who is refused for want of a place reads. */
static void bodies(void)
{
	static const struct {
		const char *body, *line, *expect;
	} said[] = {
		{"json", IP,
		 "application/json\n{\"error\":\"too_many_at_once\",\"message\":\"Too many requests at the "
		 "same time: try "
		 "again in 1 second.\",\"limit\":\"downloads\",\"retryAfter\":1}\n"},
		{"problem", IP,
		 "application/problem+json\n{\"type\":\"https://iana.org/assignments/"
		 "http-problem-types#quota-exceeded\","
		 "\"title\":\"Request cannot be satisfied as assigned quota has been "
		 "exceeded\",\"status\":429,"
		 "\"detail\":\"Too many requests at the same time: try again in 1 second.\","
		 "\"violated-policies\":[\"downloads\"]}\n"},
		{"text", IP,
		 "text/plain; charset=utf-8\nToo many requests at the same time: try again in 1 second.\n"},
		{"json", "POST /a.B/C from 1.2.3.4 | Content-Type: application/grpc",
		 "grpc-status 8\napplication/grpc\nToo many requests at the same time: try again in 1 "
		 "second."},
	};

	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		struct world world;
		char policy[256], expect[512];

		snprintf(policy, sizeof policy,
			 "respond: {headers: none, body: %s}\nlimits:\n  downloads: {concurrent: 1}\n",
			 said[i].body);
		snprintf(expect, sizeof expect, "Retry-After: 1\n%s", said[i].expect);
		world_open(&world, policy);
		struct visit *busy = visit_open(&world, said[i].line, true);
		is_str(answer(&world, said[i].line, 1, ""), expect, "too many at the same time, in words");
		visit_close(&world, busy);
		world_close(&world);
	}
}

int main(void)
{
	forms();
	bodies();
	return done_testing();
}
