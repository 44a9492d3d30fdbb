/* SPDX-License-Identifier: BSD-2-Clause */
/* refusal: the id that every refusal carries. It says all that `weir why` needs, so nothing has to be remembered for a client that is
 * refused a million times: when, by which limit and counter, why, how long to wait, and the slot. */
#ifndef WEIR_FLOW_REFUSAL_H
#define WEIR_FLOW_REFUSAL_H

#include "flow/flow.h"

struct refusal {
	int64_t at;	     /* wall clock, s */
	uint16_t stat;	     /* statistics index of the limit */
	uint8_t status;	     /* enum flow_status */
	uint8_t what;	     /* enum image_what */
	uint64_t wait_s;     /* to a few per cent */
	uint64_t tag, pair;  /* the counter's slot: enough to find it in the table */
	uint32_t generation; /* its lower bits */
};
/* Fills verdict.refusal of a refusal. */
void flow_refusal(struct flow *flow);
/* False: not one of ours (mistyped: a check sum). Case and dashes do not matter. */
bool refusal_read(struct text id, struct refusal *out);

#endif
