/* SPDX-License-Identifier: BSD-2-Clause */
/* steps: a story as a table: so many requests, of them so many pass, then time goes by. */
#ifndef WEIR_TESTS_FLOW_STEPS_H
#define WEIR_TESTS_FLOW_STEPS_H

#include "tests/flow/world.h"

struct step {
	uint64_t after_ms;   /* since the step before */
	const char *request; /* as world_read has it; "%d": counts through all the requests of the story */
	const char *body;    /* NULL: none */
	unsigned times, pass;
	const char *status; /* of those that do not pass; NULL: REJECTED */
};

/* One request with a body that is read if it is asked for. */
static inline const struct flow_verdict *steps_ask(struct world *world, const char *line, const char *body)
{
	static struct door door;
	static char room[8192];

	world_end(world);
	world_read(line, &door, room, sizeof room);
	door.request.can_read_body = true;
	flow_begin(world->flow, &world->env, &door.request, &world->time, true, false);
	world->ran = true;
	if (flow_run(world->flow) == FLOW_BODY) {
		door.request.body = body ? text_of(body) : TEXT("");
		door.request.has_body = door.request.body_whole = true;
		if (flow_run(world->flow) != FLOW_DONE)
			abort();
	}
	return &world->flow->verdict;
}

static inline void steps_run(struct world *world, const char *name, const struct step *steps, size_t count)
{
	char line[1024], body[1024], what[256];
	int number = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned pass = 0, wrong = 0;
		const char *other = "";

		world_pass(world, steps[i].after_ms * MS);
		for (unsigned k = 0; k < steps[i].times; k++) {
			const struct flow_verdict *verdict;
			const char *status;

			number++;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(line, sizeof line, steps[i].request, number);
			snprintf(body, sizeof body, steps[i].body ? steps[i].body : "", number);
#pragma GCC diagnostic pop
			verdict = steps_ask(world, line, body);
			status = flow_status_word(verdict->status);
			pass += verdict->action == FLOW_PASS;
			if (verdict->action != FLOW_PASS &&
			    strcmp(status, steps[i].status ? steps[i].status : "REJECTED")) {
				wrong++;
				other = status;
			}
		}
		snprintf(what, sizeof what, "%s, step %zu: of %u '%.80s' %u pass", name, i + 1,
			 steps[i].times, steps[i].request, steps[i].pass);
		is_u64(pass, steps[i].pass, what);
		if (wrong)
			ok(false, other);
	}
}

static inline void steps_tell(const char *name, const char *policy, const struct step *steps, size_t count)
{
	struct world world;

	world_open_sized(&world, policy, UINT64_C(1) << 20);
	steps_run(&world, name, steps, count);
	world_close(&world);
}
#define STEPS(name, policy, ...)                                                                             \
	steps_tell(name, policy, (const struct step[]){__VA_ARGS__},                                         \
		   sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

#endif
