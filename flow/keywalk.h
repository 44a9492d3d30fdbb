/* SPDX-License-Identifier: BSD-2-Clause */
/* keywalk: the parts of a limit's key as this request fills them, for those who hash them and those who show
 * them. */
#ifndef WEIR_FLOW_KEYWALK_H
#define WEIR_FLOW_KEYWALK_H

#include "flow/named.h"

struct key_walk {
	const struct flow *flow;
	const struct flow_hit *hit;
	const struct image_limit *limit;
	uint32_t at;
	struct image_key_part part; /* of the alternatives of one place, the first that says something */
	struct named value; /* what it says; an address: its 16 masked bytes, none for a unix socket */
	struct address masked;
	bool present; /* false: none does; `part` and `value` are then those of `missing: ip`, if it says so
		       */
};

/* The hit's limit and clause are used, nothing else of it. */
struct key_walk key_walk_begin(const struct flow *flow, const struct flow_hit *hit);
/* The next place of the key. The walk must stay where it is: `value` may point into it. False after the last.
 */
bool key_walk_next(struct key_walk *walk);

#endif
