/* SPDX-License-Identifier: BSD-2-Clause */
/* top: who asks most, who is refused most, who is near a limit: told to this process's own sketch (table/top.h) at each decision. */
#ifndef WEIR_FLOW_TOP_H
#define WEIR_FLOW_TOP_H

#include "flow/flow.h"

/* After the verdict. */
void flow_top(const struct flow *flow);

#endif
