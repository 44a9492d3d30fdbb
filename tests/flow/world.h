/* SPDX-License-Identifier: BSD-2-Clause */
/* world: a policy published into a table of its own on /dev/shm, a clock that the test moves, and requests to
 * it. */
#ifndef WEIR_TESTS_FLOW_WORLD_H
#define WEIR_TESTS_FLOW_WORLD_H

#include <dirent.h>
#include <unistd.h>

#include "policy/policy.h"
#include "tests/flow/door.h"

#define MS     UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define WALL   INT64_C(1893456000) /* 2030-01-01, a Tuesday: wall clock when a world opens */

struct world {
	char folder[64], path[80];
	struct table *table;
	struct policy_image *published;
	struct flow_recorder recorder;
	struct flow_env env;
	struct flow *flow;
	bool ran; /* flow holds what it took until it is ended */
	struct algo_time time;
};

/* The last request is over. It never got an answer, unless flow_responded said so. */
static inline void world_end(struct world *world)
{
	if (world->ran)
		flow_end(world->flow, &world->time);
	world->ran = false;
}

static inline void world_publish(struct world *world, const char *policy)
{
	struct policy_options options = {.path = "policy.yaml", .text = policy, .wall = WALL};
	struct policy loaded;
	struct publish_report report;
	char why[256];

	world_end(world);
	policy_load(&options, &loaded);
	if (!loaded.image) {
		fprintf(stderr, "%s\n%s", policy, policy_findings_text(&loaded));
		abort();
	}
	policy_drop(&world->published);
	if (policy_publish(world->table, loaded.image, &report, why, sizeof why) != WEIR_OK ||
	    policy_current(world->table, &world->published, why, sizeof why) != WEIR_OK) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	policy_free(&loaded);
	world->env = (struct flow_env){world->table, world->published->image, &world->recorder, NULL};
	free(world->flow);
	world->flow = malloc(flow_size(world->env.image));
}

static inline void world_open_sized(struct world *world, const char *policy, uint64_t size)
{
	struct table_options options = {.create = true, .size = size};
	char why[256];

	memset(world, 0, sizeof *world);
	strcpy(world->folder, "/dev/shm/weir-test-flow-XXXXXX");
	if (!mkdtemp(world->folder))
		abort();
	snprintf(world->path, sizeof world->path, "%s/table", world->folder);
	options.path = world->path;
	if (table_open(&options, &world->table, why, sizeof why) != WEIR_OK) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	table_time(world->table, &world->time);
	world->time.wall = WALL * (int64_t)SECOND - (int64_t)world->time.now;
	world_publish(world, policy);
}

static inline void world_open(struct world *world, const char *policy)
{
	world_open_sized(world, policy, UINT64_C(256) << 10);
}

static inline void world_close(struct world *world)
{
	DIR *folder = opendir(world->folder);
	struct dirent *entry;

	world_end(world);
	policy_drop(&world->published);
	table_close(&world->table);
	free(world->flow);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(world->folder);
}

static inline void world_pass(struct world *world, uint64_t ns)
{
	world->time.now += ns; /* the wall clock keeps its distance */
}

/* One request, decided. Waits are over at once, and the clock stands still. */
static inline const struct flow_verdict *world_decide(struct world *world, struct door *door, bool can_wait,
						      bool dry)
{
	world_end(world);
	world->ran = true;
	flow_begin(world->flow, &world->env, &door->request, &world->time, can_wait, dry);
	if (flow_run(world->flow) == FLOW_WAIT && flow_run(world->flow) != FLOW_DONE)
		abort();
	return &world->flow->verdict;
}

static inline const char *world_status(struct world *world, struct door *door)
{
	return flow_status_word(world_decide(world, door, true, false)->status);
}

/* The same with a request written down: "GET /path from 1.2.3.4 | Header: value | ..."; no address: a unix
 * socket. */
static inline void world_read(const char *line, struct door *door, char *room, size_t size)
{
	char *method = room, *target, *peer = NULL, *headers;

	if (strlen(line) >= size)
		abort();
	strcpy(room, line);
	headers = strchr(room, '|');
	if (headers)
		*headers++ = '\0';
	target = strchr(room, ' ');
	if (!target)
		abort();
	*target++ = '\0';
	char *from = strstr(target, " from ");
	if (from) {
		*from = '\0';
		peer = from + 6;
		peer[strcspn(peer, " ")] = '\0';
	} else {
		target[strcspn(target, " ")] = '\0';
	}
	door_open(door, method, target, peer);
	for (char *c = headers; c && *c; c++)
		if (*c == '|')
			*c = '\n';
	while (headers && *headers) {
		headers += strspn(headers, " \n");
		size_t length = strcspn(headers, "\n");
		char *next = headers + length + (headers[length] == '\n');
		headers[length] = '\0';
		if (strncmp(headers, "Host: ", 6) == 0)
			door->request.host = text_of(headers + 6);
		else if (strncmp(headers, "$", 1) == 0) { /* $name=value: a variable */
			char *equals = strchr(headers, '=');
			door->variable_name = (struct text){headers + 1, (size_t)(equals - headers - 1)};
			door->variable_value = text_of(equals + 1);
		} else
			door_add_lines(door, headers);
		headers = next;
	}
}

static inline const struct flow_verdict *world_ask(struct world *world, const char *line)
{
	static struct door door; /* until the next call: the flow points into it */
	static char room[8192];

	world_read(line, &door, room, sizeof room);
	return world_decide(world, &door, true, false);
}

static inline const char *world_says(struct world *world, const char *line)
{
	return flow_status_word(world_ask(world, line)->status);
}

#endif
