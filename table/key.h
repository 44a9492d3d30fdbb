/* SPDX-License-Identifier: BSD-2-Clause */
/* key: which pairs refused lately, so that the next look at them is fetched for reading only. A private hint,
 * right or wrong without harm. */
#ifndef WEIR_TABLE_KEY_H
#define WEIR_TABLE_KEY_H

#include "table/handle.h"

static inline bool key_shunned(const struct table *table, uint64_t pair_index)
{
	return table->shun[pair_index % HANDLE_SHUN] == (uint32_t)pair_index + 1;
}

static inline void key_shun(struct table *table, uint64_t pair_index)
{
	table->shun[pair_index % HANDLE_SHUN] = (uint32_t)pair_index + 1;
}

static inline void key_welcome(struct table *table, uint64_t pair_index)
{
	if (__builtin_expect(key_shunned(table, pair_index), 0))
		table->shun[pair_index % HANDLE_SHUN] = 0;
}

#endif
