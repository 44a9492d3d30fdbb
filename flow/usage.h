/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: what was charged to a limit in each calendar or billing period, for the bill (B27). A USAGE counter stands behind the one it
 * repeats, in the same limit; it never refuses, and is charged, given back and settled with it. Its slot is under a key of its
 * own for each period, so nothing is overwritten when a new one begins. Inside the layer, but for usage_key.
 */
#ifndef WEIR_FLOW_USAGE_H
#define WEIR_FLOW_USAGE_H

#include "flow/flow.h"

/* Key of a USAGE hit, from that of the counter it repeats and the period that flow.time is in. */
void usage_hit_key(const struct flow *flow, struct flow_hit *hit, const struct flow_hit *of);
/* The same for who reads the bill: `end` is the wall clock (s) at which the period ends. */
struct table_key usage_key(const struct table *table, uint64_t identity, const struct table_key *counter,
			   int64_t end);
/* A counter with `over` was charged: tells (an event) if that took it past one of the limit's thresholds. */
void usage_notice(struct flow *flow, const struct flow_hit *hit);

#endif
