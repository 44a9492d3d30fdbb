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
#include "flow/ban.h"
#include "flow/grant.h"
#include "flow/queue.h"
#include "flow/take.h"
#include "flow/usage.h"

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

/* Over the limit it does not refuse, but lets the answer go slowly. */
static bool slow(const struct flow *flow, struct flow_hit *hit)
{
	if (hit->denied || hit->never || hit->banned ||
	    image_limit_at(flow->env->image, hit->limit)->instead != IMAGE_INSTEAD_SLOW)
		return false;
	hit->slowed = hit->allowed = true;
	return true;
}

/* It refuses by its numbers alone, and a grant covers that. */
static bool cover_hit(struct flow *flow, struct flow_hit *hit)
{
	if (hit->denied || hit->never || hit->banned || hit->no_room || hit->what != IMAGE_RATE ||
	    !grant_take(flow, hit))
		return false;
	flow->grants |= read_reserves(hit);
	return true;
}

/* Charges every enforced hit, or none. */
static bool charge_all(struct flow *flow)
{
	size_t count = put_in_order(flow), at;

	for (at = 0; at < count; at++) {
		struct flow_hit *hit = in_order(flow, at);

		if (hit->granted || hit->slowed)
			continue;
		take_hit(flow, hit, false);
		if (!hit->allowed && !slow(flow, hit) && !cover_hit(flow, hit))
			break;
	}
	if (at == count)
		return true;
	while (at--)
		take_back(flow, in_order(flow, at));
	for (size_t i = 0; i < flow->hit_count; i++) /* those that stand behind the one that refuses */
		if (flow->hits[i].granted)
			take_back(flow, &flow->hits[i]);
	return false;
}

/* A look, or, of the only counter there is, the charge: it looks for itself. */
static void judge(struct flow *flow, struct flow_hit *hit, bool only)
{
	bool behind;

	ban_look(flow, hit);
	if (hit->banned) {
		take_look(flow, hit);
		hit->allowed = false;
		return;
	}
	behind = queue_is_behind(flow, hit);
	if (only && !behind)
		take_hit(flow, hit, true);
	else
		take_look(flow, hit);
	hit->allowed = (hit->allowed && !behind) || slow(flow, hit);
}

/* What refuses by its numbers alone may be covered by what the operator has granted: all of it, or nothing is taken. */
static bool cover(struct flow *flow)
{
	size_t at;

	for (at = 0; at < flow->hit_count; at++) {
		struct flow_hit *hit = &flow->hits[at];

		if (!read_enforced(hit) || hit->allowed)
			continue;
		if (!cover_hit(flow, hit))
			break;
	}
	if (at == flow->hit_count)
		return true;
	while (at--)
		if (flow->hits[at].granted) {
			grant_back(flow, &flow->hits[at]);
			flow->hits[at].allowed = false;
		}
	return false;
}

/* The limits that can refuse. True if they let the request pass; it is then charged to all of them. */
static bool decide_enforced(struct flow *flow)
{
	struct flow_hit *only = NULL;
	size_t count = 0;
	bool denied = false, pass = true, wrong_key = flow_who_refused(flow);

	for (size_t i = 0; i < flow->hit_count; i++) {
		if (!read_enforced(&flow->hits[i]))
			continue;
		only = &flow->hits[i];
		if (only->denied &&
		    wrong_key) { /* it hears 401, when the limits that it has keys for have been charged */
			only->denied = false;
			only->role = FLOW_ROLE_SKIPPED;
			continue;
		}
		only->allowed = !only->denied && !only->never;
		only->no_room = only->slowed = only->banned = false; /* of the look before */
		denied |= !only->allowed;
		count++;
	}
	if (denied && !flow->dry) /* no allowance of another limit can help a request without its key */
		return false;
	for (size_t i = 0; count == 1 && i < flow->hit_count; i++)
		if (read_enforced(&flow->hits[i]))
			only = &flow->hits[i];
	if (count == 1 && !flow->dry) {
		judge(flow, only, true);
		return only->allowed || cover(flow);
	}
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (!read_enforced(hit))
			continue;
		if (!hit->denied && !hit->never)
			judge(flow, hit, false);
		pass = pass && hit->allowed;
	}
	return (pass || cover(flow)) && (flow->dry || charge_all(flow));
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
	if (hit->denied || hit->never)
		hit->allowed = false;
	else if (pass && !flow->dry)
		take_hit(flow, hit, true);
	else
		take_look(flow, hit);
	if (!hit->allowed)
		take_punish(flow, hit);
}

/* For the bill: what the rate before it in its limit has been charged, or has reserved (settle.c charges that later). A grant is
 * billed too. */
static void repeat(struct flow *flow, struct flow_hit *hit, bool pass)
{
	const struct flow_hit *of = hit;

	while (of > flow->hits && of[-1].limit == hit->limit && of->what != IMAGE_RATE)
		of--;
	hit->allowed = true;
	hit->cost = of->cost;
	if (pass && !flow->dry && (of->charged || (of->granted && !read_reserves(of))))
		usage_charge(flow, hit, &flow->time, of->cost);
}

enum flow_step flow_decide(struct flow *flow)
{
	bool pass = !flow->early && decide_enforced(flow);

	if (!pass && !flow->early && queue_wait(flow)) {
		if (!flow->dry)
			return FLOW_WAIT;
		pass = true;
	}
	queue_leave(flow);
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (hit->role == FLOW_ROLE_SKIPPED)
			continue;
		if (hit->what == IMAGE_USAGE)
			repeat(flow, hit, pass);
		else if (read_enforced(hit)) {
			if (!hit->allowed)
				take_punish(flow, hit);
		} else if (!read_paces(hit) || hit->denied) {
			decide_aside(flow, hit, pass);
		}
	}
	return FLOW_DONE;
}
