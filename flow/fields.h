/* SPDX-License-Identifier: BSD-2-Clause */
/* fields: the rate fields of an answer, in whichever of their forms the policy asks for. Inside the layer only. */
#ifndef WEIR_FLOW_FIELDS_H
#define WEIR_FLOW_FIELDS_H

#include "flow/read.h"
#include "flow/writer.h"

/* Writes those of `headers` (IMAGE_HEADERS_*) that describe the binding limit. wall: seconds since 1970. */
void fields_write(const struct flow *flow, uint32_t headers, int64_t wall, struct writer *writer,
		  struct flow_answer *out);
/* One field; what there is no room for is left out. */
void fields_add(struct flow_answer *out, struct text name, struct text value);
void fields_add_number(struct flow_answer *out, struct writer *writer, struct text name, uint64_t number);

#endif
