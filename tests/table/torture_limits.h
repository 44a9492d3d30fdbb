/* SPDX-License-Identifier: BSD-2-Clause */
/* torture_limits: which limits there are, of every kind: in a table with room, and in two that are far too small. */
#ifndef WEIR_TESTS_TABLE_TORTURE_LIMITS_H
#define WEIR_TESTS_TABLE_TORTURE_LIMITS_H

#include "algo/ban.h"
#include "tests/table/rig.h"

#define MS (RIG_SECOND / 1000)

enum { ROOMY, EVICTING, DENYING, RIGS }; /* tables */

enum {
	HOT_TOKEN,
	HOT_LEAKY,
	HOT_WINDOW,
	HOT_CLOCK,
	HOT_SLIDING,
	HOT_COUNT,
	LOG_ONE = HOT_COUNT,
	LOG_MANY,
	LOG_DENYING,
	HELD_ONE, /* from here on: units are held */
	HELD_FEW,
	HELD_MANY,
	HELD_TOKEN,
	HELD_WINDOW,
	HELD_LOG,
	HELD_EVICTING,
	HELD_EVICTING_TOKEN,
	HELD_DENYING,
	HELD_DENYING_TOKEN,
	HELD_END,
	FRESH = HELD_END,
	FLOOD_TOKEN,
	FLOOD_LOG,
	FLOOD_DENYING,
	BAN_ROOMY,
	BAN_EVICTING,
	LIMITS,
	CHURN = LIMITS
};

struct torture_limit {
	const char *name;
	unsigned rig;
	enum algo_kind kind;
	uint32_t n, cost; /* n: burst and rate of buckets; cost: from 1 to this */
	uint64_t period;
	enum algo_align align;
};

static const struct torture_limit torture_limits[LIMITS] = {
	[HOT_TOKEN] = {"token bucket", ROOMY, ALGO_TOKEN_BUCKET, 2000, 3, RIG_SECOND, 0},
	[HOT_LEAKY] = {"leaky bucket", ROOMY, ALGO_LEAKY_BUCKET, 2000, 3, RIG_SECOND, 0},
	[HOT_WINDOW] = {"window", ROOMY, ALGO_FIXED_WINDOW, 50, 3, 50 * MS, 0},
	[HOT_CLOCK] = {"window on the clock", ROOMY, ALGO_FIXED_WINDOW, 50, 3, 50 * MS, ALGO_CLOCK},
	[HOT_SLIDING] = {"sliding window", ROOMY, ALGO_SLIDING_WINDOW, 50, 3, 50 * MS, 0},
	[LOG_ONE] = {"log, cost 1", ROOMY, ALGO_SLIDING_LOG, 20, 1, 50 * MS, 0},
	[LOG_MANY] = {"log, costs to 5", ROOMY, ALGO_SLIDING_LOG, 60, 5, 100 * MS, 0},
	[LOG_DENYING] = {"log in a full table", DENYING, ALGO_SLIDING_LOG, 20, 3, 50 * MS, 0},
	[HELD_ONE] = {"in flight: one", ROOMY, ALGO_CONCURRENT, 1, 1, 0, 0},
	[HELD_FEW] = {"in flight: three", ROOMY, ALGO_CONCURRENT, 3, 1, 0, 0},
	[HELD_MANY] = {"in flight: nine, costs to 4", ROOMY, ALGO_CONCURRENT, 9, 4, 0, 0},
	[HELD_TOKEN] = {"reserved: bucket", ROOMY, ALGO_TOKEN_BUCKET, 8, 5, 40 * MS, 0},
	[HELD_WINDOW] = {"reserved: window", ROOMY, ALGO_FIXED_WINDOW, 12, 5, 50 * MS, ALGO_CLOCK},
	[HELD_LOG] = {"reserved: log", ROOMY, ALGO_SLIDING_LOG, 12, 5, 50 * MS, 0},
	[HELD_EVICTING] = {"in flight, evicting", EVICTING, ALGO_CONCURRENT, 3, 1, 0, 0},
	[HELD_EVICTING_TOKEN] = {"reserved, evicting", EVICTING, ALGO_TOKEN_BUCKET, 8, 5, 40 * MS, 0},
	[HELD_DENYING] = {"in flight, denying", DENYING, ALGO_CONCURRENT, 3, 1, 0, 0},
	[HELD_DENYING_TOKEN] = {"reserved, denying", DENYING, ALGO_TOKEN_BUCKET, 8, 5, 40 * MS, 0},
	[FRESH] = {"fresh keys", ROOMY, ALGO_TOKEN_BUCKET, 5, 1, RIG_SECOND * 5 / 2, 0},
	[FLOOD_TOKEN] = {"flood", EVICTING, ALGO_TOKEN_BUCKET, 2, 1, 3600 * RIG_SECOND, 0},
	[FLOOD_LOG] = {"flood of logs", EVICTING, ALGO_SLIDING_LOG, 3, 2, 3600 * RIG_SECOND, 0},
	[FLOOD_DENYING] = {"flood, denying", DENYING, ALGO_TOKEN_BUCKET, 1, 1, RIG_SECOND, 0},
	[BAN_ROOMY] = {"bans", ROOMY, ALGO_BAN, 8, 0, 5 * MS, 0}, /* up to n times the period */
	[BAN_EVICTING] = {"bans, evicting", EVICTING, ALGO_BAN, 8, 0, 5 * MS, 0},
};

static inline struct algo_numbers torture_numbers(unsigned limit)
{
	const struct torture_limit *l = &torture_limits[limit];
	struct algo_numbers numbers;
	switch (l->kind) {
	case ALGO_TOKEN_BUCKET:
		return rig_token(l->n, l->period, l->n);
	case ALGO_LEAKY_BUCKET:
		return rig_leaky(l->n, l->period, l->n - 1);
	case ALGO_FIXED_WINDOW:
		return rig_window(l->n, l->period, l->align);
	case ALGO_SLIDING_WINDOW:
		if (algo_sliding_window(l->n, l->period, &numbers))
			return numbers;
		break;
	case ALGO_SLIDING_LOG:
		if (algo_sliding_log(l->n, l->period, &numbers))
			return numbers;
		break;
	case ALGO_BAN:
		if (algo_ban_numbers(l->period, l->n * l->period, &numbers))
			return numbers;
		break;
	default:
		if (algo_concurrent(l->n, &numbers))
			return numbers;
	}
	rig_die(l->name, "numbers refused");
}

#endif
