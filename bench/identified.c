/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identified: a whole decision (one limit, allowed, its end included) for a client that is known by an API key among 100,000, by a token that
 * was verified before, by one that never was, or by a field of a form or JSON body; as ratios to the same decision by address. Clients
 * come in any order, so that their counters and keys are not in the nearest cache.
 */
#include <time.h>

#include "tests/flow/world.h"
#include "tests/identity/jwt_maker.h"
#include "tests/identity/ring_rig.h"

#define KEYS   100000u
#define TOKENS 512u
#define ROUNDS 7
#define EACH   20000u
#define FRESH  300u

enum job { ANONYMOUS, API_KEY, INVENTED, TOKEN_CACHED, TOKEN_FRESH, FORM, JSON, JOBS };
static const char *const NAMES[JOBS] = {[ANONYMOUS] = "by address",
					[API_KEY] = "API key",
					[INVENTED] = "an invented API key, by address",
					[TOKEN_CACHED] = "token, verified before",
					[TOKEN_FRESH] = "token, verified now (HS256)",
					[FORM] = "a field of a form",
					[JSON] = "a field of a JSON body"};
static const char *const LIMITS[JOBS] = {
	"ip",		"api-key | ip",	      "api-key | ip",	   "jwt.sub | ip",
	"jwt.sub | ip", "body.username | ip", "body.username | ip"};

static struct rig rig;
static char *tokens[TOKENS], *fresh[ROUNDS * FRESH];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void keys(void)
{
	struct ring_writer *writer;
	struct ring_build *build;

	rig.state.keys = KEYS;
	if (ring_write_open(rig.database, 0, &writer, rig.why, sizeof rig.why) ||
	    ring_build_begin(writer, &rig.state, KEYS, 0, KEYS, &build, rig.why, sizeof rig.why))
		abort();
	for (uint64_t id = 1; id <= KEYS; id++) {
		char name[32];
		struct ring_row row;

		snprintf(name, sizeof name, "customer-%llu", (unsigned long long)id);
		row = rig_row(&rig, id, name, "pro");
		if (ring_build_add(build, &row, rig.why, sizeof rig.why))
			abort();
	}
	if (ring_build_end(&build, true, rig.why, sizeof rig.why))
		abort();
	ring_write_close(&writer);
}

static char *token(unsigned number)
{
	struct maker_key key = maker_secret(MAKER_SECRET);
	char claims[128];

	snprintf(claims, sizeof claims,
		 "{\"sub\":\"user-%u\",\"exp\":4000000000,\"iss\":\"https://id.example\"}", number);
	return maker_token(&key, "{\"alg\":\"HS256\",\"typ\":\"JWT\"}", claims);
}

static void ask(struct world *world, enum job job, unsigned number)
{
	static struct door door;
	static char value[JWT_TOKEN_MAX], body[256];
	unsigned any = (unsigned)((number * UINT64_C(2654435761)) % KEYS);

	door_open(&door, "POST", "/a", "1.2.3.4");
	door.request.peer.bytes[13] = (uint8_t)(any >> 16);
	door.request.peer.bytes[14] = (uint8_t)(any >> 8);
	door.request.peer.bytes[15] = (uint8_t)any;
	switch (job) {
	case API_KEY:
	case INVENTED:
		snprintf(value, sizeof value, "%s-%u", job == API_KEY ? "secret" : "invent", any + 1);
		door_add(&door, "x-api-key", value);
		break;
	case TOKEN_CACHED:
	case TOKEN_FRESH:
		snprintf(value, sizeof value, "Bearer %s",
			 job == TOKEN_CACHED ? tokens[number % TOKENS] : fresh[number]);
		door_add(&door, "authorization", value);
		break;
	case FORM:
	case JSON:
		door_add(&door, "content-type",
			 job == FORM ? "application/x-www-form-urlencoded" : "application/json");
		snprintf(body, sizeof body,
			 job == FORM ? "csrf=0123456789abcdef&username=user%u%%40example.com&password="
				       "correct+horse"
				     : "{\"csrf\": \"0123456789abcdef\", \"username\": "
				       "\"user%u@example.com\", \"password\": \"correct\"}",
			 any);
		door.request.can_read_body = true;
		break;
	default:
		break;
	}
	flow_begin(world->flow, &world->env, &door.request, &world->time, true, false);
	if (flow_run(world->flow) == FLOW_BODY) {
		door.request.body = text_of(body);
		door.request.has_body = door.request.body_whole = true;
		flow_run(world->flow);
	}
	if (world->flow->verdict.action != FLOW_PASS)
		abort();
	flow_end(world->flow, &world->time);
}

int main(void)
{
	static struct world worlds[JOBS];
	static struct people people[JOBS];
	double best[JOBS];
	char policy[1024], secret[160];
	FILE *file;

	rig_begin(&rig);
	keys();
	rig_path(&rig, ".secret", secret);
	file = fopen(secret, "w");
	if (!file || fputs(MAKER_SECRET, file) < 0 || fclose(file) || chmod(secret, 0600))
		abort();
	for (unsigned i = 0; i < TOKENS; i++)
		tokens[i] = token(i);
	for (unsigned i = 0; i < ROUNDS * FRESH; i++)
		fresh[i] = token(TOKENS + i);
	for (int job = 0; job < JOBS; job++) {
		best[job] = 1e18;
		snprintf(policy, sizeof policy,
			 "clients:\n  api_keys: {database: %s}\n  jwt: {secret_file: %s, algorithms: "
			 "[HS256], issuer: 'https://id.example'}\n"
			 "limits: {a: {match: POST /a, key: %s, rate: 1000000/min}}\n",
			 rig.database, secret, LIMITS[job]);
		world_open_sized(&worlds[job], policy, UINT64_C(16) << 20);
		if (!people_open(&people[job], worlds[job].env.image) || !people[job].ring)
			abort();
		worlds[job].env.people = &people[job];
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int job = 0; job < JOBS; job++) {
			unsigned count = job == TOKEN_FRESH ? FRESH : EACH;
			double began = now_ns();

			for (unsigned i = 0; i < count; i++)
				ask(&worlds[job], (enum job)job,
				    job == TOKEN_FRESH ? (unsigned)round * FRESH + i : i);
			double each = (now_ns() - began) / count;
			if (each < best[job])
				best[job] = each;
		}
	for (int job = 0; job < JOBS; job++)
		printf("%-36s %6.2f x (%.0f ns)\n", NAMES[job], best[job] / best[ANONYMOUS], best[job]);
	for (int job = 0; job < JOBS; job++) {
		people_close(&people[job]);
		world_close(&worlds[job]);
	}
	unlink(secret);
	rig_end(&rig);
	return 0;
}
