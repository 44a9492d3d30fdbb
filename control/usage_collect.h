/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_collect: brings months that are over from the table into the database of keys, before their slots are gone: once an hour,
 * and when a month ends; some thousand keys at a time, so that nothing else of control waits. */
#ifndef WEIR_CONTROL_USAGE_COLLECT_H
#define WEIR_CONTROL_USAGE_COLLECT_H

#include <limits.h>

#include "control/usage_bill.h"
#include "policy/policy.h"

struct usage_collect { /* zeroed at first */
	uint64_t due_ms;
	int64_t next_end; /* wall clock, s: a month ends then; 0: not known */
	/* while it is at it */
	struct policy_image *image;
	uint64_t generation;
	int64_t after; /* id of the last key that is done */
	char database[PATH_MAX];
	char said[1024]; /* the trouble that was told last */
};

/* Does what is due. now_ms: any monotonic clock. `say` hears what is wrong, once. */
void usage_collect(struct usage_collect *collect, struct table *table, uint64_t now_ms,
		   void (*say)(void *context, const char *line), void *context);
/* Is it in the middle of it? Then it is to be called again soon. */
bool usage_collecting(const struct usage_collect *collect);
void usage_collect_end(struct usage_collect *collect);

#endif
