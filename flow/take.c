/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * take: one counter, by what it counts.
 *
 * A rate of all requests is charged at once. One of failures or successes is reserved, since what the request was is
 * known only afterwards (settle.c): charged now and given back later, successes held open would bank guesses. A place
 * in flight is held until the request is over.
 */
#include "flow/take.h"

#include "flow/ban.h"
#include "flow/grant.h"
#include "flow/usage.h"
#include "table/given.h"

/* What it takes is more than a word can say, so that giving it back needs a ticket. */
static bool needs_ticket(const struct flow *flow, const struct flow_hit *hit)
{
	return read_reserves(hit) ||
	       image_counter_at(flow->env->image, hit->counter)->numbers.kind == ALGO_SLIDING_LOG;
}

static void look(struct flow *flow, struct flow_hit *hit)
{
	if (read_reserves(hit))
		table_peek_held(flow->env->table, &hit->key, read_row(flow, hit), &flow->time, hit->cost,
				&hit->look);
	else
		table_peek(flow->env->table, &hit->key, read_row(flow, hit), &flow->time, hit->cost,
			   &hit->look);
}

/* explain describes what would come of it: the same verdict, nothing written. */
static void foresee(const struct flow *flow, struct flow_hit *hit)
{
	struct table_look *seen = &hit->look;
	struct algo_outcome outcome;
	struct algo_report report;

	if (seen->numbers.kind ==
	    ALGO_NONE) { /* not published, so it has no rows yet: its counters are new */
		seen->numbers = image_counter_at(flow->env->image, hit->counter)->numbers;
		table_describe(seen, &flow->time, hit->cost, false, &report);
		seen->allowed = hit->cost <= report.limit;
	}
	if (read_reserves(hit)) {
		seen->held += seen->allowed ? hit->cost : 0;
	} else if (seen->numbers.kind == ALGO_SLIDING_LOG) {
		if (seen->allowed) {
			seen->used += hit->cost;
			seen->empty_at = flow->time.now + seen->numbers.scale;
		}
	} else {
		algo_step(&seen->numbers, seen->state, &flow->time, hit->cost, &outcome);
		seen->state = outcome.state;
		seen->allowed = outcome.allowed;
	}
}

void take_look(struct flow *flow, struct flow_hit *hit)
{
	look(flow, hit);
	hit->no_room = flow->dry && hit->look.allowed && !read_reserves(hit) &&
		       !table_peek_room(flow->env->table, &hit->key, read_row(flow, hit), &flow->time);
	if (hit->no_room) {
		hit->allowed = table_on_full(flow->env->table, read_row(flow, hit)) != TABLE_DENY;
		return;
	}
	if (flow->dry)
		foresee(flow, hit);
	hit->allowed = hit->look.allowed || hit->seen;
}

bool take_would_pass(struct flow *flow, struct flow_hit *hit)
{
	const struct image_limit *limit = image_limit_at(flow->env->image, hit->limit);

	ban_look(flow, hit);
	take_look(flow, hit);
	if (hit->banned)
		return false;
	return hit->allowed || image_counter_at(flow->env->image, hit->counter)->queue ||
	       limit->instead == IMAGE_INSTEAD_SLOW || table_grants_until(flow->env->table) > flow->time.now;
}

/* `distinct`: the value has been counted from now on. It was charged twice if somebody else was faster with it: once is right. */
static void mark_seen(struct flow *flow, struct flow_hit *hit)
{
	const struct image_counter *counter = image_counter_at(flow->env->image, hit->counter);
	struct table_look look;

	if (table_charge(flow->env->table, &hit->seen_key, counter->seen_row, &flow->time, 1, &look) ==
	    TABLE_REFUSED) {
		take_back(flow, hit);
		hit->seen = true;
		hit->cost = 0;
	} else {
		hit->marked = true;
	}
}

void take_hit(struct flow *flow, struct flow_hit *hit, bool alone)
{
	struct table *table = flow->env->table;
	bool reserve = read_reserves(hit);
	uint32_t row = read_row(flow, hit);
	enum table_charge result;

	if (hit->seen) { /* it costs nothing, whatever is left */
		take_look(flow, hit);
		hit->allowed = true;
		return;
	}
	if (reserve || (needs_ticket(flow, hit) &&
			(!alone || image_limit_at(flow->env->image, hit->limit)->distinct.count)))
		result = table_take(table, &hit->key, row, &flow->time, hit->cost,
				    reserve ? TABLE_RESERVE : TABLE_CHARGE, &hit->ticket, &hit->look);
	else
		result = table_charge(table, &hit->key, row, &flow->time, hit->cost, &hit->look);
	hit->allowed = result == TABLE_CHARGED;
	hit->charged = result == TABLE_CHARGED && !reserve;
	hit->held = result == TABLE_CHARGED && reserve;
	flow->tickets += hit->held;
	hit->no_room = result == TABLE_NO_ROOM;
	if (hit->no_room) { /* described as it stands */
		look(flow, hit);
		hit->allowed = table_on_full(table, row) != TABLE_DENY;
	} else if (hit->allowed && image_limit_at(flow->env->image, hit->limit)->distinct.count &&
		   hit->what == IMAGE_RATE) {
		mark_seen(flow, hit);
	} else if (hit->charged) {
		usage_notice(flow, hit);
	}
}

void take_back(struct flow *flow, struct flow_hit *hit)
{
	if (hit->granted)
		grant_back(flow, hit);
	if (!hit->charged && !hit->held)
		return;
	if (needs_ticket(flow, hit))
		table_give_back(flow->env->table, &hit->ticket, &flow->time);
	else
		table_uncharge(flow->env->table, &hit->key, read_row(flow, hit), &flow->time, flow->time.now,
			       hit->cost);
	flow->tickets -= hit->held;
	hit->charged = hit->held = false;
	take_unmark(flow, hit);
}

void take_unmark(struct flow *flow, struct flow_hit *hit)
{
	if (hit->marked)
		table_forget(flow->env->table, &hit->seen_key);
	hit->marked = false;
}

void take_punish(struct flow *flow, struct flow_hit *hit)
{
	struct table_look *seen = &hit->look;

	if (hit->denied || hit->never || hit->banned)
		return;
	ban_strike(flow, hit);
	if (hit->no_room || read_paces(hit) || read_reserves(hit) ||
	    !image_limit_at(flow->env->image, hit->limit)->count_denied)
		return;
	if (flow->dry)
		seen->state = algo_punish(&seen->numbers, seen->state, &flow->time, hit->cost);
	else
		table_punish(flow->env->table, &hit->key, read_row(flow, hit), &flow->time, hit->cost, seen);
}
