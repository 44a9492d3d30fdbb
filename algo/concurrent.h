/* SPDX-License-Identifier: BSD-2-Clause */
/* concurrent: N at the same time. Only numbers: what is in flight the table knows (table/hold.h), no word is ever
 * stored, and one that someone has put there counts as recovered. */
#ifndef WEIR_ALGO_CONCURRENT_H
#define WEIR_ALGO_CONCURRENT_H

#include "algo/algo.h"

/* As if nothing were in flight. */
void concurrent_describe(const struct algo_numbers *n, uint32_t cost, struct algo_report *out);
void concurrent_bounded(const struct algo_numbers *n, const struct algo_bound *bound,
			struct algo_numbers *out);
bool concurrent_valid(const struct algo_numbers *n);

#endif
