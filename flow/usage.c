/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: in the making. */
#include "flow/usage.h"

void usage_hit_key(const struct flow *flow, struct flow_hit *hit, const struct flow_hit *of)
{
	(void)flow;
	hit->key = of->key;
}
struct table_key usage_key(const struct table *table, uint64_t identity, const struct table_key *counter,
			   int64_t end)
{
	(void)identity, (void)end;
	return table_key(table, counter, sizeof *counter);
}
void usage_notice(struct flow *flow, const struct flow_hit *hit)
{
	(void)flow, (void)hit;
}
