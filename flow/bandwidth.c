/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bandwidth: how fast the response of a request that passed may go.
 *
 * A bandwidth paces each response by itself, and needs no counter. A total is a bucket of KiB that all responses of a
 * key take from: taken before it is sent, from every total or from none, so that together they are never faster. Who
 * finds it empty waits until a piece fits, not for the first KiB: a slow key would wake its senders for each.
 */
#include "flow/read.h"

#define KIB   1024u
#define TRIES 8u
#define PIECE 64u /* KiB: worth waking up for */

/* The counter paces this response. */
static bool applies(const struct flow *flow, const struct flow_hit *hit, enum image_what what)
{
	return hit->what == what && hit->role == FLOW_ROLE_ENFORCED && flow->verdict.action == FLOW_PASS &&
	       flow->next > FLOW_AT_VERDICT && flow->next != FLOW_AT_QUEUE;
}

void flow_pace(const struct flow *flow, struct flow_pace *out)
{
	*out = (struct flow_pace){.bytes_per_s = 0};
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		const struct image_counter *counter = read_counter(flow->env->image, hit->counter);

		if (applies(flow, hit, IMAGE_BANDWIDTH)) {
			/* of several, the slowest and the first to begin: none of them is exceeded then */
			if (out->bytes_per_s == 0 || counter->free_bytes < out->free_bytes)
				out->free_bytes = counter->free_bytes;
			if (out->bytes_per_s == 0 || counter->bytes_per_s < out->bytes_per_s)
				out->bytes_per_s = counter->bytes_per_s;
		} else if (applies(flow, hit, IMAGE_TOTAL)) {
			if (!out->total || counter->bytes_per_s < out->total_bytes_per_s)
				out->total_bytes_per_s = counter->bytes_per_s;
			out->total = true;
		}
	}
}

static uint32_t row_of(const struct flow *flow, const struct flow_hit *hit)
{
	return read_counter(flow->env->image, hit->counter)->row;
}

/* How many of `want` KiB every total has now. 0: *wait_ns until there is a piece of it. */
static uint32_t available(struct flow *flow, const struct algo_time *t, uint32_t want, uint64_t *wait_ns)
{
	uint32_t units = want;

	*wait_ns = 0;
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		struct table_look look;
		struct algo_report report;
		uint32_t piece;

		if (!applies(flow, hit, IMAGE_TOTAL))
			continue;
		table_peek(flow->env->table, &hit->key, row_of(flow, hit), t, 1, &look);
		if (look.numbers.kind == ALGO_NONE) /* the table cannot say: not paced */
			continue;
		table_describe(&look, t, 1, false, &report);
		piece = report.limit / 8 < PIECE ? report.limit / 8 : PIECE;
		piece = piece == 0 ? 1 : piece < want ? piece : want;
		if (report.remaining < piece) {
			table_describe(&look, t, piece, false, &report);
			*wait_ns = report.wait_ns > *wait_ns ? report.wait_ns : *wait_ns;
			units = 0;
		} else if (report.remaining < units) {
			units = report.remaining;
		}
	}
	return units;
}

static void give_back(struct flow *flow, const struct algo_time *t, size_t before, uint64_t at,
		      uint64_t units)
{
	for (size_t i = 0; units && i < before; i++)
		if (applies(flow, &flow->hits[i], IMAGE_TOTAL))
			table_uncharge(flow->env->table, &flow->hits[i].key, row_of(flow, &flow->hits[i]), t,
				       at, units < ALGO_BURST_MAX ? (uint32_t)units : ALGO_BURST_MAX);
}

/* From all totals, or none. A total never refuses: what the table cannot hold passes. */
static bool charge(struct flow *flow, const struct algo_time *t, uint32_t units)
{
	struct table_look look;

	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];

		if (!applies(flow, hit, IMAGE_TOTAL) ||
		    table_charge(flow->env->table, &hit->key, row_of(flow, hit), t, units, &look) !=
			    TABLE_REFUSED)
			continue;
		give_back(flow, t, i, t->now, units);
		return false;
	}
	return true;
}

uint64_t flow_pace_take(struct flow *flow, const struct algo_time *t, uint64_t want, uint64_t *wait_ns)
{
	uint64_t most = (uint64_t)ALGO_BURST_MAX * KIB;
	uint32_t units = (uint32_t)(((want < most ? want : most) + KIB - 1) / KIB);

	*wait_ns = 0;
	if (units == 0)
		return 0;
	for (unsigned try = 0; try < TRIES; try++) {
		uint32_t now = available(flow, t, units, wait_ns);

		if (now == 0)
			return 0;
		if (!charge(flow, t, now)) /* others were faster */
			continue;
		if (flow->paced.last == 0 && flow->paced.before == 0)
			flow->paced.first_at = t->now;
		flow->paced.before += flow->paced.last;
		flow->paced.last = now;
		flow->paced.last_at = t->now;
		return (uint64_t)now * KIB;
	}
	*wait_ns = 1000000;
	return 0;
}

void flow_pace_return(struct flow *flow, const struct algo_time *t, uint64_t bytes)
{
	uint64_t units = bytes / KIB, last = units < flow->paced.last ? units : flow->paced.last;
	uint64_t before = units - last < flow->paced.before ? units - last : flow->paced.before;

	/* what was taken earlier may have been refilled since, and is given back as taken first */
	give_back(flow, t, flow->hit_count, flow->paced.last_at, last);
	give_back(flow, t, flow->hit_count, flow->paced.first_at, before);
	flow->paced.last -= (uint32_t)last;
	flow->paced.before -= before;
}
