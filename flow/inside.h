/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside: what the request's body says, for keys, `distinct` and costs. Inside the layer only.
 *
 * The body is read once for all the names that the limits of this request ask for (inside_fill), and what it says is kept behind the
 * hits. What is asked beyond those is read for itself each time.
 */
#ifndef WEIR_FLOW_INSIDE_H
#define WEIR_FLOW_INSIDE_H

#include "flow/flow.h"
#include "identity/body.h"

struct inside_answer {
	struct text name; /* in the image */
	enum body_what what;
	enum body_said said;
	uint32_t number;
	struct body_value value;
};
struct inside {
	struct inside_answer answers[BODY_WISHES_MAX]; /* flow.insides of them */
	struct inside_answer other;		       /* the last one that was asked for beyond them */
};

/* Bytes to be kept for it behind the hits: 0 where no limit of the image looks into the body. */
size_t inside_size(const struct image *image);
/* When the door has the body: reads it, if a hit's limit looks into it. Once. */
void inside_fill(struct flow *flow);
/* What it says under that name. The answer stays until the next question. */
const struct inside_answer *inside_ask(const struct flow *flow, struct text name, enum body_what what);

#endif
