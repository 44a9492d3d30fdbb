/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grant: what an operator has given one client on top of a limit (`weir grant`): units that are used up when the limit's own are
 * gone, until a date. A slot of the table under a key derived from the counter's. Only looked at when a limit refuses, and only while
 * some grant is in force (table_grants_until). Inside the layer, but for grant_key.
 */
#ifndef WEIR_FLOW_GRANT_H
#define WEIR_FLOW_GRANT_H

#include "flow/flow.h"

/* The hit's counter refuses: does a grant cover it? Charges it (but when dry) and sets granted and allowed. */
bool grant_take(struct flow *flow, struct flow_hit *hit);
/* Gives back what grant_take took, because another limit refuses after all. */
void grant_back(struct flow *flow, struct flow_hit *hit);
/* Gives back some of it: the answer cost less. */
void grant_return(struct flow *flow, const struct flow_hit *hit, const struct algo_time *t, uint32_t units);
struct table_key grant_key(const struct table *table, const struct image *image,
			   const struct table_key *counter);

#endif
