/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early: what is refused before the body is read.
 *
 * A limit that looks into the body makes the door read it first. Not for a request that another limit refuses: whoever floods a login
 * should not be able to make us read for it. So those that need no body are looked at before, and what they say then is final: if it were
 * asked again, and there were room by then, the request would pass without the limits that were left out.
 */
#include "flow/take.h"

bool flow_needs_body(struct flow *flow)
{
	bool needed = false;

	if (!flow->request->can_read_body || flow->request->has_body)
		return false;
	for (size_t i = 0; i < flow->hit_count; i++)
		needed |= flow->hits[i].role != FLOW_ROLE_SKIPPED &&
			  image_limit_at(flow->env->image, flow->hits[i].limit)->needs_body;
	if (!needed)
		return false;
	flow_key(flow, true);
	flow_cost(flow);
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (!read_enforced(hit) || image_limit_at(flow->env->image, hit->limit)->needs_body)
			continue;
		hit->allowed = !hit->denied && !hit->never && take_would_pass(flow, hit);
		flow->early |= !hit->allowed;
	}
	if (!flow->early ||
	    flow_who_refused(flow)) { /* who guesses keys is charged to every limit (decide.c) */
		flow->early = false;
		return true;
	}
	for (size_t i = 0; i < flow->hit_count; i++)
		if (image_limit_at(flow->env->image, flow->hits[i].limit)->needs_body)
			flow->hits[i].role = FLOW_ROLE_SKIPPED;
	return false;
}
