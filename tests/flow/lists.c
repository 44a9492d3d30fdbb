/* SPDX-License-Identifier: BSD-2-Clause */
/* lists: exempt, deny, until, preflight, missing keys, modes (mission B11, B13, B60); what is told of them.
 */
#include "tests/flow/world.h"

struct step {
	const char *line, *status;
	uint64_t pass_s;
};
struct story {
	const char *name, *policy;
	struct step steps[12];
};

#define IP "GET / from 1.2.3.4"

static const struct story stories[] = {
	{"nothing matches",
	 "limits:\n  one: {match: /a, rate: 1/s, burst: 1}\n",
	 {{IP, "UNLIMITED", 0},
	  {IP, "UNLIMITED", 0},
	  {"GET /a from 1.2.3.4", "PASSED", 0},
	  {"GET /A/ from 1.2.3.4", "REJECTED", 0}}},
	{"exempt addresses are never limited, and use up nothing of what others share",
	 "clients: {exempt: [{ip: 10.0.0.0/8, reason: ours}]}\nlimits:\n  one: {key: site, rate: 1/min, "
	 "burst: 2}\n",
	 {{"GET / from 10.0.0.1", "EXEMPT", 0},
	  {"GET / from 10.0.0.1", "EXEMPT", 0},
	  {"GET / from 10.0.0.1", "EXEMPT", 0},
	  {IP, "PASSED", 0},
	  {IP, "PASSED", 0},
	  {IP, "REJECTED", 0},
	  {"GET / from 10.0.0.1", "EXEMPT", 0}}},
	{"exempt requests",
	 "clients: {exempt: [{match: GET /healthz}]}\nlimits:\n  one: {key: ip, rate: 1/min, burst: 1}\n",
	 {{IP, "PASSED", 0},
	  {IP, "REJECTED", 0},
	  {"GET /healthz from 1.2.3.4", "EXEMPT", 0},
	  {"HEAD /HEALTHZ/ from 1.2.3.4", "EXEMPT", 0},
	  {"POST /healthz from 1.2.3.4", "REJECTED", 0}}},
	{"exempt from one limit only",
	 "limits:\n  one: {key: ip, rate: 1/min, burst: 1, exempt: [{ip: 1.2.3.4}]}\n  two: {key: ip, rate: "
	 "2/min, burst: 2}\n",
	 {{IP, "PASSED", 0},
	  {IP, "PASSED", 0},
	  {IP, "REJECTED", 0},
	  {"GET / from 5.6.7.8", "PASSED", 0},
	  {"GET / from 5.6.7.8", "REJECTED", 0}}},
	{"exempt from the only limit",
	 "limits:\n  one: {key: ip, rate: 1/min, burst: 1, exempt: [{ip: 1.2.3.4}]}\n",
	 {{IP, "EXEMPT", 0}, {IP, "EXEMPT", 0}}},
	{"until the day it says",
	 "clients: {exempt: [{ip: 1.2.3.4, until: 2030-01-01T00:01:00Z}]}\nlimits:\n  one: {key: ip, rate: "
	 "1/hour, burst: 1}\n",
	 {{IP, "EXEMPT", 0}, {IP, "EXEMPT", 59}, {IP, "PASSED", 1}, {IP, "REJECTED", 0}}},
	{"denied, until the day it says",
	 "clients: {deny: [{ip: 1.2.3.4, reason: scraper, until: 2030-01-01T00:01:00Z}]}\nlimits:\n  one: "
	 "{rate: 1/hour, burst: 1}\n",
	 {{IP, "DENIED", 0}, {"GET / from 1.2.3.5", "PASSED", 0}, {IP, "DENIED", 59}, {IP, "PASSED", 1}}},
	{"denied costs nothing, and comes before exempt",
	 "clients: {deny: [{match: /x}], exempt: [{ip: 1.2.3.4}]}\nlimits:\n  one: {key: site, rate: 1/hour, "
	 "burst: 1}\n",
	 {{"GET /x from 1.2.3.4", "DENIED", 0},
	  {"GET /x from 5.6.7.8", "DENIED", 0},
	  {"GET / from 5.6.7.8", "PASSED", 0}}},
	{"a limit that names OPTIONS counts what looks like a preflight too",
	 "limits:\n  one: {match: OPTIONS /a, key: ip, rate: 1/hour, burst: 1}\n",
	 {{"OPTIONS /a from 1.2.3.4 | Origin: x | Access-Control-Request-Method: PUT", "PASSED", 0},
	  {"OPTIONS /a from 1.2.3.4 | Origin: x | Access-Control-Request-Method: PUT", "REJECTED", 0},
	  {"OPTIONS /a from 1.2.3.4", "REJECTED", 0}}},
	{"preflight leaves keys that it cannot carry alone",
	 "limits:\n  one: {key: header.x-key, missing: deny, rate: 1/hour, burst: 1}\n",
	 {{"OPTIONS /a from 1.2.3.4 | Origin: x | Access-Control-Request-Method: PUT", "UNLIMITED", 0},
	  {IP, "MISSING", 0}}},
	{"preflight counts by address and site",
	 "limits:\n  one: {key: ip, rate: 1/hour, burst: 1}\n",
	 {{"OPTIONS /a from 1.2.3.4 | Origin: x | Access-Control-Request-Method: PUT", "PASSED", 0},
	  {"OPTIONS /a from 1.2.3.4 | Origin: x | Access-Control-Request-Method: PUT", "REJECTED", 0}}},
	{"missing: ip",
	 "limits:\n  one: {key: header.x-key, missing: ip, rate: 1/hour, burst: 1}\n",
	 {{IP, "PASSED", 0},
	  {IP, "REJECTED", 0},
	  {"GET / from 1.2.3.5", "PASSED", 0},
	  {"GET / from 1.2.3.4 | X-Key: 7", "PASSED", 0}}},
	{"missing: skip",
	 "limits:\n  one: {key: header.x-key, missing: skip, rate: 1/hour, burst: 1}\n",
	 {{IP, "UNLIMITED", 0},
	  {IP, "UNLIMITED", 0},
	  {"GET / | X-Key: 7", "PASSED", 0},
	  {"GET / | X-Key: 7", "REJECTED", 0}}},
	{"missing: deny",
	 "limits:\n  one: {key: header.x-key, missing: deny, rate: 1/hour, burst: 1}\n  two: {key: site, "
	 "rate: 1/hour, burst: 1}\n",
	 {{IP, "MISSING", 0},
	  {"GET / | X-Key:", "MISSING", 0},
	  {"GET / | X-Key: 7", "PASSED", 0},
	  {"GET / | X-Key: 8", "REJECTED", 0}}},
	{"missing: deny, but exempt",
	 "clients: {exempt: [{ip: 1.2.3.4}]}\nlimits:\n  one: {key: header.x-key, missing: deny, rate: "
	 "1/hour, burst: 1}\n",
	 {{IP, "EXEMPT", 0}, {"GET / from 1.2.3.5", "MISSING", 0}}},
	{"missing: anonymous",
	 "limits:\n  one: {key: [header.x-key, ip], missing: anonymous, rate: 1/hour, burst: 1}\n",
	 {{IP, "PASSED", 0},
	  {"GET / from 5.6.7.8", "REJECTED", 0},
	  {"GET / from 5.6.7.8 | X-Key: 7", "PASSED", 0}}},
	{"shadow passes and says so",
	 "limits:\n  one: {rate: 1/hour, burst: 1, mode: shadow}\n",
	 {{IP, "PASSED", 0}, {IP, "REJECTED_SHADOW", 0}, {IP, "REJECTED_SHADOW", 0}}},
	{"shadow with a missing key",
	 "limits:\n  one: {key: header.x-key, missing: deny, rate: 1/hour, burst: 1, mode: shadow}\n",
	 {{IP, "REJECTED_SHADOW", 0}, {"GET / | X-Key: 7", "PASSED", 0}}},
	{"shadow beside an enforced one",
	 "limits:\n  one: {rate: 1/hour, burst: 1, mode: shadow}\n  two: {rate: 2/hour, burst: 2}\n",
	 {{IP, "PASSED", 0}, {IP, "REJECTED_SHADOW", 0}, {IP, "REJECTED", 0}}},
	{"disabled is not there",
	 "limits:\n  one: {rate: 1/hour, burst: 1, mode: disabled}\n",
	 {{IP, "UNLIMITED", 0}, {IP, "UNLIMITED", 0}}},
	{"the spellings of one path have one allowance",
	 "limits:\n  login: {match: POST /login, rate: 7/hour, burst: 7}\n",
	 {{"POST //login from 1.2.3.4", "PASSED", 0},
	  {"POST /LOGIN from 1.2.3.4", "PASSED", 0},
	  {"POST /login/ from 1.2.3.4", "PASSED", 0},
	  {"POST /%6Cogin from 1.2.3.4", "PASSED", 0},
	  {"POST /login;x from 1.2.3.4", "PASSED", 0},
	  {"POST /a/../login from 1.2.3.4", "PASSED", 0},
	  {"POST /login?x from 1.2.3.4", "PASSED", 0},
	  {"POST /login from 1.2.3.4", "REJECTED", 0},
	  {"POST http://example.com/x/..;/LoGiN%2f?y from 1.2.3.4", "REJECTED", 0}}},
	{"a path that a backend may read literally is limited as such",
	 "limits:\n  search: {match: /search/*, rate: 5/hour}\n",
	 {{"GET /search/x%2F..%2F..%2Ffree from 1.2.3.4", "PASSED", 0},
	  {"GET /search/x\\..\\..\\free from 1.2.3.4", "PASSED", 0},
	  {"GET /search/x/../../free from 1.2.3.4", "PASSED", 0},
	  {"GET /search/x/..;/..;/free from 1.2.3.4", "PASSED", 0},
	  {"GET /free/..%2Fsearch/x from 1.2.3.4", "PASSED", 0},
	  {"GET /search/x from 1.2.3.4", "REJECTED", 0},
	  {"GET /free from 1.2.3.4", "UNLIMITED", 0}}},
	{"... once by each limit, whichever way it is found",
	 "limits:\n  a: {match: /a/*, rate: 1/hour}\n  b: {match: /b/*, rate: 2/hour}\n  c: {match: /*, "
	 "rate: 3/hour}\n",
	 {{"GET /a/x%2F..%2F..%2Fb%2Fy from 1.2.3.4", "PASSED", 0},
	  {"GET /a/x from 1.2.3.4", "REJECTED", 0},
	  {"GET /b/x from 1.2.3.4", "PASSED", 0},
	  {"GET /b/x from 1.2.3.4", "REJECTED", 0},
	  {"GET /c from 1.2.3.4", "PASSED", 0},
	  {"GET /c from 1.2.3.4", "REJECTED", 0}}},
	{"... nor does what a `..` takes back, read another way than nginx reads it",
	 "limits:\n  login: {match: POST /api/login, rate: 1/hour, burst: 1}\n",
	 {{"POST /api/login from 1.2.3.4", "PASSED", 0},
	  {"POST /api/;/../login from 1.2.3.4", "REJECTED", 0},
	  {"POST /api/%5C/../login from 1.2.3.4", "REJECTED", 0},
	  {"POST /api/.;/../login from 1.2.3.4", "REJECTED", 0},
	  {"POST /api//../login from 1.2.3.4", "REJECTED", 0},
	  {"POST /x%5Cy/../api/login from 1.2.3.4", "REJECTED", 0}}},
	{"... exempt only if every reading is",
	 "clients: {exempt: [{match: /healthz}]}\nlimits:\n  one: {match: /*, rate: 1/hour}\n",
	 {{"GET /search/x%2F..%2F..%2Fhealthz from 1.2.3.4", "PASSED", 0},
	  {"GET /healthz;/../search from 1.2.3.4", "REJECTED", 0},
	  {"GET /healthz/a%5Cb/../../search from 1.2.3.4", "REJECTED", 0},
	  {"GET //healthz/?x from 1.2.3.4", "EXEMPT", 0}}},
	{"... denied if one is",
	 "clients: {deny: [{match: /admin/*}]}\nlimits:\n  one: {match: /none, rate: 1/hour}\n",
	 {{"GET /admin/x%2F..%2F..%2Ffree from 1.2.3.4", "DENIED", 0},
	  {"GET /free/..%2Fadmin from 1.2.3.4", "DENIED", 0},
	  {"GET /free from 1.2.3.4", "UNLIMITED", 0}}},
	{"exact paths are what they say",
	 "limits:\n  login: {match: /Login/, paths: exact, rate: 1/hour, burst: 1}\n",
	 {{"GET /login from 1.2.3.4", "UNLIMITED", 0},
	  {"GET /Login from 1.2.3.4", "UNLIMITED", 0},
	  {"GET //Login/?x from 1.2.3.4", "PASSED", 0},
	  {"GET /Login/ from 1.2.3.4", "REJECTED", 0}}},
};

static void tell(void)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		struct world world;

		world_open(&world, stories[i].policy);
		for (size_t s = 0; s < 12 && stories[i].steps[s].line; s++) {
			char what[256];
			world_pass(&world, stories[i].steps[s].pass_s * SECOND);
			snprintf(what, sizeof what, "%s: %s", stories[i].name, stories[i].steps[s].line);
			is_str(world_says(&world, stories[i].steps[s].line), stories[i].steps[s].status,
			       what);
		}
		world_close(&world);
	}
}

static void closing(void)
{
	struct world world;

	world_open(&world, "clients: {deny: [{ip: 1.2.3.4, close: true}]}\nlimits:\n  one: {rate: 1/s}\n");
	is_u64(world_ask(&world, IP)->action, FLOW_CLOSE, "a deny entry can close");
	is_u64(world_ask(&world, "GET / from 1.2.3.5")->action, FLOW_PASS, "... on whom it names");
	world_close(&world);
}

static void without(void)
{
	struct flow_env env = {0};
	struct algo_time time = {.now = 1};
	struct door door;
	struct flow *flow = malloc(flow_size(NULL));

	door_open(&door, "GET", "/", "1.2.3.4");
	flow_begin(flow, &env, &door.request, &time, true, false);
	is_u64(flow_run(flow), FLOW_DONE, "without a table or a policy");
	is_str(flow_status_word(flow->verdict.status), "FAILED", "... it says so");
	is_u64(flow->verdict.action, FLOW_PASS, "... and passes");
	is_u64(flow->verdict.limit_index, FLOW_NONE, "... without a limit");
	is_str(flow_status_word((enum flow_status)99), "UNKNOWN", "a status that is none has a word too");
	free(flow);
}

/* A policy that nobody has published yet: deciding passes uncounted, explaining says what it would do. */
static void unpublished(void)
{
	struct policy_options options = {
		.path = "new.yaml",
		.text = "limits:\n  one: {rate: 5/min}\n  big: {rate: 3/s, cost: 4, mode: shadow}\n"};
	struct world world;
	struct policy loaded;
	struct door door;

	world_open(&world, "limits:\n  other: {rate: 1/min}\n");
	policy_load(&options, &loaded);
	if (!loaded.image)
		abort();
	world.env.image = loaded.image;
	free(world.flow);
	world.flow = malloc(flow_size(loaded.image));
	door_open(&door, "GET", "/", "1.2.3.4");
	const struct flow_verdict *verdict = world_decide(&world, &door, true, true);
	is_str(flow_status_word(verdict->status), "REJECTED_SHADOW",
	       "a policy is explained before it is published");
	is_u64(verdict->remaining, 4, "... as if its counters were new");
	verdict = world_decide(&world, &door, true, false);
	is_str(flow_status_word(verdict->status), "PASSED", "deciding without rows passes");
	is_u64(verdict->limit_index, FLOW_NONE, "... with nothing to say");
	ok(world.flow->hits[0].no_room && !world.flow->hits[0].charged, "... and nothing counted");
	policy_free(&loaded);
	world_close(&world);
}

int main(void)
{
	tell();
	closing();
	without();
	unpublished();
	return done_testing();
}
