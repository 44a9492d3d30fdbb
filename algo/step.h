/* SPDX-License-Identifier: BSD-2-Clause */
/* step: `algo_step` inline, for the loop that retries a compare-and-swap. Everyone else calls algo_step. */
#ifndef WEIR_ALGO_STEP_H
#define WEIR_ALGO_STEP_H

#include "algo/bucket.h"
#include "algo/window.h"

static inline void step_inline(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
			       uint32_t cost, struct algo_outcome *out)
{
	if (__builtin_expect(n->kind == ALGO_FIXED_WINDOW, 0))
		window_step(n, state, t, cost, out);
	else
		bucket_step(n, state, t->now, cost, out);
}

#endif
