/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_queue: several that want the same two places in flight, and wait for them. Never more than two have one, whatever
 * they do at the same moment; everybody gets in; in the end nothing is held. Time stands still: nobody gives up.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/flow/visit.h"

#define THREADS 4
#define ROUNDS	3000
#define PLACES	2

static const char policy[] = "limits:\n"
			     "  places: {concurrent: 2, queue: 10, wait: 1h}\n"
			     "  shared: {key: site, concurrent: 2, queue: 10, wait: 1h}\n"
			     "  charged: {rate: 1000000/day}\n";

static atomic_uint inside, over, waited, refused, passed;

struct worker {
	pthread_t thread;
	const struct world *world;
	struct table *table;
	uint32_t held;
};

static void *work(void *worker_)
{
	struct worker *worker = worker_;
	struct flow_env env = {worker->table, worker->world->env.image, NULL, NULL};
	struct flow *flow = malloc(flow_size(env.image));
	struct door door;
	char room[64];

	world_read("GET / from 1.2.3.4", &door, room, sizeof room);
	for (unsigned round = 0; flow && round < ROUNDS; round++) {
		flow_begin(flow, &env, &door.request, &worker->world->time, true, false);
		while (flow_run(flow) == FLOW_WAIT) {
			atomic_fetch_add(&waited, 1);
			sched_yield();
		}
		if (flow->verdict.action == FLOW_PASS) {
			atomic_fetch_add(&over, atomic_fetch_add(&inside, 1) >= PLACES);
			atomic_fetch_add(&passed, 1);
			if (round % 3)
				sched_yield();
			atomic_fetch_sub(&inside, 1);
		} else {
			atomic_fetch_add(&refused, 1);
		}
		flow_end(flow, &worker->world->time);
	}
	worker->held = table_held(worker->table);
	free(flow);
	return NULL;
}

int main(void)
{
	static struct worker workers[THREADS];
	struct world world;
	uint32_t held = 0;

	world_open(&world, policy);
	for (unsigned i = 0; i < THREADS; i++) {
		struct table_options options = {.path = world.path};
		workers[i].world = &world;
		if (table_open(&options, &workers[i].table, NULL, 0) != WEIR_OK)
			abort();
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		held += workers[i].held;
		table_close(&workers[i].table);
	}
	is_u64(over, 0, "never more than two have a place");
	is_u64(refused, 0, "nobody is refused, for the queue is long enough");
	is_u64(passed, THREADS * ROUNDS, "everybody gets in");
	ok(waited > 0, "some of them after waiting");
	is_u64(held, 0, "in the end nothing is held");
	is_u64(visit_stats(&world, 2).cost, THREADS * ROUNDS, "what else limits them was charged once each");
	struct visit *visit = visit_open(&world, "GET / from 1.2.3.4", true);
	is_u64(visit_left(&world, visit, 0), 1, "all places are free for the next");
	is_u64(flow_hit_waiting(visit->flow, &visit->flow->hits[0]), 0, "and nobody waits");
	visit_close(&world, visit);
	note("%u looks from the queue", waited);
	world_close(&world);
	return done_testing();
}
