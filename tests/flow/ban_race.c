/* SPDX-License-Identifier: BSD-2-Clause */
/* ban_race: several doors refuse one client at the same moment: he is banned once, and the level goes up by one. */
#include <pthread.h>

#include "algo/ban.h"
#include "tests/flow/given.h"

#define DOORS	4u
#define ROUNDS	60u
#define STRIKES 5u

static struct world world;
static pthread_barrier_t barrier;
static uint64_t begin; /* of the round */
static const char *client;

struct door_thread {
	pthread_t id;
	unsigned rejected, banned, other;
};

/* Asks until it is told that the client is banned. */
static void *door_main(void *argument)
{
	struct door_thread *mine = argument;
	struct table_options options = {.path = world.path};
	struct flow_recorder recorder;
	struct table *table;
	struct flow *flow = malloc(flow_size(world.env.image));
	if (!flow || table_open(&options, &table, NULL, 0) != WEIR_OK)
		abort();
	memset(&recorder, 0, sizeof recorder);
	struct flow_env env = {table, world.env.image, &recorder, NULL};
	for (unsigned round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&barrier);
		struct algo_time t = {begin, world.time.wall};
		struct door door;
		char room[200];
		enum flow_status status = FLOW_PASSED;
		world_read(client, &door, room, sizeof room);
		for (unsigned i = 0; i < 1000 && status != FLOW_BANNED; i++) {
			flow_begin(flow, &env, &door.request, &t, false, false);
			flow_run(flow);
			status = flow->verdict.status;
			flow_end(flow, &t);
			mine->rejected += status == FLOW_REJECTED;
			mine->other += status != FLOW_REJECTED && status != FLOW_BANNED &&
				       status != FLOW_PASSED;
		}
		mine->banned += status == FLOW_BANNED;
		pthread_barrier_wait(&barrier);
	}
	free(flow);
	table_close(&table);
	return NULL;
}

int main(void)
{
	struct door_thread doors[DOORS] = {0};
	unsigned wrong_level = 0, rejected = 0, banned = 0, other = 0;
	world_open_sized(&world, "limits:\n  login: {match: /login, key: ip, rate: 1/day}\n",
			 UINT64_C(1) << 20);
	given_then(&world, "login", STRIKES, 3600 * SECOND, SECOND, 3600 * SECOND);
	pthread_barrier_init(&barrier, NULL, DOORS + 1);
	begin = world.time.now;
	for (unsigned i = 0; i < DOORS; i++)
		if (pthread_create(&doors[i].id, NULL, door_main, &doors[i]) != 0)
			abort();
	for (unsigned round = 0; round < ROUNDS; round++) {
		static char line[64];
		/* a client for three rounds: his first ban, his second, his third */
		snprintf(line, sizeof line, "GET /login from 10.0.%u.1", round / 3);
		client = line;
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		world.time.now = begin;
		world_ask(&world, line);
		struct table_key key = ban_hit_key(world.flow, &world.flow->hits[0]);
		struct table_look look;
		table_peek(world.table, &key, given_limit(&world, "login")->then.ban_row, &world.time, 1,
			   &look);
		wrong_level += ban_level(look.state) != round % 3 + 1;
		begin = ban_until(look.state);
	}
	for (unsigned i = 0; i < DOORS; i++) {
		pthread_join(doors[i].id, NULL);
		banned += doors[i].banned;
		rejected += doors[i].rejected;
		other += doors[i].other;
	}
	is_u64(wrong_level, 0, "each time one ban, of the next level");
	ok(rejected >= ROUNDS * STRIKES, "  and each has cost all its strikes");
	is_u64(banned, DOORS * ROUNDS, "every door is told");
	is_u64(other, 0, "  and nothing else");
	note("%u refusals for %u bans of %u strikes", rejected, ROUNDS, STRIKES);
	pthread_barrier_destroy(&barrier);
	world_close(&world);
	return done_testing();
}
