/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grant: units given on top of a limit, until a date.
 *
 * A fixed window read from the other side: it is begun not by a request but by whoever gives, with all but the given units
 * counted already. What is spent is charged to it as to every window; when it has ended, or is not there, nothing is given.
 * That absent is not full is the one difference, and whoever spends must ask for it (table_spend).
 */
#ifndef WEIR_ALGO_GRANT_H
#define WEIR_ALGO_GRANT_H

#include "algo/algo.h"

/* A cost can be given back to a grant that somebody has given anew meanwhile, and must not empty its word. */
#define GRANT_UNITS_MAX (ALGO_COUNT_MAX - ALGO_BURST_MAX - 1)
#define GRANT_NS_MAX	(UINT64_C(400) * 86400 * 1000000000) /* from now to its end, at most */

/* The numbers of every grant: there are no others. Always true. */
bool grant_numbers(struct algo_numbers *out);
/* Are these the numbers of grants? */
bool grant_is(const struct algo_numbers *n);
/* The word of `units` (at most GRANT_UNITS_MAX) that are good until `until` (table time in ns, at most GRANT_NS_MAX from now;
 * rounded up by about a second). */
uint64_t grant_word(const struct algo_numbers *n, uint64_t units, uint64_t until);
/* How many are left of it at `now`. */
uint64_t grant_left(const struct algo_numbers *n, uint64_t word, uint64_t now);

#endif
