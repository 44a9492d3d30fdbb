/* SPDX-License-Identifier: BSD-2-Clause */
/* common: what the tests of algo share: time units, reproducible random numbers, and claims: properties that
 * are checked very often and reported once, with how often, so that one which was never checked fails too. */
#ifndef WEIR_TESTS_ALGO_COMMON_H
#define WEIR_TESTS_ALGO_COMMON_H

#include "algo/algo.h"
#include "tests/tap.h"

typedef __int128 big;

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (366 * DAY)

#ifndef RANDOM_SEED /* the same numbers at every run; another seed by CPPFLAGS=-DRANDOM_SEED=... */
#define RANDOM_SEED 20250101
#endif
static uint64_t random_seed = RANDOM_SEED;

static inline uint64_t random_u64(void) /* splitmix64 */
{
	uint64_t z = random_seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t random_below(uint64_t n) /* 0..n-1, evenly */
{
	return (uint64_t)((unsigned __int128)random_u64() * n >> 64);
}

/* 1..max, small ones as often as large ones, both edges often. */
static inline uint64_t random_size(uint64_t max)
{
	switch (random_below(16)) {
	case 0:
		return 1;
	case 1:
		return max;
	default:;
		uint64_t bits = 64 - (uint64_t)__builtin_clzll(max);
		uint64_t value = random_u64() >> (63 - random_below(bits)) | 1;
		return value > max ? 1 + value % max : value;
	}
}

/* A count and a period with 1 per year <= count/period <= 1,000,000 per second. */
static inline void random_rate(uint32_t *count, uint64_t *period)
{
	static const uint64_t units[] = {SECOND, MINUTE, HOUR, DAY, 7 * DAY, 366 * DAY};
	do {
		*count = (uint32_t)random_size(ALGO_BURST_MAX);
		*period = random_below(2) ? units[random_below(6)] : random_size(YEAR);
		if (random_below(32) == 0) /* the fastest */
			*period = *count * UINT64_C(1000);
		if (random_below(32) == 0) /* the slowest */
			*count = 1, *period = YEAR;
	} while (*count * UINT64_C(1000) > *period || *period > (big)*count * YEAR);
}

struct claim {
	const char *what;
	uint64_t checked, failed;
};

static inline bool claim(struct claim *c, bool good)
{
	c->checked++;
	c->failed += !good;
	return good;
}

static inline void claim_end(const struct claim *c, uint64_t at_least)
{
	char text[256];
	snprintf(text, sizeof text, "%s (%" PRIu64 " times)", c->what, c->checked);
	if (!ok(c->failed == 0 && c->checked >= at_least, text))
		note("%" PRIu64 " of %" PRIu64 " failed, at least %" PRIu64 " wanted", c->failed, c->checked,
		     at_least);
}

#endif
