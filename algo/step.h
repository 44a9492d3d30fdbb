/* SPDX-License-Identifier: BSD-2-Clause */
/* step: `algo_step` inline, for the loop that retries a compare-and-swap. Everyone else calls algo_step. A bucket
 * is the usual case, and pays one comparison for the other kinds. */
#ifndef WEIR_ALGO_STEP_H
#define WEIR_ALGO_STEP_H

#include "algo/bucket.h"

/* algo_step for the kinds that are no bucket. */
void step_other(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		struct algo_outcome *out);

static inline void step_inline(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
			       uint32_t cost, struct algo_outcome *out)
{
	if (__builtin_expect(n->kind > ALGO_LEAKY_BUCKET, 0))
		step_other(n, state, t, cost, out);
	else
		bucket_step(n, state, t->now, cost, out);
}

#endif
