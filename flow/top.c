/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top: what the sketch is told of a request: for each limit that it met, by its first counter's key, whether it was refused there and how
 * much of the limit is used. What is exempt, or has no key, is nobody's.
 */
#include "flow/top.h"

#include "flow/read.h"
#include "table/top.h"

static bool counts(const struct flow_hit *hit)
{
	return (hit->role == FLOW_ROLE_ENFORCED || hit->role == FLOW_ROLE_SHADOW) && !hit->denied &&
	       (hit->what == IMAGE_RATE || hit->what == IMAGE_CONCURRENT);
}

/* Of the limit's counters the one that is used most, in thousandths. */
static uint16_t share_of(const struct flow *flow, size_t first, size_t end)
{
	uint64_t most = 0;

	for (size_t i = first; i < end; i++) {
		struct algo_report report;
		uint64_t share;

		if (!counts(&flow->hits[i]) || flow->hits[i].look.numbers.kind == ALGO_NONE)
			continue;
		flow_hit_report(flow, &flow->hits[i], &report);
		share = report.limit ? (uint64_t)(report.limit - report.remaining) * TOP_FULL / report.limit
				     : TOP_FULL;
		most = share > most ? share : most;
	}
	return (uint16_t)(most < TOP_FULL ? most : TOP_FULL);
}

/* The counters [first, end) are one limit's. */
static void tell(const struct flow *flow, size_t first, size_t end, bool refused)
{
	const struct flow_hit *hit = &flow->hits[first];
	struct table *table = flow->env->table;
	struct top_seen seen = {
		.slot = top_slot(&hit->key),
		.generation = (uint32_t)flow->env->image->generation,
		.limit = hit->limit,
		.plan = flow->who.plan < TOP_PLAN_NONE ? (uint8_t)flow->who.plan : TOP_PLAN_NONE,
		.refused = refused,
		.share = refused ? TOP_FULL : TOP_SHARE_KEEP,
	};
	unsigned wants = top_count(table, flow->time.now, &seen);
	char name[TOP_NAME_MAX];

	if (wants & TOP_WANTS_NAME)
		top_name(table, name, flow_key_text(flow, hit, name, sizeof name));
	if ((wants & TOP_WANTS_SHARE) && !refused)
		top_share(table, share_of(flow, first, end));
}

void flow_top(const struct flow *flow)
{
	for (size_t i = 0, end; i < flow->hit_count; i = end) {
		size_t first = flow->hit_count;
		bool refused = false;

		for (end = i; end < flow->hit_count && flow->hits[end].limit == flow->hits[i].limit; end++) {
			if (!counts(&flow->hits[end]))
				continue;
			first = first < end ? first : end;
			refused |= !flow->hits[end].allowed;
		}
		if (first < end)
			tell(flow, first, end, refused);
	}
}
