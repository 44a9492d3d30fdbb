/* SPDX-License-Identifier: BSD-2-Clause */
/* own_limits: what a client reads about itself, for free (B27). */
#ifndef WEIR_FLOW_OWN_LIMITS_H
#define WEIR_FLOW_OWN_LIMITS_H

#include "flow/flow.h"

/* Is it a GET or HEAD of the policy's own-limits path? */
bool own_limits_asked(const struct flow *flow);
/* Instead of flow_decide: looks only, whether a limit of this very path refuses; but who comes with a wrong key or token is charged as
 * for anything else. What it returns, flow_decide returns. */
enum flow_step own_limits_decide(struct flow *flow);
/* The JSON of a flow whose action is FLOW_TELL: each of the first 256 limits that is for this client and whose key is this client's
 * own: name, match, limit, used, remaining, reset. Looks only. Returns its size; more than `size`: cut at a whole entry. */
size_t flow_own_limits(struct flow *flow, char *out, size_t size);

#endif
