/* SPDX-License-Identifier: BSD-2-Clause */
/* edges: where two features meet, each a mistake that was made once. */
#include "tests/flow/given.h"
#include "tests/flow/steps.h"

#define FORM " | Content-Type: application/x-www-form-urlencoded"

static struct door door;
static char room[8192];

static void begin(struct world *world, const char *line)
{
	world_end(world);
	world_read(line, &door, room, sizeof room);
	door.request.can_read_body = true;
	flow_begin(world->flow, &world->env, &door.request, &world->time, true, false);
	world->ran = true;
}

/* The place was taken when it was looked at, and is free again when the request is decided: it is refused all the same, because the
 * limits that look into its body were left out. */
static void early(void)
{
	struct world world;
	struct flow *other;

	world_open(&world, "limits:\n"
			   "  one: {match: POST /login, key: site, concurrent: 1}\n"
			   "  account: {match: POST /login, key: body.user, missing: deny, rate: 1/hour}\n");
	other = malloc(flow_size(world.env.image));
	world_read("POST /login from 1.1.1.1" FORM, &door, room, sizeof room);
	door.request.body = TEXT("user=x");
	door.request.has_body = door.request.body_whole = true;
	flow_begin(other, &world.env, &door.request, &world.time, true, false);
	is_u64(flow_run(other), FLOW_DONE, "one is in flight");
	is_u64(other->verdict.action, FLOW_PASS, "... and passed");

	begin(&world, "POST /login from 2.2.2.2" FORM);
	flow_request_read(world.flow);
	flow_identity(world.flow);
	flow_who(world.flow);
	flow_match(world.flow);
	ok(!flow_needs_body(world.flow), "the place is taken: the body need not be read");
	flow_end(other, &world.time); /* somebody else's request is over */
	world.flow->next = FLOW_AT_DECIDE;
	is_u64(flow_run(world.flow), FLOW_DONE, "now it would be free");
	is_u64(world.flow->verdict.action, FLOW_REFUSE, "... but what was left out was not asked");
	free(other);
	world_close(&world);
}

#define DENY "clients: {api_keys: {unknown: deny, database: /nowhere/keys.db}}\n"

static void guesses(void)
{
	/* no key to count by, and a wrong one: the address's limit is charged, so that guessing ends */
	STEPS("a wrong key where a key is needed",
	      DENY "limits:\n  ip: {rate: 5/hour}\n  mine: {key: api-key, missing: deny, rate: 9/hour}\n",
	      {0, "GET / from 1.1.1.1 | X-API-Key: guess%d", NULL, 5, 0, "UNKNOWN"},
	      {0, "GET / from 1.1.1.1 | X-API-Key: guess%d", NULL, 9, 0, "REJECTED"},
	      {0, "GET / from 2.2.2.2", NULL, 2, 0, "MISSING"});
	/* what was reserved for it is settled by the 401 */
	STEPS("a wrong key is no success",
	      DENY "limits: {made: {match: POST /made, rate: 3/hour, count: successes}}\n",
	      {0, "POST /made from 1.1.1.1 | X-API-Key: guess%d", NULL, 9, 0, "UNKNOWN"},
	      {0, "POST /made from 1.1.1.1", NULL, 4, 3, NULL});
	STEPS("a wrong key is a failure",
	      DENY "limits: {login: {match: POST /login, rate: 3/hour, count: failures}}\n",
	      {0, "POST /login from 1.1.1.1 | X-API-Key: guess%d", NULL, 3, 0, "UNKNOWN"},
	      {0, "POST /login from 1.1.1.1 | X-API-Key: guess%d", NULL, 3, 0, "REJECTED"});
	STEPS("a wrong key has used no tokens",
	      DENY "limits: {t: {match: POST /chat, rate: 100/hour, cost: {reserve: 50, settle: "
		   "response.body.n}}}\n",
	      {0, "POST /chat from 1.1.1.1 | X-API-Key: guess%d", NULL, 9, 0, "UNKNOWN"},
	      {0, "POST /chat from 1.1.1.1", NULL, 2, 2, NULL});
	/* nothing better than a refusal for who guesses */
	STEPS("no challenge for a wrong key", DENY "limits: {a: {rate: 1/hour, instead: close}}\n",
	      {0, "GET / from 1.1.1.1 | X-API-Key: guess%d", NULL, 1, 0, "UNKNOWN"},
	      {0, "GET / from 1.1.1.1 | X-API-Key: guess%d", NULL, 3, 0, "REJECTED"});
}

/* Who is banned, or may never, waits for no place. */
static void queue(void)
{
	struct world world;

	world_open(&world, "clients:\n  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n  plan: "
			   "{from: [header.x-plan], none: guest}\n"
			   "plans: {guest: {r: never}}\n"
			   "limits: {r: {match: /r, key: site, concurrent: 1, queue: 5, wait: 9s}}\n");
	begin(&world, "GET /r from 1.1.1.1");
	is_u64(flow_run(world.flow), FLOW_DONE, "who may never does not wait");
	is_str(flow_status_word(world.flow->verdict.status), "NEVER", "... and is told");
	is_u64(world.flow->tickets, 0, "... and has no place in the queue");
	world_close(&world);
}

/* A grant pays what the answer says, not what was asked for. */
static void grants(void)
{
	static const struct {
		unsigned status;
		const char *answer;
		uint32_t left;
	} cases[] = {{200, "{\"n\": 100}", 4900},
		     {502, "{}", 5000},
		     {200, "{}", 4000},
		     {200, "{\"n\": 3000}", 4000}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world world;
		struct table_look look;
		struct algo_report report;
		struct table_key key;
		uint32_t row;

		world_open(&world, "limits: {t: {match: POST /chat, rate: 1000/hour, cost: {reserve: 1000, "
				   "settle: response.body.n}}}\n");
		steps_ask(&world, "POST /chat from 1.1.1.1", NULL);
		row = world.env.image->clients.grant_row;
		key = grant_key(world.table, world.env.image, &world.flow->hits[0].key);
		is_u64(table_grant(world.table, &key, row, &world.time, 5000, world.time.now + 3600 * SECOND,
				   &look),
		       TABLE_CHARGED, "a grant of 5000");
		world_end(&world); /* no answer came: all of the limit is used */
		is_str(flow_status_word(steps_ask(&world, "POST /chat from 1.1.1.1", NULL)->status), "PASSED",
		       "it covers the next");
		flow_responded(world.flow, &world.time, &cases[i].status, 1);
		if (flow_wants_body(world.flow, TEXT("application/json"), TEXT("")))
			flow_body(world.flow, &world.time, cases[i].answer, strlen(cases[i].answer), true);
		world_end(&world);
		table_peek(world.table, &key, row, &world.time, 1, &look);
		table_describe(&look, &world.time, 1, false, &report);
		is_u64(report.remaining, cases[i].left, cases[i].answer);
		world_close(&world);
	}
}

int main(void)
{
	early();
	guesses();
	queue();
	grants();
	return done_testing();
}
