/* SPDX-License-Identifier: BSD-2-Clause */
/* answer: headers and bodies, byte for byte (mission B30-B32). */
#include "flow/writer.h"
#include "tests/flow/answered.h"

#define IP "GET / from 1.2.3.4"

static const struct {
	const char *name, *policy, *line;
	int times;
	const char *accept, *expect;
} table[] = {
	{"allowed", "limits:\n  login: {rate: 5/min}\n", IP, 1, "",
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 4\nX-RateLimit-Reset: 1893456012\n"
	 "RateLimit-Policy: \"login\";q=5;w=60\nRateLimit: \"login\";r=4;t=48\n"},
	{"the last one", "limits:\n  login: {rate: 5/min}\n", IP, 5, "",
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1893456060\n"
	 "RateLimit-Policy: \"login\";q=5;w=60\nRateLimit: \"login\";r=0;t=1\n"},
	{"refused", "limits:\n  login: {rate: 5/min}\n", IP, 6, "",
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1893456060\n"
	 "RateLimit-Policy: \"login\";q=5;w=60\nRateLimit: \"login\";r=0;t=12\nRetry-After: 12\n"
	 "application/json\n{\"error\":\"rate_limited\",\"message\":\"Too many requests: try again in 12 "
	 "seconds.\","
	 "\"limit\":\"login\",\"retryAfter\":12}\n"},
	{"refused for a second", "respond: {headers: none}\nlimits:\n  one: {rate: 5/s}\n", IP, 6, "",
	 "Retry-After: 1\napplication/json\n{\"error\":\"rate_limited\",\"message\":\"Too many requests: try "
	 "again in 1 second.\","
	 "\"limit\":\"one\",\"retryAfter\":1}\n"},
	{"a problem", "respond: {headers: ratelimit, body: problem}\nlimits:\n  daily: {rate: 2/day}\n", IP,
	 3, "",
	 "RateLimit-Policy: \"daily\";q=2;w=86400\nRateLimit: \"daily\";r=0;t=86400\nRetry-After: 86400\n"
	 "application/problem+json\n{\"type\":\"https://iana.org/assignments/"
	 "http-problem-types#quota-exceeded\","
	 "\"title\":\"Request cannot be satisfied as assigned quota has been exceeded\",\"status\":429,"
	 "\"detail\":\"Too many requests: try again in 86400 "
	 "seconds.\",\"violated-policies\":[\"daily\"]}\n"},
	{"text", "respond: {headers: x-ratelimit, body: text}\nlimits:\n  one: {rate: 1/min}\n", IP, 2, "",
	 "X-RateLimit-Limit: 1\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1893456060\nRetry-After: 60\n"
	 "text/plain; charset=utf-8\nToo many requests: try again in 60 seconds.\n"},
	{"a browser", "respond: {headers: none}\nlimits:\n  one: {rate: 1/min}\n", IP, 2,
	 "text/html,*/*;q=0.8",
	 "Retry-After: 60\ntext/html; charset=utf-8\n<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta "
	 "charset=\"utf-8\">"
	 "<title>Too many requests</title></head>\n<body><h1>Too many requests</h1>"
	 "<p>Too many requests: try again in 60 seconds.</p></body>\n</html>\n"},
	{"own status and words of one limit",
	 "respond: {headers: none}\nlimits:\n  one: {rate: 1/min, respond: {status: 503, body: problem}}\n",
	 IP, 2, "",
	 "Retry-After: 60\napplication/problem+json\n"
	 "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
	 "\"title\":\"Request cannot be satisfied as assigned quota has been exceeded\",\"status\":503,"
	 "\"detail\":\"Too many requests: try again in 60 seconds.\",\"violated-policies\":[\"one\"]}\n"},
	{"never", "limits:\n  big: {rate: 3/s, cost: 5}\n", IP, 1, "",
	 "X-RateLimit-Limit: 3\nX-RateLimit-Remaining: 3\nX-RateLimit-Reset: 1893456000\n"
	 "RateLimit-Policy: \"big\";q=3;w=1\nRateLimit: \"big\";r=3\n"
	 "application/json\n{\"error\":\"rate_limited\",\"message\":\"Too many requests: this one exceeds "
	 "what the limit ever "
	 "allows.\",\"limit\":\"big\"}\n"},
	/* which limit is told */
	{"the smallest share left",
	 "limits:\n  wide: {rate: 100/min}\n  narrow: {rate: 10/min}\n  last: {rate: 20/min}\n", IP, 1, "",
	 "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 9\nX-RateLimit-Reset: 1893456006\n"
	 "RateLimit-Policy: \"narrow\";q=10;w=60, \"wide\";q=100;w=60, \"last\";q=20;w=60\nRateLimit: "
	 "\"narrow\";r=9;t=54\n"},
	{"several rates of one limit", "limits:\n  hourly: {rate: [10/s, 1000/hour]}\n", IP, 1, "",
	 "X-RateLimit-Limit: 10\nX-RateLimit-Remaining: 9\nX-RateLimit-Reset: 1893456001\n"
	 "RateLimit-Policy: \"hourly/s\";q=10;w=1, \"hourly/hour\";q=1000;w=3600\nRateLimit: "
	 "\"hourly/s\";r=9;t=1\n"},
	{"the site's limit only when it refuses",
	 "limits:\n  all: {key: site, rate: 2/min}\n  own: {rate: 100/min}\n", IP, 2, "",
	 "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 98\nX-RateLimit-Reset: 1893456002\n"
	 "RateLimit-Policy: \"own\";q=100;w=60\nRateLimit: \"own\";r=98;t=59\n"},
	{"... and then",
	 "respond: {headers: ratelimit}\nlimits:\n  all: {key: site, rate: 2/min}\n  own: {rate: 100/min}\n",
	 IP, 3, "text/plain",
	 "RateLimit-Policy: \"all\";q=2;w=60, \"own\";q=100;w=60\nRateLimit: \"all\";r=0;t=30\nRetry-After: "
	 "30\n"
	 "text/plain; charset=utf-8\nToo many requests: try again in 30 seconds.\n"},
	{"only the site's", "limits:\n  all: {key: site, rate: 2/min}\n", IP, 1, "", ""},
	{"a shadow limit is never seen",
	 "limits:\n  dark: {rate: 1/min, mode: shadow}\n  own: {rate: 100/min}\n", IP, 3, "",
	 "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 97\nX-RateLimit-Reset: 1893456002\n"
	 "RateLimit-Policy: \"own\";q=100;w=60\nRateLimit: \"own\";r=97;t=59\n"},
	{"nothing but a shadow limit", "limits:\n  dark: {rate: 1/min, mode: shadow}\n", IP, 3, "", ""},
	{"exempt", "clients: {exempt: [{ip: 1.2.3.4}]}\nlimits:\n  one: {rate: 1/min}\n", IP, 3, "", ""},
	{"unlimited", "limits:\n  one: {match: /x, rate: 1/min}\n", IP, 1, "", ""},
	{"a window",
	 "respond: {headers: ratelimit}\nlimits:\n  one: {rate: 5/10s, algorithm: fixed-window}\n", IP, 2, "",
	 "RateLimit-Policy: \"one\";q=5;w=10\nRateLimit: \"one\";r=3;t=10\n"},
	{"a window that has just begun",
	 "respond: {headers: ratelimit}\nlimits:\n  one: {rate: 5/10s, algorithm: fixed-window}\n", IP, 1, "",
	 "RateLimit-Policy: \"one\";q=5;w=10\nRateLimit: \"one\";r=4;t=10\n"},
	{"a day", "respond: {headers: ratelimit}\nlimits:\n  one: {rate: 5/month}\n", IP, 2, "",
	 "RateLimit-Policy: \"one\";q=5;w=2629746\nRateLimit: \"one\";r=3;t=2678400\n"},
	{"a queue", "limits:\n  one: {rate: 2/s, algorithm: leaky-bucket, queue: 3}\n", IP, 2, "",
	 "X-RateLimit-Limit: 4\nX-RateLimit-Remaining: 2\nX-RateLimit-Reset: 1893456001\n"
	 "RateLimit-Policy: \"one\";q=4;w=2\nRateLimit: \"one\";r=2;t=1\n"},
	/* CORS */
	{"a script from elsewhere", "respond: {cors: mirror}\nlimits:\n  one: {rate: 5/min}\n",
	 IP " | Origin: https://a.example", 1, "",
	 "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 4\nX-RateLimit-Reset: 1893456012\n"
	 "RateLimit-Policy: \"one\";q=5;w=60\nRateLimit: \"one\";r=4;t=48\n"
	 "expose X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit\n"},
	{"... refused", "respond: {cors: mirror, headers: none, body: text}\nlimits:\n  one: {rate: 1/min}\n",
	 IP " | Origin: https://a.example", 2, "",
	 "Retry-After: 60\nexpose Retry-After\ntext/plain; charset=utf-8\nToo many requests: try again in 60 "
	 "seconds.\n"},
	{"... without an Origin",
	 "respond: {cors: mirror, headers: none, body: text}\nlimits:\n  one: {rate: 1/min}\n", IP, 2, "",
	 "Retry-After: 60\ntext/plain; charset=utf-8\nToo many requests: try again in 60 seconds.\n"},
	/* gRPC */
	{"a gRPC call", "respond: {headers: none}\nlimits:\n  one: {rate: 1/min}\n",
	 "POST /a.B/C from 1.2.3.4 | Content-Type: application/grpc+proto", 2, "text/html",
	 "Retry-After: 60\ngrpc-status 8\napplication/grpc\nToo many requests: try again in 60 seconds."},
	{"a gRPC call from a browser", "respond: {headers: none}\nlimits:\n  one: {rate: 1/min}\n",
	 "POST /a.B/C from 1.2.3.4 | Content-Type: application/grpc-web-text", 2, "",
	 "Retry-After: 60\ngrpc-status 8\napplication/grpc-web\nToo many requests: try again in 60 seconds."},
	{"a gRPC call from someone denied",
	 "clients: {deny: [{ip: 1.2.3.4}]}\nlimits:\n  one: {rate: 1/min}\n",
	 "POST /a.B/C from 1.2.3.4 | Content-Type: application/grpc", 1, "",
	 "grpc-status 7\napplication/grpc\nAccess denied."},
	{"a gRPC call that passes", "respond: {headers: none}\nlimits:\n  one: {rate: 1/min}\n",
	 "POST /a.B/C from 1.2.3.4 | Content-Type: application/grpc", 1, "", ""},
	/* not about limits: no rate headers */
	{"denied", "clients: {deny: [{ip: 1.2.3.4, reason: secret}]}\nlimits:\n  one: {rate: 1/min}\n", IP, 1,
	 "", "application/json\n{\"error\":\"denied\",\"message\":\"Access denied.\"}\n"},
	{"denied, as a problem", "clients: {deny: [{ip: 1.2.3.4}]}\nlimits:\n  one: {rate: 1/min}\n", IP, 1,
	 "application/problem+json",
	 "application/problem+json\n{\"type\":\"about:blank\",\"title\":\"Access "
	 "denied\",\"status\":403,\"detail\":\"Access denied.\"}\n"},
	{"denied and closed",
	 "clients: {deny: [{ip: 1.2.3.4, close: true}]}\nlimits:\n  one: {rate: 1/min}\n", IP, 1, "", ""},
	{"missing", "limits:\n  keyed: {key: header.x-key, missing: deny, rate: 1/min}\n", IP, 1, "",
	 "application/json\n{\"error\":\"missing_key\",\"message\":\"This request does not carry what it is "
	 "counted by.\","
	 "\"limit\":\"keyed\"}\n"},
};

static void tables(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct world world;
		world_open(&world, table[i].policy);
		is_str(answer(&world, table[i].line, table[i].times, table[i].accept), table[i].expect,
		       table[i].name);
		world_close(&world);
	}
}

/* Statuses are the policy's. */
static void statuses(void)
{
	static const struct {
		const char *policy;
		unsigned status;
		int times;
	} rows[] = {
		{"limits:\n  one: {rate: 1/min}\n", 429, 2},
		{"limits:\n  one: {rate: 1/min, respond: {status: 503}}\n", 503, 2},
		{"respond: {status: 420}\nlimits:\n  one: {rate: 1/min}\n", 420, 2},
		{"clients: {deny: [{ip: 1.2.3.4}]}\nlimits:\n  one: {rate: 1/min}\n", 403, 1},
		{"limits:\n  one: {key: header.x-key, missing: deny, rate: 1/min}\n", 403, 1},
		{"limits:\n  one: {rate: 1/min}\n", 0, 1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world world;
		world_open(&world, rows[i].policy);
		for (int n = 0; n < rows[i].times; n++)
			world_ask(&world, IP);
		is_u64(world.flow->verdict.http_status, rows[i].status,
		       "a refusal has the status of its policy");
		world_close(&world);
	}
}

/* More limits than a header has room for: the binding one is told, whole entries only, and the answer is
 * whole. */
static void crowded(void)
{
	static char policy[65536], names[64];
	struct world world;
	static struct flow_answer out;
	size_t used = (size_t)sprintf(policy, "limits:\n");

	memset(names, 'n', 55);
	for (int i = 0; i < 200; i++)
		used += (size_t)sprintf(policy + used, "  %s-%03d: {rate: %d/min}\n", names, i,
					i == 150 ? 2 : 1000 + i);
	world_open(&world, policy);
	for (int i = 0; i < 3; i++)
		world_ask(&world, IP " | Origin: https://a.example");
	flow_answer(world.flow, TEXT("application/problem+json"), WALL, &out);
	is_u64(world.flow->hit_count, 200, "two hundred limits");
	is_u64(out.header_count, 7, "all the headers are there");
	sprintf(names + 55, "-150");
	char start[128];
	int size = sprintf(start, "\"%s\";q=2;w=60, \"", names);
	struct text list = out.headers[3].value;
	ok(list.size > 600 && list.size < 800 && memcmp(list.data, start, (size_t)size) == 0,
	   "the binding limit stands first in RateLimit-Policy, others follow as they fit");
	ok(memcmp(list.data + list.size - 5, ";w=60", 5) == 0, "... the last one whole");
	ok(out.body.size && memcmp(out.body.data + out.body.size - 3, "\"}\n", 3) == 0,
	   "... and so is the body");
	ok(out.used < sizeof out.buffer, "... with room to spare");
	world_close(&world);
}

/* A page of the operator's own. */
static void pages(void)
{
	static const char page[] = "<!DOCTYPE html>\n<p dir=rtl>\xd9\x84\xd8\xb7\xd9\x81\xd8\xa7</p>\n";
	char file[96], policy[256], expect[512];
	struct world world;
	FILE *out;

	strcpy(file, "/dev/shm/weir-test-page-XXXXXX.html");
	int fd = mkstemps(file, 5);
	if (fd < 0 || !(out = fdopen(fd, "w")) || fputs(page, out) < 0 || fclose(out))
		abort();
	snprintf(policy, sizeof policy,
		 "respond: {headers: none, body: {file: %s}}\nlimits:\n  one: {rate: 1/min}\n"
		 "  two: {match: /keyed, key: header.x-key, missing: deny, rate: 9/min}\n",
		 file);
	world_open(&world, policy);
	unlink(file);
	snprintf(expect, sizeof expect, "Retry-After: 60\ntext/html; charset=utf-8\n%s", page);
	is_str(answer(&world, IP, 2, "text/html,*/*;q=0.8"), expect, "a page of the operator's own");
	is_str(answer(&world, IP, 1, ""), expect, "... for whoever has no wish");
	is_str(answer(&world, IP, 1, "application/json"),
	       "Retry-After: 60\napplication/json\n{\"error\":\"rate_limited\",\"message\":\"Too many "
	       "requests: try again in 60 "
	       "seconds.\",\"limit\":\"one\",\"retryAfter\":60}\n",
	       "... but not for a program that wants JSON");
	is_str(answer(&world, "GET /keyed from 5.6.7.8", 1, ""),
	       "application/json\n{\"error\":\"missing_key\",\"message\":\"This request does not carry what "
	       "it is counted by.\","
	       "\"limit\":\"two\"}\n",
	       "... nor for a refusal that is about something else");
	world_close(&world);
}

/* Whatever bytes a name has, the field and the JSON stay well-formed. */
static void escapes(void)
{
	static const struct {
		const char *in, *field, *json, *percent;
	} rows[] = {
		{"plain", "\"plain\"", "\"plain\"", "plain"},
		{"a\"b\\c", "\"a\\\"b\\\\c\"", "\"a\\\"b\\\\c\"", "a\"b\\c"},
		{"50%\n", "\"50%?\"", "\"50%\\u000a\"", "50%25%0A"},
		{"\xc3\xa9", "\"??\"", "\"\xc3\xa9\"", "%C3%A9"},
		{"\xff\xc3", "\"??\"", "\"??\"", "%FF%C3"},
		{"\xf0\x9f\x98\x80", "\"????\"", "\"\xf0\x9f\x98\x80\"", "%F0%9F%98%80"},
		{"\xed\xa0\x80", "\"???\"", "\"???\"", "%ED%A0%80"},
		{"\xe0\x80\xaf\xf4\x90\x80\x80", "\"???????\"", "\"???????\"", "%E0%80%AF%F4%90%80%80"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		void (*const writers[])(struct writer *, struct text) = {writer_field_string, writer_json,
									 writer_percent};
		const char *const expect[] = {rows[i].field, rows[i].json, rows[i].percent};
		for (size_t k = 0; k < 3; k++) {
			char buffer[64];
			struct writer w = {buffer, 0, sizeof buffer - 1, false};
			writers[k](&w, text_of(rows[i].in));
			buffer[w.used] = '\0';
			is_str(buffer, expect[k], "hostile bytes, written safely");
		}
	}
	char small[4];
	struct writer w = {small, 0, sizeof small, false};
	writer_text(&w, TEXT("abc"));
	writer_number(&w, 12);
	writer_text(&w, TEXT("d"));
	ok(w.full && w.used == 3, "what does not fit is left out whole, and what follows too");
}

int main(void)
{
	tables();
	statuses();
	crowded();
	pages();
	escapes();
	return done_testing();
}
