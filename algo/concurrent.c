/* SPDX-License-Identifier: BSD-2-Clause */
/* concurrent: the numbers of a limit of requests in flight. */
#include "algo/concurrent.h"

bool algo_concurrent(uint32_t count, struct algo_numbers *out)
{
	if (count > ALGO_LOG_MAX)
		return false;
	*out = (struct algo_numbers){.kind = ALGO_CONCURRENT, .quantity = count, .capacity = count};
	return true;
}

void concurrent_describe(const struct algo_numbers *n, uint32_t cost, struct algo_report *out)
{
	*out = (struct algo_report){.limit = (uint32_t)n->capacity,
				    .remaining = (uint32_t)n->capacity,
				    .wait_ns = cost > n->capacity ? ALGO_NEVER : 0};
}

void concurrent_bounded(const struct algo_numbers *n, const struct algo_bound *bound,
			struct algo_numbers *out)
{
	*out = *n;
	if (n->capacity) /* else nothing passes, whoever asks */
		out->capacity = bound->burst < ALGO_LOG_MAX ? bound->burst + 1 : ALGO_LOG_MAX;
}

bool concurrent_valid(const struct algo_numbers *n)
{
	return n->capacity <= ALGO_LOG_MAX;
}
