/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue: waiting for a place in flight.
 *
 * A place in the queue is itself held, under a key of its own beside the counter's, so that the queue has an end over
 * all processes and a killed one leaves its places. Nobody is told when a place in flight is free: who waits looks
 * again, more often in the second half of his time than in the first, and who comes while others wait goes behind
 * them. Among those who wait there is no other order. Nothing else is charged before the request gets in.
 */
#include "flow/queue.h"

#define MS	 UINT64_C(1000000)
#define LOOK_MS	 UINT64_C(50) /* between looks, in the first half of the time */
#define LATER_MS UINT64_C(20) /* ... and in the second */

static const struct image_counter *counter_of(const struct flow *flow, const struct flow_hit *hit)
{
	return image_counter_at(flow->env->image, hit->counter);
}

/* The queue's own key. The counter's is a keyed hash already; hashed once more it is another's. */
static struct table_key key_of(const struct flow *flow, const struct flow_hit *hit)
{
	const uint64_t words[3] = {hit->key.tag_word, hit->key.line_word,
				   UINT64_C(0x6575657571) /* "queue" */};

	return table_key(flow->env->table, words, sizeof words);
}

uint32_t flow_hit_waiting(const struct flow *flow, const struct flow_hit *hit)
{
	const struct image_counter *counter = counter_of(flow, hit);
	struct table_look look;
	struct table_key key;

	if (counter->what != IMAGE_CONCURRENT || counter->queue == 0)
		return 0;
	key = key_of(flow, hit);
	table_peek_held(flow->env->table, &key, counter->queue_row, &flow->time, 1, &look);
	return look.held;
}

bool queue_is_behind(const struct flow *flow, const struct flow_hit *hit)
{
	return hit->what == IMAGE_CONCURRENT && hit->role == FLOW_ROLE_ENFORCED && !hit->waited &&
	       flow->can_wait && flow_hit_waiting(flow, hit) > 0;
}

/* It is refused for want of a place, and can wait for one. */
static bool lacks_place(const struct flow *flow, const struct flow_hit *hit)
{
	const struct image_counter *counter = counter_of(flow, hit);

	return hit->what == IMAGE_CONCURRENT && !hit->denied && !hit->never && !hit->banned &&
	       !hit->no_room && counter->queue && counter->numbers.capacity > 0;
}

static bool take_place(struct flow *flow, struct flow_hit *hit)
{
	const struct image_counter *counter = counter_of(flow, hit);
	struct table_key key = key_of(flow, hit);
	uint64_t until = flow->time.now + counter->wait_ns;
	struct table_look look;

	if (flow->dry)
		return flow_hit_waiting(flow, hit) < counter->queue;
	/* no room in the table: the queue is as good as full */
	if (table_take(flow->env->table, &key, counter->queue_row, &flow->time, 1, TABLE_RESERVE, &hit->place,
		       &look) != TABLE_CHARGED)
		return false;
	hit->queued = true;
	flow->tickets++;
	if (flow->queued_at == 0)
		flow->queued_at = flow->time.now;
	if (flow->queue_until == 0 || until < flow->queue_until)
		flow->queue_until = until;
	return true;
}

/* Milliseconds to the next look: not before the time is over, and not long after it. */
static uint64_t next_look(const struct flow *flow)
{
	uint64_t left = flow->queue_until - flow->time.now, whole = flow->queue_until - flow->queued_at;
	uint64_t ms = left > whole / 2 ? LOOK_MS : LATER_MS;

	return left < ms * MS ? (left + MS - 1) / MS : ms;
}

bool queue_wait(struct flow *flow)
{
	size_t lacking = 0;

	if (!flow->can_wait || (flow->queue_until && flow->time.now >= flow->queue_until))
		return false;
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		if (!read_enforced(hit) || hit->allowed)
			continue;
		if (!lacks_place(flow, hit))
			return false;
		lacking++;
	}
	for (size_t i = 0; lacking && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (!read_enforced(hit) || hit->allowed || hit->queued)
			continue;
		if (!take_place(flow, hit))
			return false;
		hit->waited = true;
		hit->allowed = flow->dry;
	}
	if (lacking && !flow->dry)
		flow->verdict.wait_ms = next_look(flow);
	return lacking > 0;
}

void queue_leave(struct flow *flow)
{
	for (size_t i = 0; flow->tickets && i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		if (!hit->queued)
			continue;
		table_give_back(flow->env->table, &hit->place, &flow->time);
		hit->queued = false;
		flow->tickets--;
	}
}
