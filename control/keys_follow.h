/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_follow: keeps the ring of API keys beside its database equal to it. `weir keys` does that itself with each change; this is
 * for what comes otherwise: somebody was killed in between, a backup was put back, the ring is gone. */
#ifndef WEIR_CONTROL_KEYS_FOLLOW_H
#define WEIR_CONTROL_KEYS_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct keys_follow { /* zeroed at first */
	struct {
		uint64_t inode, size, time_ns;
	} marks[3]; /* of database, journal and ring, as they were when all was well */
	bool looked;
	char said[1024]; /* the trouble that was told last */
};

/* Once a second: three looks at files, and nothing more unless one of them has changed. database: absolute path; NULL or "": none.
 * `say` hears what was done and what is wrong, each once. */
void keys_follow(struct keys_follow *follow, const char *database,
		 void (*say)(void *context, const char *line), void *context);

#endif
