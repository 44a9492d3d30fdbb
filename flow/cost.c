/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost: what a request costs before it is let through (B22).
 *
 * What a body says costs at least 1, whatever it says: an empty batch is a request all the same. A body that cannot be read, or is cut
 * off before it has said it, may say anything: it costs the policy's most, which is, where none is named, the least that a rate of the
 * limit holds. A header counts from trusted peers only, and may say 0. What is not said costs what the policy says for that; what is
 * more than the policy's most costs the most. The rest comes with the answer: flow/settle.c.
 */
#include "flow/inside.h"
#include "flow/named.h"
#include "flow/take.h"

bool cost_number(struct text text, uint32_t *out)
{
	uint64_t number = 0;
	size_t at = 0;

	text = read_trim(text);
	for (; at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; at++)
		number = number < UINT32_MAX ? number * 10 + (uint64_t)(text.data[at] - '0') : number;
	if (at == 0)
		return false;
	if (at < text.size && text.data[at] == '.') { /* a fraction is rounded up */
		size_t digits = ++at;
		bool more = false;

		for (; at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; at++)
			more |= text.data[at] != '0';
		if (at == digits)
			return false;
		number += more;
	}
	*out = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	return at == text.size;
}

static uint32_t in_body(const struct flow *flow, const struct image_cost *costs, enum body_what what)
{
	const struct inside_answer *answer = inside_ask(flow, image_text(flow->env->image, costs->ask.name),
							what);

	switch (answer->said) {
	case BODY_FOUND:
		return answer->number ? answer->number : 1;
	case BODY_DOUBTFUL:
		return costs->at_most;
	case BODY_NONE:
		break;
	}
	return costs->ask.number;
}

static uint32_t ask(const struct flow *flow, const struct image_cost *costs)
{
	struct named header;
	uint32_t cost;

	switch ((enum image_amount_from)costs->ask.from) {
	case IMAGE_AMOUNT_HEADER:
		if (flow->who.trusted_peer &&
		    named_header(flow->request, image_text(flow->env->image, costs->ask.name), &header) &&
		    cost_number(header.raw, &cost))
			return cost;
		break;
	case IMAGE_AMOUNT_BODY:
		return in_body(flow, costs, BODY_NUMBER);
	case IMAGE_AMOUNT_BODY_COUNT:
		return in_body(flow, costs, BODY_COUNT);
	default:
		break;
	}
	return costs->ask.number;
}

void flow_cost(struct flow *flow)
{
	const struct image_limit *before = NULL;
	uint32_t cost = 1;

	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		const struct image_limit *limit = image_limit_at(flow->env->image, hit->limit);
		const struct image_cost *costs = &limit->costs;

		if (hit->role == FLOW_ROLE_SKIPPED || (hit->what != IMAGE_RATE && hit->what != IMAGE_USAGE))
			continue;
		if (costs->ask.from == IMAGE_AMOUNT_NUMBER) {
			hit->cost =
				limit->cost; /* again, where it was 0 for a value that is not counted any more */
		} else {
			if (limit != before)
				cost = ask(flow, costs);
			hit->cost = costs->at_most && cost > costs->at_most ? costs->at_most : cost;
		}
		before = limit;
		if (hit->seen)
			hit->cost = 0;
	}
}
