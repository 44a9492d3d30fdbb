/* SPDX-License-Identifier: BSD-2-Clause */
/* compile_words: what a limit costs, to whom it applies in part, and what it does instead of a refusal and after it. */
#include "algo/ban.h"
#include "policy/compile.h"
#include "table/table.h"

static struct image_limit *limit_at(struct compiler *c, uint32_t number)
{
	const struct image *image = builder_at(&c->builder, 0);

	return (struct image_limit *)builder_at(&c->builder, image->limits.offset) + number;
}

/* The least that a rate of the limit ever holds, plans included: a cost beyond it could never fit. */
static uint32_t least_capacity(const struct model_rate *rates, size_t count, uint32_t least)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t most = model_capacity(&rates[i].numbers);

		if (rates[i].what == IMAGE_RATE && most > 0 && most < least)
			least = most;
	}
	return least;
}

static struct image_cost cost_of(const struct model_limit *limit)
{
	const struct model_cost *said = &limit->costs;
	struct image_cost cost = {
		.ask = {.from = said->ask.from, .number = limit->cost},
		.settle = {.from = said->settle.from},
		.at_most = said->at_most,
		.overdraw = said->overdraw,
	};

	if (cost.at_most == 0)
		cost.at_most = least_capacity(limit->rates, limit->rate_count, ALGO_BURST_MAX);
	for (size_t i = 0; said->at_most == 0 && i < limit->variant_count; i++)
		cost.at_most = least_capacity(limit->variants[i].rates, limit->variants[i].rate_count,
					      cost.at_most);
	/* who does not say what an answer may cost at most has the most reserved: to say nothing must not be cheap */
	if (said->ask.from != IMAGE_AMOUNT_NUMBER)
		cost.ask.number = said->settle.from == IMAGE_AMOUNT_NUMBER ? 1 : cost.at_most;
	else if (said->at_most == 0 && cost.at_most < limit->cost)
		cost.at_most = limit->cost; /* refused, as `weir check` says, and not cut */
	return cost;
}

static bool in_body(uint32_t from)
{
	return from == IMAGE_AMOUNT_BODY || from == IMAGE_AMOUNT_BODY_COUNT;
}

static bool needs_body(const struct model_limit *limit)
{
	bool needs = limit->needs_body || limit->distinct.kind == IMAGE_KEY_BODY ||
		     in_body(limit->costs.ask.from);

	for (size_t i = 0; i < limit->key_count; i++)
		needs |= limit->key[i].kind == IMAGE_KEY_BODY;
	return needs;
}

static struct image_span compile_distinct(struct compiler *c, const struct model_limit *limit)
{
	struct image_key_part part = limit->distinct;
	struct image_span span;

	if (part.kind == IMAGE_KEY_SITE)
		return (struct image_span){0};
	span = builder_span(&c->builder, 1, sizeof part);
	part.name = builder_text(&c->builder, limit->distinct_name);
	memcpy(builder_at(&c->builder, span.offset), &part, sizeof part);
	return span;
}

static struct image_then then_of(const struct model_limit *limit)
{
	struct image_then then = {
		.ban_ns = limit->then.ban_ns,
		.most_ns = limit->then.most_ns,
		.strikes_ns = limit->then.strikes_ns,
		.strikes = limit->then.strikes,
		.ban_row = TABLE_ROW_NONE,
		.strikes_row = TABLE_ROW_NONE,
	};

	if (then.ban_ns > 0) {
		algo_ban_numbers(then.ban_ns, then.most_ns, &then.ban_numbers);
		algo_fixed_window(then.strikes, then.strikes_ns, ALGO_FIRST_REQUEST, &then.strikes_numbers);
	}
	return then;
}

void compile_words(struct compiler *c, const struct model_limit *limit, uint32_t number)
{
	struct image_cost costs = cost_of(limit);
	struct image_text to = builder_text(&c->builder, limit->instead_to);
	struct image_span distinct = compile_distinct(c, limit);
	struct image_limit *out;

	costs.ask.name = builder_text(&c->builder, limit->costs.ask.name);
	costs.settle.name = builder_text(&c->builder, limit->costs.settle.name);
	out = limit_at(c, number); /* the block may have moved */
	out->cost = costs.ask.number;
	out->costs = costs;
	out->percent = limit->percent ? limit->percent : 100;
	out->candidate = limit->candidate;
	out->instead = limit->instead;
	out->instead_to = to;
	out->instead_bytes_per_s = limit->instead_bytes_per_s;
	out->then = then_of(limit);
	out->distinct = distinct;
	memcpy(out->notify, limit->notify, sizeof out->notify);
	out->needs_body = needs_body(limit);
}
