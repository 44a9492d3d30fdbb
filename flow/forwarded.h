/* SPDX-License-Identifier: BSD-2-Clause */
/* forwarded: the walk from our door back to the client, over the addresses that proxies wrote down (B10). */
#ifndef WEIR_FLOW_FORWARDED_H
#define WEIR_FLOW_FORWARDED_H

#include "flow/flow.h"

#define FORWARDED_ENTRIES_MAX                                                                                \
	64u /* proxies between us and a client; what stands further left is not looked at */

/* Walks the lines of a header that is a list (`name`: x-forwarded-for, or forwarded, which is read as RFC
 * 7239 says) from the right: while the address on our side is trusted, the next entry may speak. Stops at the
 * first address that is not trusted (the client), at an entry that names no address, or after
 * FORWARDED_ENTRIES_MAX. *client holds the peer before and the last good address after; true if it moved.
 * Call it for a trusted peer only. */
bool forwarded_walk(const struct flow_request *request, struct text name, const struct image *image,
		    struct address *client);

/* One entry of `Forwarded`: the address of its only `for`. False for unknown, obfuscated or malformed ones.
 */
bool forwarded_element(struct text element, struct address *out);

/* Takes the last element off a list: commas inside quoted strings do not separate, read from the right, so
 * that what stands further left cannot change where it begins. False when nothing is left. */
bool forwarded_last(struct text *list, struct text *element);

#endif
