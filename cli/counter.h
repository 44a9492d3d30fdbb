/* SPDX-License-Identifier: BSD-2-Clause */
/* counter: how full one counter of one client is, as a document. */
#ifndef WEIR_CLI_COUNTER_H
#define WEIR_CLI_COUNTER_H

#include <jansson.h>

#include "cli/live.h"
#include "flow/flow.h"

/* {name, fits, limit, remaining, cost, wait_ns, full_ns}: before a request of that cost at live->now; the
 * last two null: never. */
json_t *counter_json(const struct live *live, const struct flow_hit *hit);
/* {name}: of a hit without a key. */
json_t *counter_name_json(const struct live *live, const struct flow_hit *hit);

#endif
