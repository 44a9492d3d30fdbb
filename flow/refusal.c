/* SPDX-License-Identifier: BSD-2-Clause */
/* refusal: in the making. */
#include "flow/refusal.h"

void flow_refusal(struct flow *flow)
{
	(void)flow;
}
bool refusal_read(struct text id, struct refusal *out)
{
	(void)id, (void)out;
	return false;
}
