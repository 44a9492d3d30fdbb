/* SPDX-License-Identifier: BSD-2-Clause */
/* full: what a new key meets in a table without room, as its limit says (on_full). */
#include "tests/flow/visit.h"

#define KEYS 20000u /* for 4096 slots */

static const struct {
	const char *words, *says;
	uint64_t refused, no_room, cost;
	uint32_t held; /* tickets */
	bool foreseen; /* holds are not */
} rows[] = {
	{"rate: 5/min, on_full: evict", "PASSED", 0, 0, 1, 0, true},
	{"rate: 5/min, on_full: allow", "PASSED", 0, 1, 0, 0, true},
	{"rate: 5/min, on_full: deny", "REJECTED", 1, 1, 0, 0, true},
	{"rate: 5/min, algorithm: sliding-log, on_full: allow", "PASSED", 0, 1, 0, 0, true},
	{"rate: 5/min, algorithm: sliding-log, on_full: deny", "REJECTED", 1, 1, 0, 0, true},
	{"rate: 5/min, count: failures, on_full: evict", "PASSED", 0, 0, 0, 1, false},
	{"rate: 5/min, count: failures, on_full: allow", "PASSED", 0, 1, 0, 0, false},
	{"rate: 5/min, count: failures, on_full: deny", "REJECTED", 1, 1, 0, 0, false},
	{"concurrent: 5, on_full: evict", "PASSED", 0, 0, 0, 1, false},
	{"concurrent: 5, on_full: allow", "PASSED", 0, 1, 0, 0, false},
	{"concurrent: 5, on_full: deny", "REJECTED", 1, 1, 0, 0, false},
	{"rate: 5/min, on_full: deny, mode: shadow", "REJECTED_SHADOW", 0, 1, 0, 0, true},
};

static void fill(struct world *world)
{
	for (unsigned i = 0; i < KEYS; i++) {
		char line[64];
		snprintf(line, sizeof line, "GET /fill from 10.%u.%u.1", i / 250, i % 250);
		world_ask(world, line);
	}
}

/* Nothing charged, nothing forgotten. */
static const char *foresees(struct world *world)
{
	struct door door;
	char room[256];
	world_read("GET /x from 1.2.3.4", &door, room, sizeof room);
	return flow_status_word(world_decide(world, &door, true, true)->status);
}

int main(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world world;
		char policy[256];

		snprintf(policy, sizeof policy,
			 "limits:\n  x: {match: /x, key: ip, %s}\n  fill: {match: /fill, rate: 2/day}\n"
			 "  beside: {match: /x, rate: 5/hour, mode: disabled}\n",
			 rows[i].words);
		world_open_sized(&world, policy, UINT64_C(64) << 10);
		if (rows[i].foreseen)
			is_str(foresees(&world), "PASSED", "explain: there is room");
		fill(&world);
		if (rows[i].foreseen)
			is_str(foresees(&world), rows[i].says, "explain says what will be");
		is_str(world_says(&world, "GET /x from 1.2.3.4"), rows[i].says, rows[i].words);
		is_u64(world.flow->tickets, rows[i].held, "... it holds what was stored");
		if (world.flow->verdict.action == FLOW_REFUSE) {
			is_u64(world.flow->verdict.retry_after_s, 1, "... with a hint when to try again");
			is_u64(world.flow->verdict.limit, 5, "... of a limit that is as it is");
			is_u64(world.flow->verdict.remaining, 0, "... and has nothing left");
		}
		struct stats_limit stats = visit_stats(&world, 0);
		is_u64(stats.refused, rows[i].refused, "... refused");
		is_u64(stats.no_room, rows[i].no_room, "... told as without room");
		is_u64(stats.cost, rows[i].cost, "... and charged");
		world_close(&world);
	}

	/* several limits: what was taken of the others goes back */
	struct world world;
	world_open_sized(&world,
			 "limits:\n"
			 "  known: {match: /x, key: site, rate: 5/hour}\n"
			 "  x: {match: /x, key: ip, rate: 5/min, on_full: deny}\n"
			 "  fill: {match: /fill, rate: 2/day}\n",
			 UINT64_C(64) << 10);
	fill(&world);
	is_str(world_says(&world, "GET /x from 1.2.3.4"), "REJECTED", "one of two limits finds no room");
	struct visit *visit = visit_open(&world, "GET /x from 1.2.3.4", true);
	is_u64(visit_left(&world, visit, 0), 5, "... the other is not charged");
	is_u64(visit_stats(&world, 0).cost, 0, "... and says so");
	visit_close(&world, visit);
	world_close(&world);
	return done_testing();
}
