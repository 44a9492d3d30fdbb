/* SPDX-License-Identifier: BSD-2-Clause */
/* narrow: limits on values that clients can make up: how many different ones, how many new ones; and limits that hold for a share. */
#include "tests/flow/steps.h"

#define MINUTE 60000u
#define JSON   " | Content-Type: application/json"

static void distinct(void)
{
	const char *policy =
		"limits: {accounts: {match: POST /login, key: ip, rate: 3 distinct body.username/hour}}\n";

	STEPS("distinct", policy,
	      {0, "POST /login from 1.1.1.1" JSON, "{\"username\": \"bob\"}", 50, 50, NULL}, /* one account */
	      {0, "POST /login from 1.1.1.1" JSON, "{\"username\": \" BOB\"}", 50, 50, NULL},
	      {0, "POST /login from 1.1.1.1" JSON, "{\"username\": \"user%d\"}", 10, 2, NULL},
	      {0, "POST /login from 1.1.1.1" JSON, "{\"username\": \"bob\"}", 9, 9,
	       NULL}, /* who was counted may go on */
	      {0, "POST /login from 2.2.2.2" JSON, "{\"username\": \"user%d\"}", 10, 3, NULL},
	      {0, "POST /login from 3.3.3.3" JSON, "{}", 9, 9, NULL}, /* nothing to count */
	      {20 * MINUTE, "POST /login from 1.1.1.1" JSON, "{\"username\": \"new%d\"}", 10, 1, NULL});
}

/* What another limit refuses has not been counted. */
static void distinct_back(void)
{
	const char *policy =
		"limits:\n"
		"  accounts: {match: POST /login, key: ip, rate: 2 distinct body.username/hour}\n"
		"  all: {match: POST /login, key: site, rate: 1/hour}\n";

	STEPS("taken back", policy, {0, "POST /login from 1.1.1.1" JSON, "{\"username\": \"a\"}", 1, 1, NULL},
	      {0, "POST /login from 1.1.1.1" JSON, "{\"username\": \"b\"}", 5, 0, NULL},
	      {60 * MINUTE, "POST /login from 1.1.1.1" JSON, "{\"username\": \"c\"}", 1, 1, NULL});
}

static void new_keys(void)
{
	const char *policy =
		"limits: {s: {key: header.x-session, missing: ip, rate: 5/min, new_keys: 3/min}}\n";

	STEPS("new keys", policy, {0, "GET / from 1.1.1.1 | X-Session: a", NULL, 6, 5, NULL},
	      {0, "GET / from 1.1.1.1 | X-Session: s%d", NULL, 100, 2, NULL},
	      {0, "GET / from 1.1.1.1", NULL, 6, 5, NULL}, /* its own address is no invention */
	      {0, "GET / from 2.2.2.2 | X-Session: t%d", NULL, 9, 3, NULL},
	      {12000, "GET / from 1.1.1.1 | X-Session: a", NULL, 2, 1, NULL}, /* a known one costs none */
	      {8000, "GET / from 1.1.1.1 | X-Session: u%d", NULL, 9, 1, NULL});
}

static void new_keys_wide(void)
{
	const char *policy = "limits: {s: {key: header.x-session, missing: ip, rate: 5/min, new_keys: 3/min "
			     "per ip/24/48}}\n";

	STEPS("new keys per network", policy, {0, "GET / from 1.1.1.1 | X-Session: s%d", NULL, 2, 2, NULL},
	      {0, "GET / from 1.1.1.200 | X-Session: s%d", NULL, 5, 1, NULL},
	      {0, "GET / from 2001:db8:1::1 | X-Session: s%d", NULL, 2, 2, NULL},
	      {0, "GET / from 2001:db8:1:ffff::1 | X-Session: s%d", NULL, 5, 1, NULL});
}

/* A quarter of the keys, always the same ones, and with a larger share these and more. */
static void share(void)
{
	static bool refused[3][1000];
	static const unsigned percents[] = {25, 50, 100};
	char policy[256], line[64];
	unsigned count[3] = {0}, lost = 0, changed = 0;
	struct world world;

	world_open_sized(&world, "limits: {s: {key: ip, rate: 1/hour, mode: enforce 25%}}\n",
			 UINT64_C(1) << 20);
	for (size_t p = 0; p < 3; p++) {
		snprintf(policy, sizeof policy, "limits: {s: {key: ip, rate: 1/hour, mode: enforce %u%%}}\n",
			 percents[p]);
		world_publish(&world, policy);
		for (unsigned i = 0; i < 1000; i++) {
			snprintf(line, sizeof line, "GET / from 10.0.%u.%u", i / 250, i % 250);
			world_ask(&world, line);
			refused[p][i] = world_ask(&world, line)->action != FLOW_PASS;
			changed += refused[p][i] != (world_ask(&world, line)->action != FLOW_PASS);
			count[p] += refused[p][i];
			lost += p && refused[p - 1][i] && !refused[p][i];
		}
	}
	ok(count[0] > 180 && count[0] < 320, "about a quarter is refused");
	ok(count[1] > 420 && count[1] < 580, "then about half");
	is_u64(count[2], 1000, "then all");
	is_u64(lost + changed, 0, "who is in the share stays in it");
	world_close(&world);
}

static void candidate(void)
{
	struct world world;
	struct stats_limit enforced, tried;

	world_open(&world, "limits: {search: {key: ip, rate: 10/hour, candidate: {rate: 4/hour}}}\n");
	steps_run(&world, "candidate", (const struct step[]){{0, "GET / from 1.1.1.1", NULL, 12, 10, NULL}},
		  1);
	stats_limit_sum(world.table, (uint16_t)image_counter_at(world.env.image, 0)->stat, &enforced);
	stats_limit_sum(world.table, (uint16_t)image_counter_at(world.env.image, 1)->stat, &tried);
	is_u64(enforced.allowed * 100 + enforced.refused, 1002, "the enforced number goes on protecting");
	is_u64(tried.shadow, 8, "... and it is known what the other would have refused");
	world_close(&world);
}

int main(void)
{
	distinct();
	distinct_back();
	new_keys();
	new_keys_wide();
	share();
	candidate();
	return done_testing();
}
