/* SPDX-License-Identifier: BSD-2-Clause */
/* grant: in the making. */
#include "flow/grant.h"

bool grant_take(struct flow *flow, struct flow_hit *hit)
{
	(void)flow, (void)hit;
	return false;
}
void grant_back(struct flow *flow, struct flow_hit *hit)
{
	(void)flow, (void)hit;
}
struct table_key grant_key(const struct table *table, const struct image *image,
			   const struct table_key *counter)
{
	(void)image;
	return table_key(table, counter, sizeof *counter);
}
