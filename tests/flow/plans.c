/* SPDX-License-Identifier: BSD-2-Clause */
/* plans: whose numbers hold, who shares a counter with whom, and what a change of plan keeps. */
#include "tests/flow/steps.h"

#define PEER	"clients:\n  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n  session: cookie.sid\n"
#define BY_PLAN "  plan: {from: [header.x-plan], unknown: free, none: guest}\n"
#define MINUTE	60000u
#define HOUR	3600000u

static void numbers(void)
{
	const char *policy = PEER BY_PLAN
		"plans:\n"
		"  guest: {hourly: 100/hour}\n"
		"  free: {like: guest}\n"
		"  basic: {hourly: 1000/hour}\n"
		"  premium: {hourly: 10000/hour, docs: never}\n"
		"  admin: unlimited\n"
		"limits:\n"
		"  hourly: {key: ip, rate: 10/hour}\n"
		"  docs: {match: /docs, key: ip, rate: 5/hour}\n"
		"  login: {match: POST /login, key: ip, rate: 5/hour, count: failures}\n";

	STEPS("numbers", policy, {0, "GET /a from 127.0.0.1", NULL, 101, 100, NULL},
	      {0, "GET /a from 127.0.0.1 | X-Plan: basic", NULL, 1001, 1000,
	       NULL}, /* the plan is part of the key: an address has both */
	      {0, "GET /a from 127.0.0.1", NULL, 1, 0, NULL},
	      {0, "GET /a from 127.0.0.1 | X-Plan: premium", NULL, 10001, 10000, NULL},
	      {0, "GET /a from 127.0.0.1 | X-Plan: admin", NULL, 20000, 20000, NULL},
	      {0, "GET /docs from 127.0.0.1 | X-Plan: premium", NULL, 2, 0, "NEVER"},
	      {0, "GET /docs from 127.0.0.1 | X-Plan: admin", NULL, 50, 50, NULL},
	      {0, "POST /login from 127.0.0.1 | X-Plan: admin", NULL, 6, 5,
	       NULL}, /* failures count for everybody */
	      {0, "GET /a from 1.2.3.4 | X-Plan: admin", NULL, 101, 100,
	       NULL}, /* whoever says so must be trusted */
	      {0, "GET /a from 127.0.0.1 | X-Plan: nonsense | X-Forwarded-For: 5.5.5.5", NULL, 101, 100,
	       NULL});
}

/* A key that belongs to one client: a change of plan keeps the share that is used. */
static void changes(void)
{
	const char *policy = PEER BY_PLAN "plans:\n"
					  "  guest: {day: 10/day}\n"
					  "  free: {day: 100/day}\n"
					  "  pro: {day: 1000/day}\n"
					  "limits:\n"
					  "  day: {key: session, missing: ip, rate: 10/day}\n";
#define AS(plan) "GET /a from 127.0.0.1 | Cookie: sid=me | X-Plan: " plan

	STEPS("changes", policy, {0, AS("free"), NULL, 50, 50, NULL}, /* half is used */
	      {0, AS("pro"), NULL, 501, 500, NULL}, /* ... of the other numbers, too: nothing is won by it */
	      {0, AS("free"), NULL, 1, 0, NULL},    /* all is used, under any numbers */
	      {0, AS("guest"), NULL, 1, 0, NULL}, {0, AS("pro"), NULL, 1, 0, NULL});
	STEPS("to and fro", policy, {0, AS("free"), NULL, 50, 50, NULL}, {0, AS("pro"), NULL, 1, 1, NULL},
	      {0, AS("free"), NULL, 51, 49, NULL}); /* rounded up at each change, in favour of the limit */
#undef AS
}

/* One rate here, two there: what they have in common is counted together. */
static void several(void)
{
	const char *policy = PEER BY_PLAN
		"plans:\n"
		"  guest: {api: 20/hour}\n"
		"  free: {api: [2/min, 30/hour]}\n"
		"limits:\n"
		"  api: {key: session, missing: ip, rate: [5/min, 10/hour], algorithm: fixed-window}\n";
#define AS(plan) "GET /a from 127.0.0.1 | Cookie: sid=me | X-Plan: " plan

	STEPS("several", policy, {0, AS("guest"), NULL, 10, 10, NULL}, /* half of an hour's */
	      {0, AS("free"), NULL, 3, 2, NULL},		       /* two a minute */
	      {MINUTE + 1000, AS("free"), NULL, 3, 2, NULL}, {0, AS("guest"), NULL, 20, 7, NULL});
#undef AS
}

/* Of another period: not one counter that recovers as fast as whoever asked last says. */
static void periods(void)
{
	const char *policy = PEER BY_PLAN "plans:\n"
					  "  guest: {api: 100/day}\n"
					  "  free: {api: 10/min}\n"
					  "limits:\n"
					  "  api: {key: session, missing: ip, rate: 100/day}\n";
#define AS(plan) "GET /a from 127.0.0.1 | Cookie: sid=me | X-Plan: " plan

	STEPS("periods", policy, {0, AS("guest"), NULL, 101, 100, NULL}, {0, AS("free"), NULL, 11, 10, NULL},
	      {2 * MINUTE, AS("free"), NULL, 11, 10, NULL}, {0, AS("guest"), NULL, 1, 0, NULL});
#undef AS
}

static void whom(void)
{
	const char *policy = PEER "  api_keys: {}\n" BY_PLAN "plans:\n"
				  "  guest: {}\n"
				  "  free: {}\n"
				  "  pro: {}\n"
				  "limits:\n"
				  "  strangers: {match: /a, key: ip, rate: 2/hour, for: anonymous}\n"
				  "  pros: {match: /b, key: ip, rate: 3/hour, for: plan pro}\n"
				  "  known: {match: /c, key: ip, rate: 1/hour, for: identified}\n";

	STEPS("for", policy, {0, "GET /a from 127.0.0.1", NULL, 3, 2, NULL},
	      {0, "GET /b from 127.0.0.1", NULL, 9, 9, NULL},
	      {0, "GET /b from 127.0.0.1 | X-Plan: pro", NULL, 4, 3, NULL},
	      {0, "GET /c from 127.0.0.1", NULL, 9, 9, NULL});
}

/* Whom a trusted proxy names: a counter of their own, identified, and nobody else can say so. */
static void named(void)
{
	const char *policy =
		"clients:\n"
		"  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n"
		"  user: header.x-user\n"
		"  plan: {unknown: member, none: guest}\n"
		"plans:\n"
		"  guest: {}\n"
		"  member: {planned: 7/hour}\n"
		"limits:\n"
		"  users: {match: /a, key: user, missing: skip, rate: 3/hour}\n"
		"  either: {match: /b, key: user | ip, rate: 2/hour}\n"
		"  strangers: {match: /c, key: ip, rate: 1/hour, for: anonymous}\n"
		"  members: {match: /c, key: user, missing: skip, rate: 4/hour, for: identified}\n"
		"  planned: {match: /d, key: user | ip, rate: 5/hour}\n";
#define FROM(peer, user) " from " peer " | X-Forwarded-For: 9.9.9.9 | X-User: " user

	STEPS("user", policy, {0, "GET /a" FROM("127.0.0.1", "ann"), NULL, 4, 3, NULL},
	      {0, "GET /a" FROM("127.0.0.1", "bob"), NULL, 4, 3, NULL},
	      {0, "GET /a" FROM("127.0.0.1", "  ann\t"), NULL, 1, 0, NULL},
	      {0, "GET /a" FROM("1.2.3.4", "ann"), NULL, 9, 9,
	       NULL}, /* nobody believes it: the key is missing */
	      {0, "GET /a" FROM("127.0.0.1", ""), NULL, 9, 9, NULL},
	      {0, "GET /a" FROM("127.0.0.1", "eve | X-User: ann"), NULL, 9, 9, NULL}, /* two names are none */
	      {0, "GET /a" FROM("127.0.0.1", "ann | X-User: ann"), NULL, 1, 0, NULL},
	      {0, "GET /b" FROM("1.2.3.4", "u%d"), NULL, 3, 2, NULL}, /* ... and one address */
	      {0, "GET /b" FROM("127.0.0.1", "u%d"), NULL, 3, 3, NULL},
	      {0, "GET /c" FROM("127.0.0.1", "ann"), NULL, 5, 4, NULL},
	      {0, "GET /c" FROM("1.2.3.4", "ann"), NULL, 2, 1, NULL},
	      {0, "GET /d" FROM("127.0.0.1", "ann"), NULL, 8, 7, NULL}, /* the plan of who is identified */
	      {0, "GET /d" FROM("1.2.3.4", "ann"), NULL, 6, 5, NULL});
#undef FROM
}

int main(void)
{
	numbers();
	changes();
	several();
	periods();
	whom();
	named();
	return done_testing();
}
