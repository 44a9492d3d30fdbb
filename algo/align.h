/* SPDX-License-Identifier: BSD-2-Clause */
/* align: where the windows that follow the wall clock end. Proleptic Gregorian calendar, UTC, no leap seconds
 * (as Unix time). */
#ifndef WEIR_ALGO_ALIGN_H
#define WEIR_ALGO_ALIGN_H

#include "algo/algo.h"

/* `align_next` takes wall times between these: years 1823 to 2257. */
#define ALIGN_WALL_MIN (-(INT64_C(1) << 62))
#define ALIGN_WALL_MAX (INT64_MAX - (INT64_C(1) << 57))

/* The first boundary strictly after `wall` (ns since 1970-01-01T00:00:00Z). period_ns counts for ALGO_CLOCK
 * only (> 0). At most 366 days, or the period, after `wall`. Not for ALGO_FIRST_REQUEST. */
int64_t align_next(enum algo_align align, uint64_t period_ns, int64_t wall);

#endif
