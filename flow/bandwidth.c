/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bandwidth: how fast the response of a request that passed may go.
 *
 * A bandwidth paces each response by itself, and needs no counter. A total is a bucket of KiB that all responses of a
 * key take from: taken before it is sent, from every total or from none, so that together they are never faster. Who
 * finds it empty waits until a piece fits, not for the first KiB: a slow key would wake its senders for each. Who may
 * be early takes a piece of what comes next, so that neither a small answer nor one that has waited for long goes
 * without beside many. What the table cannot hold goes at the total's pace by itself.
 */
#include "flow/read.h"

#define KIB    1024u
#define TRIES  8u
#define PIECE  64u /* KiB: worth waking up for */
#define SECOND UINT64_C(1000000000)

/* The counter paces this response. */
static bool applies(const struct flow *flow, const struct flow_hit *hit, enum image_what what)
{
	return hit->what == what && hit->role == FLOW_ROLE_ENFORCED && flow->verdict.action == FLOW_PASS &&
	       flow->next > FLOW_AT_VERDICT && flow->next != FLOW_AT_QUEUE;
}

void flow_pace(struct flow *flow, struct flow_pace *out)
{
	*out = (struct flow_pace){.bytes_per_s = flow->verdict.slow_bytes_per_s};
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		const struct image_counter *counter = image_counter_at(flow->env->image, hit->counter);

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
	if (out->total && !flow->paced.stays) {
		table_stay(flow->env->table);
		flow->paced.stays = true;
	}
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* How many of `want` KiB every total has now, or lends. 0: *wait_ns until there is a piece of it. */
static uint32_t available(struct flow *flow, const struct algo_time *t, uint32_t want, uint64_t early_ns,
			  uint64_t *wait_ns)
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
		table_peek(flow->env->table, &hit->key, read_row(flow, hit), t, 1, &look);
		if (look.numbers.kind == ALGO_NONE) /* the table cannot say: it will not hold it either */
			continue;
		table_describe(&look, t, 1, false, &report);
		piece = smaller(smaller(report.limit / 8, PIECE), want);
		piece = piece == 0 ? 1 : piece;
		if (report.remaining >= piece) {
			units = smaller(units, report.remaining);
			continue;
		}
		table_describe(&look, t, piece, false, &report);
		units = smaller(units, report.wait_ns <= early_ns ? piece : 0);
		if (report.wait_ns > early_ns && report.wait_ns - early_ns > *wait_ns)
			*wait_ns = report.wait_ns - early_ns;
	}
	return units;
}

static void give_back(struct flow *flow, const struct algo_time *t, size_t before, uint64_t at,
		      uint64_t units)
{
	for (size_t i = 0; units && i < before; i++)
		if (applies(flow, &flow->hits[i], IMAGE_TOTAL))
			table_uncharge(flow->env->table, &flow->hits[i].key, read_row(flow, &flow->hits[i]),
				       t, at, units < ALGO_BURST_MAX ? (uint32_t)units : ALGO_BURST_MAX);
}

/* A bucket charged as of when it has the room owes as much as if it had gone below zero now. */
static enum table_charge charge_one(struct flow *flow, const struct flow_hit *hit, const struct algo_time *t,
				    uint32_t units, uint64_t early_ns)
{
	struct algo_time at = *t;
	struct table_look look;
	struct algo_report report;
	enum table_charge charged = table_charge(flow->env->table, &hit->key, read_row(flow, hit), t, units,
						 &look);

	if (charged != TABLE_REFUSED)
		return charged;
	table_describe(&look, t, units, false, &report);
	if (report.wait_ns > early_ns)
		return TABLE_REFUSED;
	at.now += report.wait_ns;
	return table_charge(flow->env->table, &hit->key, read_row(flow, hit), &at, units, &look);
}

/* From all totals, or none. *alone_ns: what the units take at the pace of a total that could not hold them. */
static bool charge(struct flow *flow, const struct algo_time *t, uint32_t units, uint64_t early_ns,
		   uint64_t *alone_ns)
{
	*alone_ns = 0;
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		uint64_t ns;

		if (!applies(flow, hit, IMAGE_TOTAL))
			continue;
		switch (charge_one(flow, hit, t, units, early_ns)) {
		case TABLE_CHARGED:
			break;
		case TABLE_REFUSED:
			give_back(flow, t, i, t->now, units);
			return false;
		case TABLE_NO_ROOM:
			ns = (uint64_t)units * KIB * SECOND /
			     image_counter_at(flow->env->image, hit->counter)->bytes_per_s;
			*alone_ns = ns > *alone_ns ? ns : *alone_ns;
		}
	}
	return true;
}

uint64_t flow_pace_take(struct flow *flow, const struct algo_time *t, uint64_t want, uint64_t early_ns,
			uint64_t *wait_ns)
{
	uint64_t most = (uint64_t)ALGO_BURST_MAX * KIB, alone_ns;
	uint32_t units = (uint32_t)(((want < most ? want : most) + KIB - 1) / KIB);

	*wait_ns = 0;
	if (units == 0)
		return 0;
	if (t->now < flow->paced.alone_until) {
		*wait_ns = flow->paced.alone_until - t->now;
		return 0;
	}
	for (unsigned try = 0; try < TRIES; try++) {
		uint32_t now = available(flow, t, units, early_ns, wait_ns);

		if (now == 0)
			return 0;
		if (!charge(flow, t, now, early_ns, &alone_ns)) /* others were faster */
			continue;
		if (flow->paced.last == 0 && flow->paced.before == 0)
			flow->paced.first_at = t->now;
		flow->paced.before += flow->paced.last;
		flow->paced.last = now;
		flow->paced.last_at = t->now;
		flow->paced.alone_until = t->now + alone_ns;
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
