/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: whose bill, and which period's. */
#include "flow/usage.h"

#include "algo/align.h"
#include "flow/read.h"

#define SECOND INT64_C(1000000000)

struct usage_period usage_period(const struct algo_numbers *billed, unsigned day, int64_t wall_s)
{
	struct algo_numbers numbers = *billed;
	algo_billing_day(billed, day, &numbers); /* of another kind, or without a day: as they are */
	enum algo_align align = (enum algo_align)numbers.align;
	int64_t wall = wall_s * SECOND, usual = (int64_t)align_usual(align, numbers.scale);
	int64_t start = align_next(align, numbers.scale, numbers.zone, wall - 2 * usual),
		end = align_next(align, numbers.scale, numbers.zone, start);
	while (end <= wall) {
		start = end;
		end = align_next(align, numbers.scale, numbers.zone, start);
	}
	return (struct usage_period){start / SECOND, end / SECOND};
}

struct table_key usage_key(const struct table *table, uint64_t identity, struct text name, int64_t end)
{
	struct {
		uint64_t identity;
		int64_t end;
		char name[RING_NAME_MAX];
	} bytes;
	size_t size = name.size < sizeof bytes.name ? name.size : sizeof bytes.name;

	bytes.identity = identity;
	bytes.end = end;
	memcpy(bytes.name, name.data, size);
	return table_key(table, &bytes, offsetof(__typeof__(bytes), name) + size);
}

void usage_hit_key(const struct flow *flow, struct flow_hit *hit)
{
	const struct image_counter *counter = image_counter_at(flow->env->image, hit->counter);
	const struct ring_key *key = &flow->who.key;

	if (flow->who.key_said != FLOW_CREDENTIAL_GOOD) {
		hit->role = FLOW_ROLE_SKIPPED;
		return;
	}
	struct algo_numbers billed = counter->seen;
	algo_billing_day(&counter->seen, key->billing_day, &billed);
	int64_t end = align_next((enum algo_align)billed.align, billed.scale, billed.zone,
				 (int64_t)flow->time.now + flow->time.wall);
	hit->key = usage_key(flow->env->table, counter->identity, (struct text){key->name, key->name_size},
			     end / SECOND);
}

void usage_charge(struct flow *flow, struct flow_hit *hit, const struct algo_time *t, uint32_t cost)
{
	if (hit->charged || hit->role == FLOW_ROLE_EXEMPT || hit->role == FLOW_ROLE_SKIPPED)
		return;
	hit->cost = cost;
	hit->charged = table_charge(flow->env->table, &hit->key, read_row(flow, hit), t, cost, &hit->look) ==
		       TABLE_CHARGED;
}

void usage_soft(const struct image_counter *counter, struct algo_report *report)
{
	uint32_t used = report->limit - report->remaining;

	if (counter->soft == 0 || counter->soft >= report->limit)
		return;
	report->limit = counter->soft;
	report->remaining = used < counter->soft ? counter->soft - used : 0;
}
