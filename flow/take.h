/* SPDX-License-Identifier: BSD-2-Clause */
/* take: what one counter says to a request, and how it is charged. Inside the layer only. */
#ifndef WEIR_FLOW_TAKE_H
#define WEIR_FLOW_TAKE_H

#include "flow/read.h"

/* Would it fit? Fills look and allowed; writes nothing. Dry: look is as it would be after the charge. */
void take_look(struct flow *flow, struct flow_hit *hit);
/* The same, and whether it is banned: would the request get past this counter, be it by a queue, a grant or slowly? */
bool take_would_pass(struct flow *flow, struct flow_hit *hit);
/* Charges or reserves, if it fits: look, allowed, charged or held, no_room. `alone`: it will not have to be given
 * back. */
void take_hit(struct flow *flow, struct flow_hit *hit, bool alone);
/* Gives back what a request took that another limit refuses after all. */
void take_back(struct flow *flow, struct flow_hit *hit);
/* `distinct`: the value has not been counted after all. */
void take_unmark(struct flow *flow, struct flow_hit *hit);
/* A number as a header says it, rounded up; false: none. */
bool cost_number(struct text text, uint32_t *out);
/* A refusal that is counted, where the limit asks for it. Reservations and places in flight never are. */
void take_punish(struct flow *flow, struct flow_hit *hit);

#endif
