/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_match: finding the limits of a request among 1, 100 and 10,000, against trying every clause; and how
 * long a policy of that size takes to load.
 *
 * All are measured in turns within one run, and the fastest turn of each counts: on a shared machine only
 * ratios taken that way mean anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "policy/policy.h"

#define REQUESTS 4096u
#define TURNS	 15u

struct world {
	unsigned limits;
	struct policy policy;
	double load_ms, match_ns, scan_ns;
	char (*paths)[48];
	struct image_subject *subjects;
	size_t found;
};

/* processor time: one process, and the machine may have other work */
static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static unsigned next(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* One limit for everything below /api, and one each for a path of its own. */
static char *policy_text(unsigned limits)
{
	size_t size = (size_t)limits * 128 + 256, used = 0;
	char *text = malloc(size);

	if (!text)
		exit(1);
	used += (size_t)snprintf(text, size, "limits:\n");
	for (unsigned i = 1; i < limits; i++)
		used += (size_t)snprintf(
			text + used, size - used,
			"  limit-%u: {match: \"/api/group%u/item%u/{id}\", rate: 50/s, burst: 100}\n", i,
			i % 97, i);
	snprintf(text + used, size - used, "  site: {match: \"/api/*\", rate: 100/s, burst: 200}\n");
	return text;
}

static bool no_header(void *door, struct text name, unsigned nth, struct text *value)
{
	(void)door, (void)name, (void)nth, (void)value;
	return false;
}

static void world_init(struct world *world, unsigned limits)
{
	char *text = policy_text(limits);
	unsigned state = 1;
	double begin = now_ns();

	world->limits = limits;
	policy_load(&(struct policy_options){.path = "bench.yaml", .text = text}, &world->policy);
	world->load_ms = (now_ns() - begin) / 1e6;
	free(text);
	if (!world->policy.image) {
		char *findings = policy_findings_text(&world->policy);

		fprintf(stderr, "bench: %s\n", findings ? findings : "no memory");
		exit(1);
	}
	world->match_ns = world->scan_ns = 1e18;
	world->paths = malloc(REQUESTS * sizeof *world->paths);
	world->subjects = calloc(REQUESTS, sizeof *world->subjects);
	if (!world->paths || !world->subjects)
		exit(1);
	for (unsigned i = 0; i < REQUESTS; i++) {
		unsigned item = 1 + next(&state) % (limits > 1 ? limits - 1 : 1);
		int size = snprintf(world->paths[i], sizeof world->paths[i], "/api/group%u/item%u/%u",
				    item % 97, item, next(&state) % 100000);

		world->subjects[i] = (struct image_subject){
			.method = IMAGE_METHOD_BIT(GET),
			.host = TEXT("www.example.com"),
			.path_folded = {world->paths[i], (size_t)size},
			.path_exact = {world->paths[i], (size_t)size},
			.has_client = true,
			.header = no_header,
		};
	}
}

static void turn_match(struct world *world)
{
	const struct image *image = world->policy.image;
	struct image_hit hits[8];
	double begin = now_ns(), each;

	world->found = 0;
	for (unsigned i = 0; i < REQUESTS; i++)
		world->found += image_match(image, &world->subjects[i], hits, 8);
	each = (now_ns() - begin) / REQUESTS;
	if (each < world->match_ns)
		world->match_ns = each;
}

/* What a policy without an index costs; fewer requests, as it takes long. */
static size_t turn_scan(struct world *world)
{
	const struct image *image = world->policy.image;
	unsigned requests = REQUESTS / (1 + world->limits / 32);
	size_t found = 0;
	double begin = now_ns(), each;

	for (unsigned i = 0; i < requests; i++)
		for (uint32_t k = 0; k < image->clauses.count; k++)
			found += image_clause_holds(image, image_clause_at(image, k), &world->subjects[i]);
	each = (now_ns() - begin) / requests;
	if (each < world->scan_ns)
		world->scan_ns = each;
	return found / requests * REQUESTS;
}

int main(void)
{
	static const unsigned sizes[] = {1, 100, 10000};
	struct world worlds[3];
	bool good = true;

	for (unsigned i = 0; i < 3; i++)
		world_init(&worlds[i], sizes[i]);
	for (unsigned turn = 0; turn < TURNS; turn++)
		for (unsigned i = 0; i < 3; i++) {
			turn_match(&worlds[i]);
			if (turn_scan(&worlds[i]) != worlds[i].found) {
				fprintf(stderr, "bench: index and scan differ with %u limits\n", sizes[i]);
				return 1;
			}
		}
	printf("%8s %10s %14s %14s %16s %12s %12s\n", "limits", "met", "match ns", "all clauses ns",
	       "index is faster", "load ms", "image bytes");
	for (unsigned i = 0; i < 3; i++)
		printf("%8u %10.2f %14.0f %14.0f %15.1fx %12.1f %12u\n", worlds[i].limits,
		       (double)worlds[i].found / REQUESTS, worlds[i].match_ns, worlds[i].scan_ns,
		       worlds[i].scan_ns / worlds[i].match_ns, worlds[i].load_ms,
		       worlds[i].policy.image->size);
	printf("100 limits cost %.2f times one, 10,000 cost %.2f times one\n",
	       worlds[1].match_ns / worlds[0].match_ns, worlds[2].match_ns / worlds[0].match_ns);
	if (worlds[2].match_ns >= 2000) {
		printf("GOAL MISSED: a match among 10,000 limits under 2,000 ns\n");
		good = false;
	}
	if (worlds[2].load_ms >= 1000) {
		printf("GOAL MISSED: 10,000 limits loaded in under 1,000 ms\n");
		good = false;
	}
	for (unsigned i = 0; i < 3; i++) {
		policy_free(&worlds[i].policy);
		free(worlds[i].paths);
		free(worlds[i].subjects);
	}
	return good ? 0 : 1;
}
