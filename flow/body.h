/* SPDX-License-Identifier: BSD-2-Clause */
/* body: what a refused client reads. */
#ifndef WEIR_FLOW_BODY_H
#define WEIR_FLOW_BODY_H

#include "flow/flow.h"
#include "flow/writer.h"

/* Body, content type and the gRPC form of a refusal. `writer` writes into out->buffer. */
void body_write(const struct flow *flow, struct text accept, struct writer *writer, struct flow_answer *out);

#endif
