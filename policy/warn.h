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

#endif
