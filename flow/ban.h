/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ban: who is refused for a while, whatever the counters say (B26).
 *
 * Two kinds, both slots of the table (table/given.h), so that any number of clients can be banned and a full table or a reboot does
 * not lift it: a limit's own (`then`), under the key that the limit counts by; and the operator's (`weir ban`), under a
 * client's address, API key's name or user. Inside the layer, but for the keys.
 */
#ifndef WEIR_FLOW_BAN_H
#define WEIR_FLOW_BAN_H

#include "flow/flow.h"

/* Is this hit's key banned from its limit? Sets hit->banned, and flow->ban.until if that is later; a limit without `then`, a
 * shadow limit and who is exempt are not asked. Writes nothing. Before the hits are judged. */
void ban_look(struct flow *flow, struct flow_hit *hit);
/* The hit refused (not because it is banned): a strike, and perhaps a ban from now on; one for each request and limit, so call it in
 * the order of the hits, when all of them are judged. Nothing when dry, nor of what was refused for want of a key, a plan, or
 * room. */
void ban_strike(struct flow *flow, struct flow_hit *hit);
/* Where the ban of the hit's limit stands, and its strikes: of any hit whose key is set (flow_key_hit). */
struct table_key ban_hit_key(struct flow *flow, const struct flow_hit *hit);
struct table_key ban_hit_strikes(struct flow *flow, const struct flow_hit *hit);

enum ban_whom { BAN_ADDRESS, BAN_API_KEY, BAN_USER };
/* The key of an operator's ban, for those who make and lift them. Value: the name; of an address its 16 bytes
 * (policy/address.h), which are masked as the image says: an IPv6 client is banned with its network. */
struct table_key ban_key(const struct table *table, const struct image *image, enum ban_whom whom,
			 struct text value);

#endif
