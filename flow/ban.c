/* SPDX-License-Identifier: BSD-2-Clause */
/* ban: in the making. */
#include "flow/ban.h"

void flow_ban(struct flow *flow)
{
	(void)flow;
}
void ban_look(struct flow *flow, struct flow_hit *hit)
{
	(void)flow, (void)hit;
}
void ban_strike(struct flow *flow, struct flow_hit *hit)
{
	(void)flow, (void)hit;
}
struct table_key ban_key(const struct table *table, const struct image *image, enum ban_whom whom,
			 struct text value)
{
	(void)image, (void)whom;
	return table_key(table, value.data, value.size);
}
