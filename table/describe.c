/* SPDX-License-Identifier: BSD-2-Clause */
/* describe: what a look says, in units and waits. What a word alone says, algo_describe does. */
#include "table/table.h"

/* What others hold ends when they please: a hint, when nothing better is known. */
#define HINT_NS UINT64_C(1000000000)

static uint32_t left(uint32_t limit, uint64_t taken)
{
	return taken < limit ? limit - (uint32_t)taken : 0;
}

static uint64_t until(uint64_t at, uint64_t now)
{
	return at > now ? at - now : 0;
}

static void describe_in_flight(const struct table_look *look, uint32_t cost, bool charged,
			       struct algo_report *out)
{
	uint32_t limit = (uint32_t)look->numbers.capacity;
	*out = (struct algo_report){.limit = limit, .remaining = left(limit, look->held)};
	if (cost > limit)
		out->wait_ns = ALGO_NEVER;
	else if (charged ? cost > out->remaining : !look->allowed)
		out->wait_ns = HINT_NS;
}

static void describe_log(const struct table_look *look, const struct algo_time *t, uint32_t cost,
			 struct algo_report *out)
{
	uint32_t limit = (uint32_t)look->numbers.capacity;
	uint64_t taken = (uint64_t)look->used + look->held;
	*out = (struct algo_report){
		.limit = limit, .remaining = left(limit, taken), .full_ns = until(look->empty_at, t->now)};
	if (cost > limit)
		out->wait_ns = ALGO_NEVER;
	else if (taken + cost > limit) {
		bool known = look->fits_at != 0 && look->fits_at != ALGO_NEVER;
		out->wait_ns = known ? until(look->fits_at, t->now) : 0;
		if (look->held && out->wait_ns < HINT_NS)
			out->wait_ns = HINT_NS;
	}
}

/* Held units take room like used ones, but do not drain. */
static void describe_word(const struct table_look *look, const struct algo_time *t, uint32_t cost,
			  bool charged, struct algo_report *out)
{
	algo_describe(&look->numbers, look->state, t, cost, charged, out);
	if (look->held == 0)
		return;
	struct algo_report beside;
	uint64_t wanted = (uint64_t)cost + look->held;
	if (wanted > ALGO_COUNT_MAX)
		wanted = ALGO_COUNT_MAX;
	out->remaining = left(out->remaining, look->held);
	if (out->wait_ns == ALGO_NEVER || cost == 0)
		return;
	algo_describe(&look->numbers, look->state, t, (uint32_t)wanted, charged, &beside);
	if (beside.wait_ns == ALGO_NEVER)
		out->wait_ns = out->wait_ns > HINT_NS ? out->wait_ns : HINT_NS;
	else
		out->wait_ns = beside.wait_ns;
}

void table_describe(const struct table_look *look, const struct algo_time *t, uint32_t cost, bool charged,
		    struct algo_report *out)
{
	switch (look->numbers.kind) {
	case ALGO_SLIDING_LOG:
		describe_log(look, t, cost, out);
		break;
	case ALGO_CONCURRENT:
		describe_in_flight(look, cost, charged, out);
		break;
	default:
		describe_word(look, t, cost, charged, out);
	}
}
