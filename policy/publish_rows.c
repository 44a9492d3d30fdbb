/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish_rows: every ledger row that an image needs, in one walk, so that publishing, forgetting and checking cannot
 * mean different ones.
 *
 * Beside the row of each counter: the places in a queue, the values that `distinct` has seen, one for each billing day, and the
 * bans and strikes of a limit; of all limits together what the operator bans and grants. Numbers of a plan lie beside the
 * limit's own, under the plan's number (table/ledger.h).
 */
#include "policy/publish.h"
#include "table/siphash.h"

#define OPERATOR "/operator" /* no limit can be called so */

static const struct siphash_key plan_key = {UINT64_C(0x7765697220706c61), UINT64_C(0x6e2d726f77733100)};

struct walk {
	struct image *image;
	bool (*visit)(const struct publish_row *row, void *context);
	void *context;
};

static struct image_counter *counter_at(const struct walk *w, uint32_t index)
{
	return (struct image_counter *)(void *)((char *)w->image + w->image->counters.offset) + index;
}

uint32_t publish_plan(struct text name)
{
	uint32_t hash = (uint32_t)siphash_2_4(&plan_key, name.data, name.size).lo;

	return LEDGER_PLAN(hash, 0) ? hash : 1u << 31; /* 0 means none */
}

static bool put(const struct walk *w, struct publish_row row, uint64_t word)
{
	row.identity ^= word;
	row.main = word == 0 && row.main;
	return w->visit(&row, w->context);
}

static bool visit_days(const struct walk *w, struct publish_row row, struct image_counter *counter,
		       uint32_t hash)
{
	uint32_t *days = (uint32_t *)(void *)((char *)w->image + counter->day_rows.offset);

	row.main = false;
	for (uint32_t day = 1; day <= counter->day_rows.count; day++) {
		if (!algo_billing_day(&counter->numbers, day, &row.numbers))
			return false;
		row.plan = LEDGER_PLAN(hash, day);
		row.row = &days[day - 1];
		if (!put(w, row, 0))
			return false;
	}
	return true;
}

static bool visit_counter(const struct walk *w, uint32_t index, const struct image_limit *limit,
			  uint32_t hash)
{
	struct image_counter *counter = counter_at(w, index);
	struct publish_row row = {
		.counter = index,
		.name = image_text(w->image, limit->name),
		/* a bill is kept while anything else can go */
		.flags = (uint16_t)(counter->what == IMAGE_USAGE
					    ? LEDGER_KEEP
					    : limit->on_full | (uint32_t)LEDGER_QUOTA(limit->quota)),
		.plan = LEDGER_PLAN(hash, counter->day_rows.count > 0),
		.identity = counter->identity,
		.numbers = counter->numbers,
		.row = &counter->row,
		.stat = &counter->stat,
		.main = true,
	};

	if (counter->what == IMAGE_BANDWIDTH) /* counts nothing */
		return true;
	if (!put(w, row, 0) || (counter->day_rows.count > 0 && !visit_days(w, row, counter, hash)))
		return false;
	row.stat = NULL;
	row.plan = LEDGER_PLAN(hash, 0);
	row.numbers = counter->seen;
	row.row = &counter->seen_row;
	if (counter->what == IMAGE_RATE && counter->seen.kind != ALGO_NONE &&
	    !put(w, row, UINT64_C(0x6e656573))) /* "seen" */
		return false;
	/* places in the queue are held like those in flight */
	uint32_t places = counter->queue < ALGO_LOG_MAX ? counter->queue : ALGO_LOG_MAX;
	row.row = &counter->queue_row;
	return counter->what != IMAGE_CONCURRENT || !places || !algo_concurrent(places, &row.numbers) ||
	       put(w, row, UINT64_C(0x7175657565)); /* "queue" */
}

static bool visit_span(const struct walk *w, struct image_span span, const struct image_limit *limit,
		       uint32_t hash)
{
	uint32_t first = (uint32_t)((span.offset - w->image->counters.offset) / sizeof(struct image_counter));

	for (uint32_t i = 0; i < span.count; i++)
		if (!visit_counter(w, first + i, limit, hash))
			return false;
	return true;
}

static bool visit_then(const struct walk *w, struct image_limit *limit)
{
	const struct image_counter *first = image_at(w->image, limit->counters.offset);
	struct publish_row row = {
		.counter = UINT32_MAX,
		.name = image_text(w->image, limit->name),
		.flags = (uint16_t)limit->on_full,
		.identity = first->identity,
		.numbers = limit->then.ban_numbers,
		.row = &limit->then.ban_row,
	};

	if (limit->then.ban_ns == 0)
		return true;
	if (!put(w, row, UINT64_C(0x6e6162))) /* "ban" */
		return false;
	row.numbers = limit->then.strikes_numbers;
	row.row = &limit->then.strikes_row;
	return put(w, row, UINT64_C(0x656b69727473)); /* "strike" */
}

static bool visit_limit(const struct walk *w, uint32_t number)
{
	struct image_limit *limit =
		(struct image_limit *)(void *)((char *)w->image + w->image->limits.offset) + number;
	const struct image_variant *variants = image_at(w->image, limit->variants.offset);
	const struct image_plan *plans = image_at(w->image, w->image->plans.offset);

	if (!visit_span(w, limit->counters, limit, 0))
		return false;
	for (uint32_t i = 0; i < limit->variants.count; i++)
		if (!visit_span(w, variants[i].counters, limit,
				publish_plan(image_text(w->image, plans[variants[i].plan].name))))
			return false;
	return visit_then(w, limit);
}

/* Of what the operator decides nothing is forgotten before others are. */
static bool visit_clients(const struct walk *w)
{
	struct image_clients *clients = &w->image->clients;
	struct publish_row row = {
		.counter = UINT32_MAX,
		.name = TEXT(OPERATOR),
		.flags = LEDGER_KEEP,
		.identity = clients->ban_identity,
		.numbers = clients->ban_numbers,
		.row = &clients->ban_row,
	};

	if (w->image->kind != IMAGE_OF_POLICY) /* nobody is banned from nginx's zones */
		return true;
	if (!put(w, row, 0))
		return false;
	row.identity = clients->grant_identity;
	row.numbers = clients->grant_numbers;
	row.row = &clients->grant_row;
	return put(w, row, 0);
}

bool publish_rows_each(struct image *image, bool (*visit)(const struct publish_row *row, void *context),
		       void *context)
{
	const struct walk w = {image, visit, context};

	for (uint32_t i = 0; i < image->limits.count; i++)
		if (!visit_limit(&w, i))
			return false;
	return visit_clients(&w);
}
