/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: what was charged to a limit in each calendar or billing period, for the bill (B27).
 *
 * A USAGE counter stands behind the rates of a limit (policy/bill.c). It counts by the name of the client's API key, whatever the
 * limit's own key is, so who reads the bill needs nothing but names; requests without a known key are on no bill. It never
 * refuses, and is charged what the limit was. Each period has a slot of its own, so nothing is overwritten when a new one
 * begins, and can be read for weeks after its end.
 */
#ifndef WEIR_FLOW_USAGE_H
#define WEIR_FLOW_USAGE_H

#include "flow/flow.h"

/* From the boundary at or before `wall_s` (s since 1970) to the next, in seconds. `billed`: image_counter.seen of a USAGE counter;
 * day: of the client's record, 1..31, or 0; it matters only where periods are billing periods. */
struct usage_period {
	int64_t start, end;
};
struct usage_period usage_period(const struct algo_numbers *billed, unsigned day, int64_t wall_s);

/* The key of what is counted for the API key `name` in the period that ends at `end`. `identity`: of the USAGE counter. */
struct table_key usage_key(const struct table *table, uint64_t identity, struct text name, int64_t end);

/* ---- inside the layer ---- */

/* Key of a USAGE hit in the period that flow.time is in; without a known API key it is skipped. */
void usage_hit_key(const struct flow *flow, struct flow_hit *hit);

/* What a client is told of a counter with `over`: its quota, and what is left of that. Others stay as they are. */
void usage_soft(const struct image_counter *counter, struct algo_report *report);

/* Charges a USAGE hit, once, with what the counter that it repeats was charged; not of a request that is exempt. */
void usage_charge(struct flow *flow, struct flow_hit *hit, const struct algo_time *t, uint32_t cost);
/* A counter with `over` was charged (usage_notice.c): if that took its key past a threshold of the limit for the first time in its window, it is told:
 * as an event (STATS_EVENT_NOTICE), and to the door (flow_recorder.notices). */
void usage_notice(struct flow *flow, const struct flow_hit *hit);

#endif
