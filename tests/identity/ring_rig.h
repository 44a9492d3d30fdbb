/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_rig: a folder with a ring in it, and rows to fill it with. */
#ifndef WEIR_TESTS_IDENTITY_RING_RIG_H
#define WEIR_TESTS_IDENTITY_RING_RIG_H

#include <stdlib.h>
#include <unistd.h>

#include "identity/ring.h"
#include "identity/ring_write.h"
#include "tests/tap.h"

static const uint8_t RIG_PEPPER[RING_PEPPER] = "thirty-two bytes of black pepper";

struct rig {
	char folder[64], database[96], why[512];
	struct hmac_key pepper;
	struct ring_state state;
};

static inline void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof *rig);
	strcpy(rig->folder, "/tmp/weir-ring-XXXXXX");
	if (!mkdtemp(rig->folder)) {
		printf("Bail out! no folder\n");
		exit(1);
	}
	snprintf(rig->database, sizeof rig->database, "%s/keys.db", rig->folder);
	hmac_key_init(&rig->pepper, RIG_PEPPER, RING_PEPPER);
	rig->state = (struct ring_state){.change = 1, .token = 11, .pepper = RIG_PEPPER};
}

static inline void rig_path(const struct rig *rig, const char *suffix, char path[160])
{
	snprintf(path, 160, "%s%s", rig->database, suffix);
}

static inline void rig_end(struct rig *rig)
{
	char path[160];
	rig_path(rig, ".ring", path);
	unlink(path);
	rig_path(rig, ".ring.lock", path);
	unlink(path);
	if (rmdir(rig->folder) != 0)
		printf("# %s: something was left behind\n", rig->folder);
}

/* The secret of key `id` is "secret-ID"; texts are static. */
static inline struct ring_row rig_row(const struct rig *rig, uint64_t id, const char *name, const char *plan)
{
	char secret[32];
	struct ring_row row = {.id = id, .name = text_of(name), .plan = text_of(plan)};
	snprintf(secret, sizeof secret, "secret-%llu", (unsigned long long)id);
	ring_hash(&rig->pepper, text_of(secret), row.hash);
	return row;
}

static inline enum ring_found rig_find(struct ring *ring, uint64_t id, int64_t wall_s, struct ring_key *key)
{
	char secret[32];
	snprintf(secret, sizeof secret, "secret-%llu", (unsigned long long)id);
	return ring_find(ring, text_of(secret), wall_s, key);
}

static inline bool rig_says(const char *data, uint8_t size, const char *expected)
{
	return size == strlen(expected) && memcmp(data, expected, size) == 0;
}

/* Makes the ring anew with keys 1..count, all of plan `plan`, named k1, k2, … */
static inline bool rig_build(struct rig *rig, struct ring_writer *writer, uint64_t count, const char *plan)
{
	struct ring_build *build;
	rig->state.keys = count;
	bool good = ring_build_begin(writer, &rig->state, count, 0, count, &build, rig->why,
				     sizeof rig->why) == WEIR_OK;
	for (uint64_t id = 1; good && id <= count; id++) {
		char name[32];
		snprintf(name, sizeof name, "k%llu", (unsigned long long)id);
		struct ring_row row = rig_row(rig, id, name, plan);
		good = ring_build_add(build, &row, rig->why, sizeof rig->why) == WEIR_OK;
	}
	return good && ring_build_end(&build, true, rig->why, sizeof rig->why) == WEIR_OK;
}

#endif
