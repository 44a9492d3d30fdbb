/* SPDX-License-Identifier: BSD-2-Clause */
/* queue: waiting for a place in flight. Inside the layer only. */
#ifndef WEIR_FLOW_QUEUE_H
#define WEIR_FLOW_QUEUE_H

#include "flow/read.h"

/* Others wait for a place of this counter, and the request does not yet: it goes behind them. */
bool queue_is_behind(const struct flow *flow, const struct flow_hit *hit);
/* A refused request: true if only places in flight are missing and it may (go on to) wait for them; it has a place in
 * each queue then, and verdict.wait_ms says when to look again. Dry: true if it would wait. */
bool queue_wait(struct flow *flow);
/* Gives back the places in queues: it got in, or gives up. */
void queue_leave(struct flow *flow);

#endif
