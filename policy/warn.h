/* SPDX-License-Identifier: BSD-2-Clause */
/* warn: what the files share that judge a policy. Inside the layer only. */
#ifndef WEIR_POLICY_WARN_H
#define WEIR_POLICY_WARN_H

#include "policy/load.h"

/* A path pattern (or none) that every request fits. */
static inline bool warn_every_path(struct text path)
{
	return !path.size || text_equal(path, TEXT("/*")) || text_equal(path, TEXT("/**"));
}

/* Would the files of a page meet this limit, and break? A warning then. */
void warn_page(struct load *load, const struct model_limit *limit);
/* What is done instead of refusing, or after it. */
void warn_refusal(struct load *load);

/* Has the limit a counter of one of these kinds (1 << IMAGE_RATE, …)? */
bool warn_counts(const struct model_limit *limit, unsigned kinds);
/* The limits by address, or for the site, that bound what these kinds let through of requests that count so (IMAGE_COUNT_*); NULL: one
 * bounds every request. */
const struct model_limit **warn_bounds(struct load *load, unsigned kinds, uint32_t counted, size_t *count);
/* Does one of them bound this limit's requests? */
bool warn_bounded(const struct model_limit *limit, const struct model_limit *const *bounds, size_t count);

#endif
