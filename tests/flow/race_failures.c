/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_failures: two hundred wrong passwords at the same moment, five of which may be tried (mission B23). All are asked
 * before any is answered, by several threads with handles of their own, so that nothing but what is reserved can hold
 * them back.
 */
#include <pthread.h>

#include "tests/flow/visit.h"

#define THREADS 4
#define EACH	50
#define ROUNDS	200

static const char policy[] = "limits:\n"
			     "  login: {match: POST /login, rate: 5/min, count: failures}\n"
			     "  places: {match: POST /login, concurrent: 1000}\n";

struct worker {
	pthread_t thread;
	struct world *world;
	struct table *table;
	pthread_barrier_t *line;
	struct flow *flows[EACH];
	uint8_t passed[ROUNDS];
};

static void *work(void *worker_)
{
	static const unsigned wrong = 401, right = 302;
	struct worker *worker = worker_;
	struct world *world = worker->world;
	struct flow_env env = {worker->table, world->env.image, NULL, NULL};
	struct door door;
	char room[64];

	world_read("POST /login from 10.0.0.1", &door, room, sizeof room);
	for (unsigned round = 0; round < ROUNDS; round++) {
		door.request.peer.bytes[14] = (uint8_t)(round >> 8);
		door.request.peer.bytes[15] = (uint8_t)round;
		pthread_barrier_wait(worker->line);
		for (unsigned i = 0; i < EACH; i++) {
			flow_begin(worker->flows[i], &env, &door.request, &world->time, true, false);
			flow_run(worker->flows[i]);
			if (worker->flows[i]->verdict.action == FLOW_PASS)
				worker->passed[round]++;
		}
		pthread_barrier_wait(worker->line);
		for (unsigned i = 0; i < EACH; i++) { /* in odd rounds all of them were right after all */
			flow_responded(worker->flows[i], &world->time, round % 2 ? &right : &wrong, 1);
			flow_end(worker->flows[i], &world->time);
		}
	}
	return NULL;
}

int main(void)
{
	static struct worker workers[THREADS];
	struct world world;
	pthread_barrier_t line;
	size_t over = 0, under = 0, left_wrong = 0, held = 0;

	world_open_sized(&world, policy, UINT64_C(4) << 20);
	pthread_barrier_init(&line, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		struct table_options options = {.path = world.path};
		workers[i].world = &world;
		workers[i].line = &line;
		if (table_open(&options, &workers[i].table, NULL, 0) != WEIR_OK)
			abort();
		for (unsigned k = 0; k < EACH; k++)
			if (!(workers[i].flows[k] = malloc(flow_size(world.env.image))))
				abort();
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		held += table_held(workers[i].table);
		table_close(&workers[i].table);
		for (unsigned k = 0; k < EACH; k++)
			free(workers[i].flows[k]);
	}
	pthread_barrier_destroy(&line);
	for (unsigned round = 0; round < ROUNDS; round++) {
		unsigned passed = 0;
		char address[64];

		for (unsigned i = 0; i < THREADS; i++)
			passed += workers[i].passed[round];
		over += passed > 5;
		under += passed < 5;
		snprintf(address, sizeof address, "POST /login from 10.0.%u.%u", round >> 8, round & 255);
		struct visit *visit = visit_open(&world, address, true);
		uint32_t left = visit_left(&world, visit, 0);
		left_wrong += left != (round % 2 ? 4 : 0); /* its own is reserved */
		left_wrong += (visit->flow->verdict.action == FLOW_PASS) != (round % 2);
		visit_close(&world, visit);
	}
	is_u64(over, 0, "of two hundred wrong passwords at once five are tried");
	is_u64(under, 0, "... not fewer");
	is_u64(left_wrong, 0,
	       "... afterwards nothing is left if they were wrong, and everything if they were right");
	is_u64(held, 0, "... and nobody holds anything");
	world_close(&world);
	return done_testing();
}
