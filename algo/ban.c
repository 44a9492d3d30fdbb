/* SPDX-License-Identifier: BSD-2-Clause */
/* ban: begun, judged, remembered. */
#include "algo/ban.h"

bool algo_ban_numbers(uint64_t ban_ns, uint64_t most_ns, struct algo_numbers *out)
{
	if (ban_ns < BAN_MIN_NS || most_ns < ban_ns || most_ns > BAN_MAX_NS)
		return false;
	*out = (struct algo_numbers){.kind = ALGO_BAN,
				     .shift = BAN_TICK_BITS,
				     .count_bits = BAN_LEVEL_BITS,
				     .quantity = 1,
				     .scale = ban_ns,
				     .capacity = most_ns};
	return true;
}

uint64_t ban_length(const struct algo_numbers *n, uint32_t level)
{
	if (level == 0)
		return 0;
	/* scale << (level - 1), without its overflow */
	if (level > 63 || n->scale > n->capacity >> (level - 1))
		return n->capacity;
	return n->scale << (level - 1);
}

uint64_t ban_end(const struct algo_numbers *n, uint64_t word)
{
	return ban_until(word) + ban_length(n, ban_level(word));
}

static uint64_t word_of(uint64_t until, uint32_t level)
{
	return until >> BAN_TICK_BITS << BAN_LEVEL_BITS | level;
}

void algo_ban(const struct algo_numbers *n, uint64_t word, uint64_t now, uint64_t length_ns,
	      struct ban_outcome *out)
{
	uint32_t level = 0;
	uint64_t length = length_ns < n->capacity ? length_ns : n->capacity;
	if (length < BAN_MIN_NS)
		length = BAN_MIN_NS;
	if (length_ns == 0) {
		if (now < ban_until(word)) {
			*out = (struct ban_outcome){word, ban_until(word), ban_level(word), false};
			return;
		}
		level = now < ban_end(n, word) ? ban_level(word) + 1 : 1;
		if (level > BAN_LEVEL_MAX)
			level = BAN_LEVEL_MAX;
		length = ban_length(n, level);
	}
	word = word_of(now + length, level);
	*out = (struct ban_outcome){word, ban_until(word), level, true};
}

void ban_describe(const struct algo_numbers *n, uint64_t word, uint64_t now, uint32_t cost,
		  struct algo_report *out)
{
	uint64_t until = ban_until(word), end = ban_end(n, word);
	*out = (struct algo_report){.limit = 1,
				    .remaining = now >= until,
				    .wait_ns = cost && now < until ? until - now : 0,
				    .full_ns = now < end ? end - now : 0};
}

uint64_t ban_used(const struct algo_numbers *n, uint64_t word, uint64_t now)
{
	if (now < ban_until(word))
		return n->capacity;
	return now < ban_end(n, word) ? n->capacity / 2 : 0;
}

bool ban_valid(const struct algo_numbers *n)
{
	return n->shift == BAN_TICK_BITS && n->count_bits == BAN_LEVEL_BITS && n->scale >= BAN_MIN_NS &&
	       n->scale <= n->capacity && n->capacity <= BAN_MAX_NS;
}
