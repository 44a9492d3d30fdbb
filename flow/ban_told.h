/* SPDX-License-Identifier: BSD-2-Clause */
/* ban_told: who was banned just now, put down in the table's roster for `weir bans`. Inside the layer. */
#ifndef WEIR_FLOW_BAN_TOLD_H
#define WEIR_FLOW_BAN_TOLD_H

#include "flow/flow.h"

/* The hit's ban has begun: its key, and what the table said. Best effort, and bounded (table/roster.h). */
void ban_told(const struct flow *flow, const struct flow_hit *hit, const struct table_key *ban,
	      const struct table_look *look);

#endif
