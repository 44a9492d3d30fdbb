/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ban: who is refused for a while, whatever the counters say (B26).
 *
 * Two kinds, both slots of the table, so that any number of clients can be banned and a full table or a reboot does not lift
 * it: a limit's own (`then`), under the key that the limit counts by; and the operator's (`weir ban`), under a client's address, API
 * key's name or user. Inside the layer, but for ban_key.
 */
#ifndef WEIR_FLOW_BAN_H
#define WEIR_FLOW_BAN_H

#include "flow/flow.h"

/* Is this hit's key banned from its limit? Sets hit->banned; a limit without `then` costs nothing. Writes nothing. Before the hits are
 * judged. */
void ban_look(struct flow *flow, struct flow_hit *hit);
/* The hit refused (not because it is banned): a strike, and perhaps a ban from now on. Not when dry. */
void ban_strike(struct flow *flow, struct flow_hit *hit);

enum ban_whom { BAN_ADDRESS, BAN_API_KEY, BAN_USER };
/* The key of an operator's ban, for those who make and lift them; an address is masked as the image says. */
struct table_key ban_key(const struct table *table, const struct image *image, enum ban_whom whom,
			 struct text value);

#endif
