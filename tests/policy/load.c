/* SPDX-License-Identifier: BSD-2-Clause */
/* load: what a policy means, read back from its image. (What is wrong with one is in the cases.) */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "algo/algo.h"
#include "tests/policy/loaded.h"
#include "tests/tap.h"

#define S   UINT64_C(1000000000)
#define DAY (86400 * S)

/* ---- how rates are counted --------------------------------------------------------------------------- */

static const struct {
	const char *words;
	uint8_t kind, align;
	uint32_t capacity;
	uint64_t window_ns; /* 0: not looked at */
} counters[] = {
	{"rate: 5/min", ALGO_TOKEN_BUCKET, 0, 5, 60 * S},
	{"rate: 5/min, burst: 1", ALGO_TOKEN_BUCKET, 0, 1, 12 * S},
	{"rate: 0.5/s", ALGO_TOKEN_BUCKET, 0, 1, 2 * S},
	{"rate: 1.5/s", ALGO_TOKEN_BUCKET, 0, 2, 0},
	{"rate: 23/23hour", ALGO_TOKEN_BUCKET, 0, 23, 23 * 3600 * S},
	{"rate: 24/24hour", ALGO_FIXED_WINDOW, ALGO_CLOCK, 24, DAY},
	{"rate: 10/day", ALGO_FIXED_WINDOW, ALGO_CALENDAR_DAY, 10, DAY},
	{"rate: 10/week", ALGO_FIXED_WINDOW, ALGO_CALENDAR_WEEK, 10, 0},
	{"rate: 10/month", ALGO_FIXED_WINDOW, ALGO_CALENDAR_MONTH, 10, 0},
	{"rate: 10/year", ALGO_FIXED_WINDOW, ALGO_CALENDAR_YEAR, 10, 0},
	{"rate: 10/2day", ALGO_FIXED_WINDOW, ALGO_CLOCK, 10, 2 * DAY},
	{"rate: 10/2month", ALGO_FIXED_WINDOW, ALGO_CLOCK, 10, 0},
	{"rate: 0.5/day", ALGO_FIXED_WINDOW, ALGO_CLOCK, 1, 2 * DAY},
	{"rate: 10/day, align: first-request", ALGO_FIXED_WINDOW, ALGO_FIRST_REQUEST, 10, DAY},
	{"rate: 10/day, align: clock", ALGO_FIXED_WINDOW, ALGO_CLOCK, 10, DAY},
	{"rate: 10/day, align: calendar", ALGO_FIXED_WINDOW, ALGO_CALENDAR_DAY, 10, DAY},
	{"rate: 10/month, align: calendar utc", ALGO_FIXED_WINDOW, ALGO_CALENDAR_MONTH, 10, 0},
	{"rate: 10/day, algorithm: token-bucket", ALGO_TOKEN_BUCKET, 0, 10, DAY},
	{"rate: 10/min, algorithm: fixed-window", ALGO_FIXED_WINDOW, ALGO_FIRST_REQUEST, 10, 60 * S},
	{"rate: 10/hour, algorithm: fixed-window, align: calendar UTC", ALGO_FIXED_WINDOW, ALGO_CLOCK, 10,
	 3600 * S},
	{"rate: 2/s, algorithm: leaky-bucket", ALGO_LEAKY_BUCKET, 0, 1, 0},
	{"rate: 2/s, algorithm: leaky-bucket, queue: 5, at_once: 2", ALGO_LEAKY_BUCKET, 0, 6, 0},
	{"rate: 2/s, algorithm: nginx", ALGO_LIMIT_REQ, 0, 1, S / 2},
	{"rate: 2/s, algorithm: nginx, queue: 5, at_once: 5", ALGO_LIMIT_REQ, 0, 6, 3 * S},
	{"rate: 1/min, algorithm: nginx", ALGO_LIMIT_REQ, 0, 1, 62500000000},
	{"rate: 60000/60s, algorithm: nginx", ALGO_LIMIT_REQ, 0, 1, S / 1000},
	{"rate: 0/s, algorithm: nginx", ALGO_LIMIT_REQ, 0, 0, 0},
	{"rate: 0/s", ALGO_TOKEN_BUCKET, 0, 0, 0},
	{"rate: 100/min, algorithm: sliding-window", ALGO_SLIDING_WINDOW, 0, 100, 60 * S},
	{"rate: 100/min, algorithm: sliding-log", ALGO_SLIDING_LOG, 0, 100, 60 * S},
	{"rate: 10/day, algorithm: sliding-log", ALGO_SLIDING_LOG, 0, 10, DAY},
	{"rate: 10/day, align: calendar Europe/Berlin", ALGO_FIXED_WINDOW, ALGO_CALENDAR_DAY, 10, DAY},
	{"rate: 10/hour, algorithm: fixed-window, align: calendar Asia/Kolkata", ALGO_FIXED_WINDOW,
	 ALGO_CALENDAR_HOUR, 10, 3600 * S},
	{"rate: 10/min, algorithm: fixed-window, align: calendar Asia/Kolkata", ALGO_FIXED_WINDOW, ALGO_CLOCK,
	 10, 60 * S},
	{"concurrent: 2", ALGO_CONCURRENT, 0, 2, 0},
	{"concurrent: 0", ALGO_CONCURRENT, 0, 0, 0},
	{"total: 10MiB/s", ALGO_TOKEN_BUCKET, 0, 10240, S},
	{"total: 5KiB/s", ALGO_TOKEN_BUCKET, 0, 64, 0},
	{"total: 1MB/s", ALGO_TOKEN_BUCKET, 0, 977, 0},
	{"total: 1000000KiB/s", ALGO_TOKEN_BUCKET, 0, 1000000, S},
};

static void check_counters(void)
{
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
		const struct image_limit *got = limit(counters[i].words);
		const struct image_counter *counter = image_at(policy.image, got->counters.offset);
		char what[160];
		snprintf(what, sizeof what, "%s: kind, alignment, capacity, window", counters[i].words);
		if (!ok(counter->numbers.kind == counters[i].kind &&
				(counter->numbers.kind != ALGO_FIXED_WINDOW ||
				 counter->numbers.align == counters[i].align) &&
				counter->capacity == counters[i].capacity &&
				(!counters[i].window_ns || counter->window_ns == counters[i].window_ns),
			what))
			printf("# kind %u align %u capacity %u window %" PRIu64 "\n", counter->numbers.kind,
			       counter->numbers.align, counter->capacity, counter->window_ns);
	}
}

/* 5/min is five at once, then one every twelve seconds (B24). */
static void check_refill(void)
{
	const struct image_limit *got = limit("rate: 5/min");
	const struct image_counter *counter = image_at(policy.image, got->counters.offset);
	struct algo_time time = {1000 * S, 0};
	struct algo_outcome outcome = {.state = 0};
	for (int i = 0; i < 5; i++)
		algo_step(&counter->numbers, outcome.state, &time, 1, &outcome);
	ok(outcome.allowed, "five at once");
	time.now += 12 * S - 1;
	struct algo_outcome sixth;
	algo_step(&counter->numbers, outcome.state, &time, 1, &sixth);
	ok(!sixth.allowed, "not a sixth within twelve seconds");
	time.now += 1;
	algo_step(&counter->numbers, outcome.state, &time, 1, &sixth);
	ok(sixth.allowed, "one after twelve seconds");
}

/* ---- matches and keys -------------------------------------------------------------------------------- */

#define GET  (IMAGE_METHOD_BIT(GET) | IMAGE_METHOD_BIT(HEAD))
#define POST IMAGE_METHOD_BIT(POST)

static const struct {
	const char *words;
	uint32_t clauses, methods; /* of the first clause */
	const char *match, *key;
	bool shared, preflight;
} meanings[] = {
	{"rate: 5/s", 0, 0, "", "ip", false, false},
	{"rate: 5/s, match: \"*\"", 1, IMAGE_METHOD_ANY, "*", "ip", false, false},
	{"rate: 5/s, match: /x", 1, IMAGE_METHOD_ANY, "/x", "ip", false, false},
	{"rate: 5/s, match: HEAD /x", 1, GET, "HEAD /x", "ip", false, true},
	{"rate: 5/s, match: GET", 1, GET, "GET", "ip", false, true},
	{"rate: 5/s, match: 'GET,POST /x'", 1, GET | POST, "GET,POST /x", "ip", false, true},
	{"rate: 5/s, match: 'GET, POST /x'", 1, GET | POST, "GET, POST /x", "ip", false, true},
	{"rate: 5/s, match: [/x, POST /y]", 2, IMAGE_METHOD_ANY, "/x or POST /y", "ip", false, true},
	{"rate: 5/s, match: {host: [a.example, B.Example.], path: [/x, /y, /z]}", 6, IMAGE_METHOD_ANY, NULL,
	 "ip", false, false},
	{"rate: 5/s, match: {method: [GET, POST]}", 1, GET | POST, "{method: GET,POST}", "ip", false, true},
	/* one that names OPTIONS means preflights, whatever its key */
	{"rate: 5/s, match: OPTIONS /x", 1, IMAGE_METHOD_BIT(OPTIONS), "OPTIONS /x", "ip", false, false},
	{"rate: 5/s, match: 'POST,OPTIONS /x'", 1, POST | IMAGE_METHOD_BIT(OPTIONS), "POST,OPTIONS /x", "ip",
	 false, false},
	{"rate: 5/s, match: [POST /x, OPTIONS], key: route", 2, POST, "POST /x or OPTIONS", "route", false,
	 false},
	{"rate: 5/s, match: [POST /x, /y]", 2, POST, "POST /x or /y", "ip", false, true},
	{"rate: 5/s, match: {not: POST /x}", 1, IMAGE_METHOD_ANY, "{not: POST /x}", "ip", false, false},
	{"rate: 5/s, key: site", 0, 0, "", "site", true, false},
	{"rate: 5/s, key: ip/24/56", 0, 0, "", "ip/24/56", false, false},
	{"rate: 5/s, key: [ip]", 0, 0, "", "ip", false, false},
	{"rate: 5/s, key: [ip , route]", 0, 0, "", "[ip, route]", false, true},
	{"rate: 5/s, key: header.X-Key|ip", 0, 0, "", "header.x-key | ip", false, true},
	{"rate: 5/s, key: header.x-tenant | site", 0, 0, "", "header.x-tenant | site", false, true},
	{"rate: 5/s, key: [Header.x], missing: ip", 0, 0, "", NULL, false, true},
};

static void check_meanings(void)
{
	for (size_t i = 0; i + 1 < sizeof meanings / sizeof meanings[0]; i++) {
		const struct image_limit *got = limit(meanings[i].words);
		const struct image_clause *clauses = image_at(policy.image, got->clauses.offset);
		struct text match = image_text(policy.image, got->match_text),
			    key = image_text(policy.image, got->key_text);
		ok(got->clauses.count == meanings[i].clauses &&
			   (!got->clauses.count || clauses[0].methods == meanings[i].methods) &&
			   (!meanings[i].match || text_equal(match, text_of(meanings[i].match))) &&
			   text_equal(key, text_of(meanings[i].key)) && got->shared == meanings[i].shared &&
			   got->preflight_exempt == meanings[i].preflight,
		   meanings[i].words);
	}
}

static void check_key_parts(void)
{
	const struct image_limit *got = limit(
		"rate: 5/s, key: [ip/24, cookie.Sid | query.sid | ip, route], missing: skip");
	const struct image_key_part *parts = image_at(policy.image, got->key.offset);
	is_u64(got->key.count, 5, "five parts");
	ok(parts[0].kind == IMAGE_KEY_IP && parts[0].bits4 == 24 && parts[0].bits6 == 64 &&
		   parts[0].alternative == 0,
	   "ip/24: IPv6 by the file's prefix");
	ok(parts[1].kind == IMAGE_KEY_COOKIE && parts[1].alternative == 1 &&
		   text_equal(image_text(policy.image, parts[1].name), TEXT("Sid")),
	   "a cookie's name keeps its case");
	ok(parts[2].kind == IMAGE_KEY_QUERY && parts[2].alternative == 1, "an alternative");
	ok(parts[3].kind == IMAGE_KEY_IP && parts[3].alternative == 1 && parts[3].bits4 == 32,
	   "and the last one");
	ok(parts[4].kind == IMAGE_KEY_ROUTE && parts[4].alternative == 2, "the next part");
}

/* ---- the file --------------------------------------------------------------------------------------- */

static void check_gateway(void)
{
	static const struct {
		const char *said, *meant;
	} backends[] = {
		{"3000", "http://127.0.0.1:3000"},
		{"':3000'", "http://127.0.0.1:3000"},
		{"localhost:3000", "http://127.0.0.1:3000"},
		{"http://localhost", "http://127.0.0.1:80"},
		{"http://app.internal", "http://app.internal:80"},
		{"HTTP://app:81/", "http://app:81"},
		{"'[::1]:3000'", "http://[::1]:3000"},
		{"app:3000", "http://app:3000"},
	};
	static const struct {
		const char *said, *meant;
	} listens[] = {{"8080", "8080"},
		       {"'*:8080'", "8080"},
		       {"':8080'", "8080"},
		       {"localhost:8080", "127.0.0.1:8080"},
		       {"'[::]:8080'", "[::]:8080"}};
	char text[256];

	for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
		snprintf(text, sizeof text, "gateway: {to: %s}\nlimits: {a: 50/s}", backends[i].said);
		const struct image *image = load(text);
		const struct image_route *routes = image_at(image, image->gateway.routes.offset);
		ok(image->gateway.routes.count == 1 &&
			   text_equal(image_text(image, routes->to), text_of(backends[i].meant)) &&
			   routes->match.size == 0,
		   backends[i].said);
	}
	for (size_t i = 0; i < sizeof listens / sizeof listens[0]; i++) {
		snprintf(text, sizeof text, "gateway: {to: 3000, listen: %s}\nlimits: {a: 50/s}",
			 listens[i].said);
		const struct image *image = load(text);
		const struct image_text *texts = image_at(image, image->gateway.listens.offset);
		ok(image->gateway.listens.count == 1 &&
			   text_equal(image_text(image, *texts), text_of(listens[i].meant)),
		   listens[i].said);
	}
	const struct image *image = load(
		"gateway: {to: 1, routes: [{match: /a/*, to: 2}]}\nlimits: {a: 50/s}");
	const struct image_route *routes = image_at(image, image->gateway.routes.offset);
	ok(image->gateway.routes.count == 2 && text_equal(image_text(image, routes[0].match), TEXT("/a/*")) &&
		   text_equal(image_text(image, routes[1].to), TEXT("http://127.0.0.1:1")),
	   "routes first, `to` for the rest");
	is_u64(load("limits: {a: 50/s}")->gateway.listens.count, 0, "no gateway without the word");
}

static void check_options(void)
{
	struct policy_options options = {.text = "gateway: {listen: 81, to: 1}\nlimits: {b: 50/s}",
					 .to = "2"};
	policy_free(&policy);
	policy_load(&options, &policy);
	const struct image_route *routes = image_at(policy.image, policy.image->gateway.routes.offset);
	ok(policy.image->limits.count == 1 && policy.image->gateway.routes.count == 1 &&
		   text_equal(image_text(policy.image, routes->to), TEXT("http://127.0.0.1:2")),
	   "the command line's backend replaces the file's");
}

static void check_respond(void)
{
	const struct image *image = load("respond: {status: 503, headers: none}\n"
					 "limits:\n"
					 "  a: {rate: 50/s, respond: {body: text}}\n"
					 "  b: {rate: 50/min, respond: {status: 403, cors: none}}\n"
					 "  c: 50/hour\n");
	const struct image_respond *responds = image_at(image, image->responds.offset);
	const struct image_respond *a = &responds[image_limit_at(image, 0)->respond];
	const struct image_respond *b = &responds[image_limit_at(image, 1)->respond];
	const struct image_respond *c = &responds[image_limit_at(image, 2)->respond];
	ok(a->status == 503 && a->headers == 0 && a->body == IMAGE_BODY_TEXT && a->cors_mirror,
	   "a limit's answer begins with the file's");
	ok(b->status == 403 && b->headers == 0 && b->body == IMAGE_BODY_JSON && !b->cors_mirror,
	   "and replaces what it says");
	ok(c->status == 503 && c->body == IMAGE_BODY_JSON, "the others have the file's");
	static const struct {
		const char *words;
		uint32_t headers;
	} forms[] = {
		{"[x-ratelimit-delta]", IMAGE_HEADERS_DELTA},
		{"github", IMAGE_HEADERS_GITHUB},
		{"[draft-6, x-ratelimit]", IMAGE_HEADERS_DRAFT_6 | IMAGE_HEADERS_X_RATELIMIT},
		{"[github, draft-7]", IMAGE_HEADERS_GITHUB | IMAGE_HEADERS_DRAFT_7},
	};
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		char text[128];
		snprintf(text, sizeof text, "{respond: {headers: %s}, limits: {a: 50/s}}", forms[i].words);
		image = load(text);
		a = image_at(image, image->responds.offset);
		is_u64(a->headers, forms[i].headers, forms[i].words);
	}
	image = load("limits: {a: 50/s}");
	a = image_at(image, image->responds.offset);
	ok(a->status == 429 && a->headers == (IMAGE_HEADERS_X_RATELIMIT | IMAGE_HEADERS_RATELIMIT) &&
		   a->body == IMAGE_BODY_JSON && a->cors_mirror,
	   "unless said: 429, all headers, JSON, CORS");
}

static void check_clients(void)
{
	const struct image *image = load(
		"clients:\n"
		"  address: {from: header.CF-Connecting-IP, trusted: [10.0.0.0/9, 10.128.0.0/9, 192.0.2.1]}\n"
		"  networks: {office: [198.51.100.0/24, 203.0.113.0/24]}\n"
		"  exempt: [{ip: [office, 10.0.0.1], reason: ours}, GET /healthz]\n"
		"  deny: [{ip: 192.0.2.66, close: yes, until: 2027-01-01}]\n"
		"limits: {a: 50/s}\n");
	const struct image_exception *exempt = image_at(image, image->exempt.offset),
				     *deny = image_at(image, image->deny.offset);
	ok(image->address_from == IMAGE_FROM_HEADER &&
		   text_equal(image_text(image, image->address_header), TEXT("cf-connecting-ip")),
	   "the header, in lower case");
	is_u64(image->trusted.count, 2, "neighbours are merged");
	is_u64(image->ipv6_prefix, 64, "a /64 is one client");
	ok(image->exempt.count == 2 && exempt[0].networks.count == 3 && exempt[0].clauses.count == 0 &&
		   exempt[1].networks.count == 0 && exempt[1].clauses.count == 1,
	   "exempt: three networks, then a match");
	ok(deny->close == 1 && deny->until == 1798761600 && image->deny_status == 403,
	   "deny: until 2027 began, closing");
}

static void check_identity_of_sources(void)
{
	uint64_t first = load("limits: {a: 50/s}")->source_hash;
	ok(load("limits: {a: 50/s}")->source_hash == first, "the same text, the same hash");
	ok(load("limits: {a: 51/s}")->source_hash != first, "another text, another hash");
	setenv("WEIR_TEST_BURST", "5", 1);
	first = load("limits: {a: {rate: 1/min, key: site, burst: \"${WEIR_TEST_BURST}\"}}")->source_hash;
	setenv("WEIR_TEST_BURST", "6", 1);
	ok(load("limits: {a: {rate: 1/min, key: site, burst: \"${WEIR_TEST_BURST}\"}}")->source_hash != first,
	   "another environment, another hash");
	unsetenv("WEIR_TEST_BURST");
}

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");
	if (!out || fputs(text, out) < 0)
		abort();
	fclose(out);
}

static void check_files(void)
{
	char folder[] = "/tmp/weir-load-XXXXXX", path[64];
	if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("conf.d", 0700) != 0)
		abort();
	write_file("policy.yaml", "include: [conf.d/*.yaml]\n"
				  "clients: {networks: {n: {file: list.txt}}}\n"
				  "limits: {z: {rate: 50/s, respond: {body: {file: page.html}}}, y: {rate: "
				  "50/min, respond: {body: {file: page.html}}}}\n");
	write_file("conf.d/b.yaml", "limits: {b: {rate: 50/s, match: /b}}\n");
	write_file("conf.d/a.yaml", "limits: {a: {rate: 50/s, match: /a}}\n");
	write_file("list.txt", "192.0.2.0/24\r\n");
	write_file("page.html", "<p>later</p>");

	snprintf(path, sizeof path, "%s/policy.yaml", folder);
	struct policy_options options = {.path = path};
	policy_free(&policy);
	policy_load(&options, &policy);
	ok(policy.errors == 0 && policy.image && policy.image->limits.count == 4, "all files are read");
	static const char *const names[] = {"policy.yaml", "conf.d/a.yaml", "conf.d/b.yaml", "list.txt",
					    "page.html"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char expected[96];
		snprintf(expected, sizeof expected, "%s/%s", folder, names[i]);
		is_str(policy.files[i], expected, "a file to watch");
	}
	ok(policy.files[5] == NULL, "each once");
	snprintf(path, sizeof path, "%s/conf.d/", folder);
	is_str(policy.folders[0], path, "the folder of the pattern is to be watched");
	ok(policy.folders[1] == NULL, "once");
	static const char *const order[] = {"z", "y", "a", "b"};
	for (uint32_t i = 0; i < 4; i++)
		ok(text_equal(image_text(policy.image, image_limit_at(policy.image, i)->name),
			      text_of(order[i])),
		   "limits in the order of the files");
	const struct image_respond *respond = image_at(policy.image, policy.image->responds.offset);
	ok(respond->body == IMAGE_BODY_FILE &&
		   text_equal(image_text(policy.image, respond->file_text), TEXT("<p>later</p>")) &&
		   text_equal(image_text(policy.image, respond->file_type), TEXT("text/html; charset=utf-8")),
	   "the page and its type");

	policy_free(&policy);
	options.path = "nowhere.yaml";
	policy_load(&options, &policy);
	char *findings = policy_findings_text(&policy);
	is_str(findings,
	       "nowhere.yaml:1:1: error: 'nowhere.yaml' cannot be read: No such file or directory\n",
	       "a file that is not there");
	ok(policy.files && policy.files[0] && strcmp(policy.files[0], "nowhere.yaml") == 0,
	   "is watched for nevertheless");
	free(findings);
	if (system("rm -rf policy.yaml conf.d list.txt page.html") != 0 || chdir("/") != 0 ||
	    rmdir(folder) != 0)
		abort();
}

/* What only the compiler can find has its place too. */
static void check_too_many(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	fputs("limits:\n", out);
	for (unsigned i = 0; i <= IMAGE_HITS_MAX; i++)
		fprintf(out, "  limit-%u: {rate: 50/s, burst: 100, key: ip/%u, match: /x/*}\n", i,
			i % 32 + 1);
	fclose(out);
	struct policy_options options = {.path = "policy.yaml", .text = text};
	policy_free(&policy);
	policy_load(&options, &policy);
	ok(policy.errors == 1 && !policy.image && policy.finding_count > 0,
	   "a request that could meet 1,025 counters is refused");
	bool placed = false;
	for (size_t i = 0; i < policy.finding_count; i++)
		placed |= policy.findings[i].severity == POLICY_ERROR && policy.findings[i].line > 1 &&
			  strstr(policy.findings[i].message, "could meet 1025 counters");
	ok(placed, "with its place");
	free(text);
}

int main(void)
{
	check_too_many();
	check_counters();
	check_refill();
	check_meanings();
	check_key_parts();
	check_gateway();
	check_options();
	check_respond();
	check_clients();
	check_identity_of_sources();
	check_files();
	policy_free(&policy);
	return done_testing();
}
