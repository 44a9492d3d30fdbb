/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decide: all or none (D1).
 *
 * Every limit that can refuse is looked at before any is charged, so that a request that one of them refuses
 * costs the others nothing. Charging then goes from the least headroom up: if someone else was faster, it
 * shows at the first charge, where little has to be given back. What was charged before a late refusal is
 * given back; in between, others may have been refused for its sake, never admitted.
 *
 * Shadow limits are judged after that, in their own state, and change nothing. An exempt request is charged to
 * nothing: a health check must not use up what clients share.
 */
#include "flow/read.h"

static uint32_t row_of(const struct flow *flow, const struct flow_hit *hit)
{
	return read_counter(flow->env->image, hit->counter)->row;
}

static void peek(struct flow *flow, struct flow_hit *hit)
{
	struct algo_outcome outcome;

	table_peek(flow->env->table, &hit->key, row_of(flow, hit), &flow->time, hit->cost, &hit->look);
	if (flow->dry) {
		/* explain describes what would come of it: the same verdict, nothing written. A policy that
		 * has not been published has no rows yet: its counters are new. */
		if (hit->look.numbers.kind == ALGO_NONE)
			hit->look.numbers = read_counter(flow->env->image, hit->counter)->numbers;
		algo_step(&hit->look.numbers, hit->look.state, &flow->time, hit->cost, &outcome);
		hit->look.state = outcome.state;
		hit->look.allowed = outcome.allowed;
	}
	hit->allowed = hit->look.allowed;
}

static void charge(struct flow *flow, struct flow_hit *hit)
{
	enum table_charge result = table_charge(flow->env->table, &hit->key, row_of(flow, hit), &flow->time,
						hit->cost, &hit->look);

	hit->charged = result == TABLE_CHARGED;
	hit->no_room = result == TABLE_NO_ROOM;
	hit->allowed = result != TABLE_REFUSED;
	if (hit->no_room) /* let it pass, and describe the counter as it stands */
		table_peek(flow->env->table, &hit->key, row_of(flow, hit), &flow->time, hit->cost,
			   &hit->look);
}

/* A refusal that is counted, where the limit asks for it. */
static void punish(struct flow *flow, struct flow_hit *hit)
{
	struct table_look *look = &hit->look;

	if (hit->denied || !read_limit(flow->env->image, hit->limit)->count_denied)
		return;
	if (flow->dry)
		look->state = algo_punish(&look->numbers, look->state, &flow->time, hit->cost);
	else
		table_punish(flow->env->table, &hit->key, row_of(flow, hit), &flow->time, hit->cost, look);
}

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
		algo_describe(&hit->look.numbers, hit->look.state, &flow->time, hit->cost, false, &report);
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
		charge(flow, in_order(flow, at));
		if (!in_order(flow, at)->allowed)
			break;
	}
	if (at == count)
		return true;
	while (at--) {
		struct flow_hit *hit = in_order(flow, at);
		if (hit->charged)
			table_uncharge(flow->env->table, &hit->key, row_of(flow, hit), &flow->time,
					flow->time.now, hit->cost);
		hit->charged = false;
	}
	return false;
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
		denied |= only->denied;
		count++;
	}
	if (denied && !flow->dry) /* no allowance of another limit can help a request without its key */
		return false;
	if (count == 1 && !flow->dry) { /* a charge looks for itself */
		charge(flow, only);
		return only->allowed;
	}
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (!read_enforced(hit))
			continue;
		if (!hit->denied)
			peek(flow, hit);
		pass = pass && hit->allowed;
	}
	return pass && (flow->dry || charge_all(flow));
}

/* Shadow: judged always, charged only with a request that passes. Exempt: described, for explain. */
static void decide_aside(struct flow *flow, struct flow_hit *hit, bool pass)
{
	if (hit->exempt) {
		peek(flow, hit);
		hit->allowed = true;
		return;
	}
	if (hit->denied)
		hit->allowed = false;
	else if (pass && !flow->dry)
		charge(flow, hit);
	else
		peek(flow, hit);
	if (!hit->allowed)
		punish(flow, hit);
}

void flow_decide(struct flow *flow)
{
	bool pass = decide_enforced(flow);

	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (hit->skipped)
			continue;
		if (!read_enforced(hit))
			decide_aside(flow, hit, pass);
		else if (!hit->allowed)
			punish(flow, hit);
	}
}
