/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle: what becomes of reservations and places in flight once the answer is known, and when the request is over.
 *
 * Only what this request holds is looked at: one that was refused has given everything back, and one that is exempt
 * has taken nothing.
 */
#include "flow/queue.h"

static bool is_failure(const struct flow *flow, const struct flow_hit *hit, const unsigned *statuses,
		       size_t count)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = read_limit(image, hit->limit);
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

/* Ends what the hit holds. One that is not live any more was charged by table_overdue: it is told as such. */
static void end(struct flow *flow, struct flow_hit *hit, const struct algo_time *t, bool charge)
{
	struct table *table = flow->env->table;
	bool live = charge ? table_settle(table, &hit->ticket, t, hit->cost)
			   : table_give_back(table, &hit->ticket, t);

	hit->held = false;
	flow->tickets--;
	if (hit->what == IMAGE_CONCURRENT || (live && !charge))
		return;
	hit->charged = true;
	flow_record_settled(flow, hit);
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

void flow_responded(struct flow *flow, const struct algo_time *t, const unsigned *statuses, size_t count)
{
	bool settled = false;

	for (size_t i = 0; flow->tickets && count && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (!hit->held || hit->what == IMAGE_CONCURRENT)
			continue;
		end(flow, hit, t, counts(flow, hit, statuses, count));
		/* what is left is told as it is now: a success has cost nothing */
		table_peek_held(flow->env->table, &hit->key, read_row(flow, hit), t, hit->cost, &hit->look);
		settled = true;
	}
	if (settled) {
		flow->time = *t;
		flow_bind_again(flow);
	}
}

void flow_end(struct flow *flow, const struct algo_time *t)
{
	queue_leave(flow);
	for (size_t i = 0; flow->tickets && i < flow->hit_count; i++)
		if (flow->hits[i].held)
			end(flow, &flow->hits[i], t, flow->hits[i].what != IMAGE_CONCURRENT);
	if (flow->paced.stays) {
		flow->paced.stays = false;
		table_unstay(flow->env->table);
	}
}
