/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ban: nobody passes until a moment, and who comes back soon stays out longer.
 *
 * Not a rate: nothing is charged to it. The word says until when the ban holds, and the how manieth in a row it is:
 *
 *     until (56 bits, ticks of 32 ns, rounded down: nobody is told a second too long) | level (6)
 *
 * Level 1 is the first ban: it lasts `ban`, the next one twice as long, and so on up to `most`. A ban is remembered
 * for as long again as it lasted; one that begins while the one before is remembered is of the next level, after that
 * there is nothing left of it. Level 0 is a ban of a length that somebody chose (an operator): nothing is
 * remembered of it. While a ban holds it is not begun again, so any number of those who begin it at once begin one.
 */
#ifndef WEIR_ALGO_BAN_H
#define WEIR_ALGO_BAN_H

#include "algo/algo.h"

#define BAN_TICK_BITS  5u
#define BAN_LEVEL_BITS 6u
#define BAN_LEVEL_MAX  63u
#define BAN_MIN_NS     UINT64_C(1000000)		     /* 1 ms */
#define BAN_MAX_NS     (UINT64_C(3660) * 86400 * 1000000000) /* ten years */

/* The numbers of a ban: how long the first one lasts, and the longest, ban_ns..BAN_MAX_NS. False, and *out is left alone: out of
 * range. A door's bans are asked with step (is it allowed: nobody is banned), begun with algo_ban. */
bool algo_ban_numbers(uint64_t ban_ns, uint64_t most_ns, struct algo_numbers *out);

/* Table time in ns until which it holds: 0 for the word 0. */
static inline uint64_t ban_until(uint64_t word)
{
	return word >> BAN_LEVEL_BITS << BAN_TICK_BITS;
}
static inline uint32_t ban_level(uint64_t word)
{
	return (uint32_t)(word & BAN_LEVEL_MAX);
}
/* How long the ban of that level lasts, in ns; 0 for level 0. */
uint64_t ban_length(const struct algo_numbers *n, uint32_t level);
/* Table time in ns from which nothing of it is remembered. */
uint64_t ban_end(const struct algo_numbers *n, uint64_t word);

struct ban_outcome {
	uint64_t word;	/* to store, if it began */
	uint64_t until; /* table time: until when this key is banned now */
	uint32_t level; /* of that ban */
	bool began;	/* false: it is banned already */
};
/* A ban from `now` on. length_ns 0: as the numbers say. Else of that length, 1 ms to n->capacity, in place of any that
 * holds (level 0). A clock that is late finds the ban that holds, and begins none. */
void algo_ban(const struct algo_numbers *n, uint64_t word, uint64_t now, uint64_t length_ns,
	      struct ban_outcome *out);

/* The rest of algo.h's operations. */
void ban_describe(const struct algo_numbers *n, uint64_t word, uint64_t now, uint32_t cost,
		  struct algo_report *out);
/* Of the whole: all while it holds, half while it is remembered. */
uint64_t ban_used(const struct algo_numbers *n, uint64_t word, uint64_t now);
bool ban_valid(const struct algo_numbers *n);

#endif
