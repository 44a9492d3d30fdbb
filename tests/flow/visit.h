/* SPDX-License-Identifier: BSD-2-Clause */
/* visit: a request that stays for a while: several at once, each with a flow of its own. */
#ifndef WEIR_TESTS_FLOW_VISIT_H
#define WEIR_TESTS_FLOW_VISIT_H

#include "tests/flow/world.h"

struct visit {
	struct door door;
	char room[512];
	struct flow *flow;
	enum flow_step step;
};

/* Runs on at the world's time. */
static inline enum flow_step visit_go(struct world *world, struct visit *visit)
{
	visit->flow->time = world->time;
	visit->step = flow_run(visit->flow);
	return visit->step;
}

static inline struct visit *visit_open(struct world *world, const char *line, bool can_wait)
{
	struct visit *visit = malloc(sizeof *visit);

	if (!visit || !(visit->flow = malloc(flow_size(world->env.image))))
		abort();
	world_read(line, &visit->door, visit->room, sizeof visit->room);
	flow_begin(visit->flow, &world->env, &visit->door.request, &world->time, can_wait, false);
	visit_go(world, visit);
	return visit;
}

static inline const char *visit_says(const struct visit *visit)
{
	return visit->step == FLOW_WAIT ? "WAITS" : flow_status_word(visit->flow->verdict.status);
}

/* statuses: "401", "200 401"; "": none was seen. */
static inline void visit_responded(struct world *world, struct visit *visit, const char *statuses)
{
	unsigned list[8];
	size_t count = 0;

	for (const char *at = statuses; *at && count < 8; at += strcspn(at, " "), at += strspn(at, " "))
		list[count++] = (unsigned)strtoul(at, NULL, 10);
	flow_responded(visit->flow, &world->time, list, count);
}

static inline void visit_close(struct world *world, struct visit *visit)
{
	flow_end(visit->flow, &world->time);
	free(visit->flow);
	free(visit);
}

/* What is left of counter `index` for the client of the visit. */
static inline uint32_t visit_left(struct world *world, const struct visit *visit, uint32_t hit_index)
{
	const struct flow_hit *hit = &visit->flow->hits[hit_index];
	struct algo_report report;
	struct table_look look;

	table_peek_held(world->table, &hit->key, image_counter_at(world->env.image, hit->counter)->row,
			&world->time, 1, &look);
	table_describe(&look, &world->time, 1, false, &report);
	return report.remaining;
}

static inline struct stats_limit visit_stats(struct world *world, uint32_t counter)
{
	struct stats_limit sum;

	stats_limit_sum(world->table, (uint16_t)image_counter_at(world->env.image, counter)->stat, &sum);
	return sum;
}

#endif
