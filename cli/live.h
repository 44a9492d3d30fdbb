/* SPDX-License-Identifier: BSD-2-Clause */
/* live: a table with the policy that is in force there, opened together; or, for trying a policy out, a
 * private table with nothing in it. */
#ifndef WEIR_CLI_LIVE_H
#define WEIR_CLI_LIVE_H

#include "cli/find.h"
#include "identity/ring.h"
#include "policy/policy.h"

struct live {
	struct table *table;
	struct policy_image *current;
	const struct image *image; /* of current */
	struct algo_time now;
	const struct ring_key *
		key; /* the API key that a client comes with, whatever a limit counts it by; NULL: none; the command's to set */
	const char
		*plan;	 /* --plan: by which one a client is looked at, NULL: its own; the command's to set */
	char folder[64]; /* a private table's own, removed by live_close; else "" */
};

/* Each returns STATUS_FINE, or an exit code after saying why; live_close is needed either way. */
int live_open(struct live *live, const struct find *find, bool read_only);
/* A table of our own in /dev/shm (or /tmp) with this image published. */
int live_private(struct live *live, const struct image *image);
void live_close(struct live *live);
/* live_open of the table at `path`, only for looking, and without a word: what went wrong is in `why`. */
enum weir_error live_look(struct live *live, const char *path, char *why, size_t size);

/* The wall clock, seconds since 1970, as of live->now; and of a moment of the table's time. */
int64_t live_wall(const struct live *live);
int64_t live_wall_at(const struct live *live, uint64_t table_time);

/* Index of the limit of that name; UINT32_MAX after saying so, with the name that was probably meant. */
uint32_t live_limit(const struct live *live, const char *name);

#endif
