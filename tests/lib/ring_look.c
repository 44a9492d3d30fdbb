/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_look: a door's view of the API keys: ring_look DATABASE opens the ring once and answers each line of standard input, a
 * secret, with what it is: "known NAME PLAN", "expired NAME PLAN", "revoked NAME PLAN", "unknown -"; "no ring" without one. With
 * a second argument that many seconds are added to the clock. Each look notes that the key was used, as a door does. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "identity/ring.h"

static struct ring *ring;

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void answer(const char *database, struct text secret, int64_t wall_s)
{
	static const char *const FOUND[] = {
		[RING_KNOWN] = "known",
		[RING_UNKNOWN] = "unknown",
		[RING_EXPIRED] = "expired",
		[RING_REVOKED] = "revoked",
	};
	char why[512];
	struct ring_key key;
	if (ring && ring_replaced(ring, now_ns()))
		ring_close(&ring);
	if (!ring && ring_open(database, &ring, why, sizeof why) != WEIR_OK) {
		printf("no ring: %s\n", why);
		return;
	}
	enum ring_found found = ring_find(ring, secret, wall_s, &key);
	if (found == RING_UNKNOWN) {
		puts("unknown -");
		return;
	}
	ring_used(ring, &key, wall_s);
	printf("%s %.*s %.*s\n", FOUND[found], key.name_size, key.name, key.plan_size ? key.plan_size : 1,
	       key.plan_size ? key.plan : "-");
}

int main(int argc, char **argv)
{
	char line[1024];
	if (argc < 2)
		return 2;
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		answer(argv[1], text_of(line), time(NULL) + (argc > 2 ? atol(argv[2]) : 0));
		fflush(stdout);
	}
	ring_close(&ring);
	return 0;
}
