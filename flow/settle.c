/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle: what becomes of reservations and places in flight once the answer is known, and when the request is over.
 *
 * Only what this request holds is looked at: one that was refused has given everything back, and one that is exempt
 * has taken nothing.
 */
#include "flow/grant.h"
#include "flow/queue.h"
#include "flow/take.h"
#include "flow/usage.h"

static bool is_failure(const struct flow *flow, const struct flow_hit *hit, const unsigned *statuses,
		       size_t count)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = image_limit_at(image, hit->limit);
	const struct image_statuses *failures = image_at(image, limit->failures.offset);

	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < limit->failures.count; k++)
			if (statuses[i] >= failures[k].from && statuses[i] <= failures[k].to)
				return true;
	return false;
}

/* An outage is neither: it locks nobody out, and used nothing up. */
static bool counts(const struct flow *flow, const struct flow_hit *hit, const unsigned *statuses,
		   size_t count)
{
	bool failure = is_failure(flow, hit, statuses, count);

	return hit->count == IMAGE_COUNT_FAILURES ? failure : !failure && statuses[0] < 500;
}

/* The bill of the limit says the same as the limit. */
static void repeat(struct flow *flow, const struct flow_hit *of, const struct algo_time *t)
{
	for (size_t i = 0; i < flow->hit_count; i++)
		if (flow->hits[i].what == IMAGE_USAGE && flow->hits[i].limit == of->limit)
			usage_charge(flow, &flow->hits[i], t, of->cost);
}

/* Ends what the hit holds: charges `cost`, or gives all of it back. One that is not live any more was charged by table_overdue: it is
 * told as such. */
static void end(struct flow *flow, struct flow_hit *hit, const struct algo_time *t, bool charge,
		uint32_t cost)
{
	struct table *table = flow->env->table;
	bool live = charge ? table_settle(table, &hit->ticket, t, cost)
			   : table_give_back(table, &hit->ticket, t);

	hit->held = false;
	flow->tickets--;
	if (hit->what == IMAGE_CONCURRENT)
		return;
	if (live && !charge) {
		take_unmark(flow, hit);
		return;
	}
	if (live)
		hit->cost = cost;
	hit->charged = true;
	flow_record_settled(flow, hit);
	repeat(flow, hit, t);
	usage_notice(flow, hit);
}

/* The same of what a grant covers: it was charged at once, and what is not charged after all goes back to it. */
static void end_grant(struct flow *flow, struct flow_hit *hit, const struct algo_time *t, uint32_t cost)
{
	if (cost < hit->cost)
		grant_return(flow, hit, t, hit->cost - cost);
	hit->settled = true;
	if (cost == 0)
		return;
	hit->cost = cost < hit->cost ? cost : hit->cost;
	repeat(flow, hit, t);
}

/* The answer is still to say what becomes of it. */
static bool is_open(const struct flow_hit *hit)
{
	return hit->what != IMAGE_CONCURRENT &&
	       (hit->held || (hit->granted && !hit->settled && read_reserves(hit)));
}

static bool any_open(const struct flow *flow)
{
	return flow->tickets || flow->grants;
}

static void end_open(struct flow *flow, struct flow_hit *hit, const struct algo_time *t, bool charge,
		     uint32_t cost)
{
	if (hit->held)
		end(flow, hit, t, charge, cost);
	else
		end_grant(flow, hit, t, charge ? cost : 0);
}

/* What it is charged when the answer said `amount`. */
static uint32_t amount_of(const struct flow *flow, const struct flow_hit *hit, uint32_t amount)
{
	const struct image_cost *costs = &image_limit_at(flow->env->image, hit->limit)->costs;

	return amount > hit->cost && !costs->overdraw ? hit->cost : amount;
}

/* The field of the answer's body that settles this hit, if it is looked for. */
static struct usage_scan *scan_of(struct flow *flow, const struct flow_hit *hit)
{
	struct text name = image_text(flow->env->image,
				      image_limit_at(flow->env->image, hit->limit)->costs.settle.name);

	for (size_t i = 0; i < flow->scans; i++)
		if (text_equal(flow->scan_name[i], name))
			return &flow->scan[i];
	return NULL;
}

/* The end of a hit whose cost the answer was to say: what is not found is as much as was asked for. */
static void end_amount(struct flow *flow, struct flow_hit *hit, const struct algo_time *t, bool found,
		       uint32_t amount)
{
	if (!found)
		stats_add(&stats_process(flow->env->table)->unsettled, 1);
	end_open(flow, hit, t, true, found ? amount_of(flow, hit, amount) : hit->cost);
}

static bool body_amount(struct flow *flow, const struct flow_hit *hit, uint32_t *amount)
{
	const struct usage_scan *scan = scan_of(flow, hit);

	return scan && usage_scan_found(scan, amount);
}

void flow_wait_turn(struct flow *flow, bool waits)
{
	for (size_t i = 0; flow->tickets && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (!hit->held || hit->what == IMAGE_CONCURRENT)
			continue;
		if (waits)
			table_postpone(flow->env->table, &hit->ticket);
		else
			table_begin(flow->env->table, &hit->ticket, &flow->time);
	}
}

/* As much as has gone by of the answer's body. */
static void end_body(struct flow *flow, struct flow_hit *hit, const struct algo_time *t)
{
	uint32_t amount = 0;
	bool found = body_amount(flow, hit, &amount);

	end_amount(flow, hit, t, found, amount);
}

/* True: it is settled. */
static bool answered(struct flow *flow, struct flow_hit *hit, const struct algo_time *t,
		     const unsigned *statuses, size_t count)
{
	const struct image_limit *limit = image_limit_at(flow->env->image, hit->limit);
	const struct flow_request *request = flow->request;
	struct text value;
	uint32_t amount = 0;

	/* what failed behind us used nothing up */
	bool charge = hit->count == IMAGE_COUNT_ALL ? statuses[0] < 500 : counts(flow, hit, statuses, count);

	if (charge && hit->settles == IMAGE_AMOUNT_RESPONSE_BODY) {
		if (hit->held)
			table_postpone(flow->env->table, &hit->ticket); /* however long the answer takes */
		return false;
	}
	if (charge && hit->settles == IMAGE_AMOUNT_RESPONSE_HEADER) {
		struct text name = image_text(flow->env->image, limit->costs.settle.name);
		bool found = request->response_header &&
			     request->response_header(request->door, name, &value) &&
			     cost_number(value, &amount);

		end_amount(flow, hit, t, found, amount);
	} else {
		end_open(flow, hit, t, charge, hit->cost);
	}
	return true;
}

void flow_responded(struct flow *flow, const struct algo_time *t, const unsigned *statuses, size_t count)
{
	bool settled = false;

	for (size_t i = 0; any_open(flow) && count && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (!is_open(hit) || !answered(flow, hit, t, statuses, count))
			continue;
		/* what is left is told as it is now: a success has cost nothing */
		table_peek_held(flow->env->table, &hit->key, read_row(flow, hit), t, hit->cost, &hit->look);
		settled = true;
	}
	if (settled) {
		flow->time = *t;
		flow_bind_again(flow);
	}
}

void flow_turned_away(struct flow *flow)
{
	const unsigned status = flow->verdict.http_status;

	for (size_t i = 0; any_open(flow) && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (is_open(hit)) /* it has cost nobody anything; but a wrong key is a failure */
			end_open(flow, hit, &flow->time, !hit->settles && counts(flow, hit, &status, 1),
				 hit->cost);
	}
}

bool flow_wants_body(struct flow *flow, struct text content_type, struct text encoding)
{
	for (size_t i = 0; any_open(flow) && i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		struct text name;

		if (!is_open(hit) || hit->settles != IMAGE_AMOUNT_RESPONSE_BODY || scan_of(flow, hit) ||
		    flow->scans == FLOW_SCANS_MAX)
			continue;
		name = image_text(flow->env->image,
				  image_limit_at(flow->env->image, hit->limit)->costs.settle.name);
		if (usage_scan_begin(&flow->scan[flow->scans], content_type, encoding, name))
			flow->scan_name[flow->scans++] = name;
	}
	return flow->scans > 0;
}

void flow_body(struct flow *flow, const struct algo_time *t, const void *data, size_t size, bool last)
{
	for (size_t i = 0; size && i < flow->scans; i++)
		usage_scan_feed(&flow->scan[i], data, size);
	for (size_t i = 0; last && any_open(flow) && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (is_open(hit) && hit->settles == IMAGE_AMOUNT_RESPONSE_BODY)
			end_body(flow, hit, t);
	}
}

void flow_end(struct flow *flow, const struct algo_time *t)
{
	queue_leave(flow);
	for (size_t i = 0; any_open(flow) && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (is_open(hit) && hit->settles)
			end_body(flow, hit, t);
		else if (is_open(hit) || hit->held)
			end_open(flow, hit, t, hit->what != IMAGE_CONCURRENT, hit->cost);
	}
	jwt_drop(&flow->who.claims);
	if (flow->paced.stays) {
		flow->paced.stays = false;
		table_unstay(flow->env->table);
	}
}
