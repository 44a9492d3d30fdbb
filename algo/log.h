/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: what can be said of a sliding log without its cells.
 *
 * The admissions themselves are cells of the table (table/log.h). The word under the key is only the ring's:
 * where the next cell is, and when the newest ends: `until << 16 | next`. So a word can be made, read,
 * ranked and carried over here, but whether a cost fits only the table can say.
 */
#ifndef WEIR_ALGO_LOG_H
#define WEIR_ALGO_LOG_H

#include "algo/algo.h"

#define LOG_NEXT_BITS 16u
#define LOG_TICK_BITS 44u /* of `until`: with LOG_SHIFT room for ALGO_TIME_MAX and a period */
#define LOG_SHIFT                                                                                            \
	17u /* a tick is 131 us: nothing is admitted earlier or later for it, only forgotten later */

/* Table time in ns from which on no admission counts; 0 for the word 0. Late by less than a tick. */
static inline uint64_t log_until(const struct algo_numbers *n, uint64_t word)
{
	return word >> LOG_NEXT_BITS << n->shift;
}

/* The cell to look at next, below N; 0 if N is 0 or the word is damaged. */
static inline uint32_t log_next(const struct algo_numbers *n, uint64_t word)
{
	uint32_t next = word & ((1u << LOG_NEXT_BITS) - 1);
	return next < n->capacity ? next : 0;
}

/* The word of a ring whose newest admission ends at `until` (table time in ns, below ALGO_TIME_MAX plus a
 * period; later ones saturate), and whose next cell is `next` < N. */
static inline uint64_t log_word(const struct algo_numbers *n, uint64_t until, uint32_t next)
{
	uint64_t part = until & ((UINT64_C(1) << n->shift) - 1), tick = (until >> n->shift) + (part != 0);
	if (tick >> LOG_TICK_BITS)
		tick = (UINT64_C(1) << LOG_TICK_BITS) - 1;
	return tick << LOG_NEXT_BITS | next;
}

/* The ring under other numbers: until stays, next modulo the new N. The cells stay where they are: those beyond
 * a smaller N end by themselves, and the table looks at whichever it finds. */
uint64_t log_carry(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t word);

/* The rest of algo.h's operations, as far as the word alone can tell. Describing: until the newest admission has
 * ended nothing is left and the wait is until then, which is the longest that it can be. */
void log_describe(const struct algo_numbers *n, uint64_t word, uint64_t now, uint32_t cost,
		  struct algo_report *out);
bool log_valid(const struct algo_numbers *n);

#endif
