/* SPDX-License-Identifier: BSD-2-Clause */
/* top: in the making. */
#include "flow/top.h"

void flow_top(const struct flow *flow)
{
	(void)flow;
}
