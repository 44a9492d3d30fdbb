/* SPDX-License-Identifier: BSD-2-Clause */
/* grant: units that an operator gives on top of a limit: used when the limit's own are gone, all or none with the
 * request's other limits, until a date. In virtual time. */
#include "tests/flow/given.h"

#define HOUR (3600 * SECOND)
#define A    "GET /api from 1.2.3.4"
#define B    "GET /api from 5.6.7.8"
#define BOTH "GET /api/x from 1.2.3.4"

#define API "limits:\n  api: {match: /api, key: ip, rate: 2/hour}\n"

static uint64_t left(struct world *world, const struct table_key *key)
{
	struct table_look look;
	table_peek(world->table, key, world->env.image->clients.grant_row, &world->time, 0, &look);
	return grant_left(&look.numbers, look.state, world->time.now);
}

/* To the client that has just asked: on top of its first counter. */
static struct table_key give(struct world *world, uint32_t units, uint64_t for_ns)
{
	struct table_look look;
	struct table_key key;
	given_hand(world);
	key = grant_key(world->table, world->env.image, &world->flow->hits[0].key);
	if (table_grant(world->table, &key, world->env.image->clients.grant_row, &world->time, units,
			world->time.now + for_ns, &look) != TABLE_CHARGED)
		abort();
	return key;
}

static void check_spent(void)
{
	struct world world;
	world_open(&world, API);
	is_str(world_says(&world, A), "PASSED", "one of two");
	struct table_key key = give(&world, 3, 12 * HOUR);
	is_str(world_says(&world, A), "PASSED", "the second");
	is_u64(left(&world, &key), 3, "the limit's own are used first");
	for (unsigned i = 0; i < 3; i++)
		is_str(world_says(&world, A), "PASSED", "granted on top");
	is_u64(left(&world, &key), 0, "all are used");
	is_str(world_says(&world, A), "REJECTED", "then it refuses");
	for (unsigned i = 0; i < 2; i++)
		is_str(world_says(&world, B), "PASSED", "somebody else has his two");
	is_str(world_says(&world, B), "REJECTED", "and nothing on top");
	world_close(&world);
}

static void check_date(void)
{
	struct world world;
	world_open(&world, API);
	is_str(world_says(&world, A), "PASSED", "one");
	is_str(world_says(&world, A), "PASSED", "two");
	give(&world, 1000, 60 * SECOND);
	is_str(world_says(&world, A), "PASSED", "on top");
	world_pass(&world, 63 * SECOND);
	is_str(world_says(&world, A), "REJECTED", "the date is over: nothing is on top");
	world_close(&world);
}

/* Another limit refuses: what was taken of the grant is there again. */
static void check_all_or_none(void)
{
	struct world world;
	world_open(&world, "limits:\n"
			   "  api: {match: /api/*, key: ip, rate: 1/hour}\n"
			   "  all: {match: /api/*, key: site, rate: 3/hour}\n");
	is_str(world_says(&world, BOTH), "PASSED", "one");
	struct table_key key = give(&world, 10, HOUR);
	is_str(world_says(&world, BOTH), "PASSED", "on top");
	is_str(world_says(&world, BOTH), "PASSED", "on top");
	is_u64(left(&world, &key), 8, "two are used");
	is_str(world_says(&world, BOTH), "REJECTED", "the other limit refuses");
	is_u64(left(&world, &key), 8, "and nothing of the grant is");
	world_close(&world);
}

/* A cost of three needs three; explain takes nothing. */
static void check_cost(void)
{
	struct world world;
	struct door door;
	char room[200];
	world_open(&world, "limits:\n  api: {match: /api, key: ip, rate: 4/hour, cost: 3}\n");
	is_str(world_says(&world, A), "PASSED", "three of four");
	struct table_key key = give(&world, 5, HOUR);
	world_read(A, &door, room, sizeof room);
	is_str(flow_status_word(world_decide(&world, &door, true, true)->status), "PASSED",
	       "looked at: it would pass");
	is_u64(left(&world, &key), 5, "nothing is taken");
	is_str(world_says(&world, A), "PASSED", "three of five");
	is_u64(left(&world, &key), 2, "two are left");
	is_str(world_says(&world, A), "REJECTED", "which are not enough");
	is_u64(left(&world, &key), 2, "and stay");
	world_end(&world);
	world_close(&world);
}

/* Who is banned is banned, whatever he was given. */
static void check_banned(void)
{
	struct world world;
	world_open(&world, API);
	is_str(world_says(&world, A), "PASSED", "one");
	struct table_key key = give(&world, 5, HOUR);
	given_ban(&world, BAN_ADDRESS, "1.2.3.4", HOUR);
	is_str(world_says(&world, A), "BANNED", "banned");
	is_u64(left(&world, &key), 5, "and the grant is untouched");
	world_close(&world);
}

int main(void)
{
	check_spent();
	check_date();
	check_all_or_none();
	check_cost();
	check_banned();
	return done_testing();
}
