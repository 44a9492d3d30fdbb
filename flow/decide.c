/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decide: all or none (D1).
 *
 * Every limit that can refuse is looked at before any is charged, so that a request that one of them refuses
 * costs the others nothing. Charging then goes from the least headroom up: if someone else was faster, it
 * shows at the first charge, where little has to be given back. What was charged before a late refusal is
 * given back; in between, others may have been refused for its sake, never admitted.
 *
 * What is missing may be a place in flight that is worth waiting for (queue.c); then nothing is charged, and all of
 * it is done again at the next look.
 *
 * Shadow limits are judged after that, in their own state, and change nothing. An exempt request is charged to
 * nothing: a health check must not use up what clients share.
 */
#include "flow/queue.h"
#include "flow/take.h"

/* Puts the hits of this request in the order of charging, in the fields `order` of the first hits. Returns
 * how many there are. */
static size_t put_in_order(struct flow *flow)
{
	size_t count = 0;

	for (uint32_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		struct algo_report report;
		uint64_t word;
		size_t at = count;

		if (!read_enforced(hit))
			continue;
		table_describe(&hit->look, &flow->time, hit->cost, false, &report);
		word = (uint64_t)(report.remaining -
				  (report.remaining < hit->cost ? report.remaining : hit->cost))
			       << 32 |
		       i;
		for (; at && flow->hits[at - 1].order > word; at--)
			flow->hits[at].order = flow->hits[at - 1].order;
		flow->hits[at].order = word;
		count++;
	}
	return count;
}

/* The hit that is charged at place `at`. */
static struct flow_hit *in_order(struct flow *flow, size_t at)
{
	return &flow->hits[(uint32_t)flow->hits[at].order];
}

/* Charges every enforced hit, or none. */
static bool charge_all(struct flow *flow)
{
	size_t count = put_in_order(flow), at;

	for (at = 0; at < count; at++) {
		take_hit(flow, in_order(flow, at), false);
		if (!in_order(flow, at)->allowed)
			break;
	}
	if (at == count)
		return true;
	while (at--)
		take_back(flow, in_order(flow, at));
	return false;
}

/* A look, or, of the only counter there is, the charge: it looks for itself. */
static void judge(struct flow *flow, struct flow_hit *hit, bool only)
{
	bool behind = queue_is_behind(flow, hit);

	if (only && !behind)
		take_hit(flow, hit, true);
	else
		take_look(flow, hit);
	hit->allowed = hit->allowed && !behind;
}

/* The limits that can refuse. True if they let the request pass; it is then charged to all of them. */
static bool decide_enforced(struct flow *flow)
{
	struct flow_hit *only = NULL;
	size_t count = 0;
	bool denied = false, pass = true;

	for (size_t i = 0; i < flow->hit_count; i++) {
		if (!read_enforced(&flow->hits[i]))
			continue;
		only = &flow->hits[i];
		only->allowed = !only->denied;
		only->no_room = false; /* of the look before */
		denied |= only->denied;
		count++;
	}
	if (denied && !flow->dry) /* no allowance of another limit can help a request without its key */
		return false;
	if (count == 1 && !flow->dry) {
		judge(flow, only, true);
		return only->allowed;
	}
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (!read_enforced(hit))
			continue;
		if (!hit->denied)
			judge(flow, hit, false);
		pass = pass && hit->allowed;
	}
	return pass && (flow->dry || charge_all(flow));
}

/* Shadow: judged always, charged only with a request that passes; it does not wait for places. Exempt: described, for
 * explain. */
static void decide_aside(struct flow *flow, struct flow_hit *hit, bool pass)
{
	if (hit->role == FLOW_ROLE_EXEMPT) {
		take_look(flow, hit);
		hit->allowed = true;
		return;
	}
	if (hit->denied)
		hit->allowed = false;
	else if (pass && !flow->dry)
		take_hit(flow, hit, true);
	else
		take_look(flow, hit);
	if (!hit->allowed)
		take_punish(flow, hit);
}

enum flow_step flow_decide(struct flow *flow)
{
	bool pass = decide_enforced(flow);

	if (!pass && queue_wait(flow)) {
		if (!flow->dry)
			return FLOW_WAIT;
		pass = true;
	}
	queue_leave(flow);
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (hit->role == FLOW_ROLE_SKIPPED)
			continue;
		if (read_enforced(hit)) {
			if (!hit->allowed)
				take_punish(flow, hit);
		} else if (!read_paces(hit) || hit->denied) {
			decide_aside(flow, hit, pass);
		}
	}
	return FLOW_DONE;
}
