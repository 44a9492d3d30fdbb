/* SPDX-License-Identifier: BSD-2-Clause */
/* counter: how full one counter of one client is, as a document. */
#ifndef WEIR_CLI_COUNTER_H
#define WEIR_CLI_COUNTER_H

#include <jansson.h>

#include "cli/live.h"
#include "flow/flow.h"

/* {name, what, fits, limit, remaining, cost, wait_ns, full_ns}: before a request of that cost at live->now; the
 * last two null: never. `what`: "rate", "concurrent", "bandwidth" (which counts nothing: {name, what, bytes_per_s,
 * free_bytes}) or "total" (in KiB; and bytes_per_s). With `held`: what is reserved or in flight; with a queue, `queue`
 * and how many are `waiting` in it. Where a variable says burst or rate of a zone: {name, what,
 * by_variable: ["rate", "burst"], full_ns}, and of a rate that is known how many requests are `used`. `flow`: at the same moment, with the hit's key. */
json_t *counter_json(const struct live *live, const struct flow *flow, const struct flow_hit *hit);
/* {name, what}: of a hit without a key. */
json_t *counter_name_json(const struct live *live, const struct flow_hit *hit);
/* Time frees what it counts: neither a bandwidth, nor in flight. */
bool counter_has_time(const json_t *counter);
/* How full such a document says it is: "3 of 5 left", "2 of 2 in flight". At least 128 bytes; returns `out`. */
const char *counter_words(const json_t *counter, char *out, size_t size);

#endif
