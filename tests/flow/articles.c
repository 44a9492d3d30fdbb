/* SPDX-License-Identifier: BSD-2-Clause */
/* articles: the numbers that people read about and write down, each as a policy, in virtual time. */
#include "tests/flow/steps.h"

#define SECONDS	    1000u
#define MINUTES	    (60 * SECONDS)
#define HOURS	    (60 * MINUTES)
#define AS(plan, n) "GET /api/x from 127.0.0.1 | X-Plan: " plan " | X-Forwarded-For: 10.1.1." n

/* "guests 1000 an hour, the highest level 3000" */
static void levels(void)
{
	STEPS("levels",
	      "clients:\n  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n  plan: {from: "
	      "[header.x-plan], none: guest}\n"
	      "plans: {guest: {hourly: 1000/hour}, top: {hourly: 3000/hour}}\n"
	      "limits: {hourly: {match: /api/*, rate: 1000/hour}}\n",
	      {0, AS("guest", "1"), NULL, 1200, 1000, NULL}, {0, AS("top", "2"), NULL, 3200, 3000, NULL},
	      {30 * MINUTES, AS("guest", "1"), NULL, 600, 500, NULL},
	      {2 * HOURS, AS("guest", "1"), NULL, 1200, 1000, NULL});
}

/* "free 100 a minute, pro 10,000" */
static void by_minute(void)
{
	STEPS("by the minute",
	      "clients:\n  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n  plan: {from: "
	      "[header.x-plan], none: free}\n"
	      "plans: {free: {api: 100/min}, pro: {api: 10000/min}}\n"
	      "limits: {api: {match: /api/*, rate: 100/min}}\n",
	      {0, AS("free", "1"), NULL, 150, 100, NULL}, {0, AS("pro", "2"), NULL, 10050, 10000, NULL},
	      {30 * SECONDS, AS("free", "1"), NULL, 100, 50, NULL},
	      {6, AS("pro", "2"), NULL, 5003, 5001, NULL}, {6, AS("pro", "2"), NULL, 3, 1, NULL});
}

/* "the free plan of an AI service has 10 questions a day, a paid one 1000": of a calendar day, so no day has nineteen. */
static void questions(void)
{
	STEPS("a day's questions",
	      "clients:\n  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n  plan: {from: "
	      "[header.x-plan], none: free}\n"
	      "plans: {free: {ask: 10/day}, paid: {ask: 1000/day}}\n"
	      "limits: {ask: {match: /api/*, rate: 10/day}}\n",
	      {0, AS("free", "1"), NULL, 12, 10, NULL}, {0, AS("paid", "2"), NULL, 1002, 1000, NULL},
	      {23 * HOURS + 59 * MINUTES, AS("free", "1"), NULL, 3, 0, NULL},
	      {2 * MINUTES, AS("free", "1"), NULL, 12, 10, NULL},
	      {0, AS("paid", "2"), NULL, 1001, 1000, NULL});
}

/* "free, basic, premium, enterprise: 100, 1000, 10,000, 100,000 an hour" */
static void four(void)
{
	STEPS("four plans",
	      "clients:\n  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n  plan: {from: "
	      "[header.x-plan], none: free}\n"
	      "plans:\n  free: {hourly: 100/hour}\n  basic: {hourly: 1000/hour}\n  premium: {hourly: "
	      "10000/hour}\n"
	      "  enterprise: {hourly: 100000/hour}\n  admin: unlimited\n"
	      "limits: {hourly: {match: /api/*, algorithm: fixed-window, rate: 100/hour}}\n",
	      {0, AS("free", "1"), NULL, 101, 100, NULL}, {0, AS("basic", "2"), NULL, 1001, 1000, NULL},
	      {0, AS("premium", "3"), NULL, 10001, 10000, NULL},
	      {0, AS("enterprise", "4"), NULL, 100001, 100000, NULL},
	      {0, AS("admin", "5"), NULL, 150000, 150000, NULL},
	      {HOURS + 1000, AS("free", "1"), NULL, 101, 100, NULL});
}

/* "5 logins a minute": five at once, then one every twelve seconds. */
static void logins(void)
{
#define LOGIN "POST /login from 10.1.1.1"
	STEPS("logins",
	      "limits: {login: {match: POST /login, rate: 5/min}, site: {rate: 50/s, burst: 100}}\n",
	      {0, LOGIN, NULL, 7, 5, NULL}, {11999, LOGIN, NULL, 1, 0, NULL}, {1, LOGIN, NULL, 2, 1, NULL},
	      {12 * SECONDS, LOGIN, NULL, 2, 1, NULL}, {0, "GET / from 10.1.1.1", NULL, 90, 90, NULL},
	      {0, "POST /login from 10.1.1.2", NULL, 6, 5, NULL}, {10 * MINUTES, LOGIN, NULL, 6, 5, NULL});
#undef LOGIN
}

int main(void)
{
	levels();
	by_minute();
	questions();
	four();
	logins();
	return done_testing();
}
