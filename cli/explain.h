/* SPDX-License-Identifier: BSD-2-Clause */
/* explain: one request's walk through the flow as a document, and the document as text. */
#ifndef WEIR_CLI_EXPLAIN_H
#define WEIR_CLI_EXPLAIN_H

#include <jansson.h>

#include "cli/live.h"
#include "cli/request.h"

/* Every station's answer to the request, dry: nothing is charged. *refused: what the verdict is. NULL: out of
 * memory. */
json_t *explain_walk(const struct live *live, const struct request *request, bool *refused);
/* The limits the request meets, with the counters' state now, and of the others why not. */
json_t *explain_limits(const struct live *live, const struct flow *flow);
/* Whose request it is and how that was found. */
/* {api_key, token, user, plan, identified}: what was said, and what came of it (explain_who.c). `trouble`: why no key is known, "". */
json_t *explain_who(const struct image *image, const struct flow *flow, const char *trouble);
json_t *explain_client(const struct image *image, const struct flow *flow);

void explain_print(const json_t *document);

#endif
