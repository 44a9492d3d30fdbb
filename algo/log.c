/* SPDX-License-Identifier: BSD-2-Clause */
/* log: the numbers of a sliding log, and its ring's word. */
#include "algo/log.h"

#include "algo/window.h"

bool algo_sliding_log(uint32_t count, uint64_t period_ns, struct algo_numbers *out)
{
	if (count > ALGO_LOG_MAX || !window_in_range(count, period_ns))
		return false;
	*out = (struct algo_numbers){.kind = ALGO_SLIDING_LOG,
				     .shift = LOG_SHIFT,
				     .quantity = count,
				     .scale = period_ns,
				     .capacity = count};
	return true;
}

uint64_t log_carry(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t word)
{
	return to->capacity
		       ? log_word(to, log_until(from, word), log_next(from, word) % (uint32_t)to->capacity)
		       : 0;
}

void log_describe(const struct algo_numbers *n, uint64_t word, uint64_t now, uint32_t cost,
		  struct algo_report *out)
{
	uint64_t until = log_until(n, word), left = until > now ? until - now : 0;
	out->limit = (uint32_t)n->capacity;
	out->remaining = left ? 0 : out->limit;
	out->delay_ns = 0;
	out->full_ns = left;
	if (cost > n->capacity)
		out->wait_ns = ALGO_NEVER;
	else
		out->wait_ns = cost ? left : 0;
}

bool log_valid(const struct algo_numbers *n)
{
	return n->capacity <= ALGO_LOG_MAX && n->shift == LOG_SHIFT && window_in_range(0, n->scale);
}
