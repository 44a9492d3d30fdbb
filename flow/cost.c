/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost: what a request costs before it is let through (B22).
 *
 * What a body says costs at least 1, whatever it says: an empty batch is a request all the same. A header counts from trusted peers
 * only, and may say 0. What is not said, or is no number, costs what the policy says for that; what is more than the policy's most
 * costs the most. The rest comes with the answer: flow/settle.c.
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

static bool ask(const struct flow *flow, const struct image_amount *amount, uint32_t *out)
{
	struct text name = image_text(flow->env->image, amount->name);
	const struct inside_answer *answer;
	struct named header;

	switch ((enum image_amount_from)amount->from) {
	case IMAGE_AMOUNT_HEADER:
		return flow->who.trusted_peer && named_header(flow->request, name, &header) &&
		       cost_number(header.raw, out);
	case IMAGE_AMOUNT_BODY:
	case IMAGE_AMOUNT_BODY_COUNT:
		answer = inside_ask(flow, name, amount->from == IMAGE_AMOUNT_BODY ? BODY_NUMBER : BODY_COUNT);
		*out = answer->number ? answer->number : 1;
		return answer->said == BODY_FOUND;
	default:
		return false;
	}
}

void flow_cost(struct flow *flow)
{
	const struct image_limit *before = NULL;
	uint32_t cost = 1;

	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];
		const struct image_limit *limit = read_limit(flow->env->image, hit->limit);
		const struct image_cost *costs = &limit->costs;

		if (hit->role == FLOW_ROLE_SKIPPED || (hit->what != IMAGE_RATE && hit->what != IMAGE_USAGE))
			continue;
		if (costs->ask.from == IMAGE_AMOUNT_NUMBER) {
			hit->cost =
				limit->cost; /* again, where it was 0 for a value that is not counted any more */
		} else {
			if (limit != before && !ask(flow, &costs->ask, &cost))
				cost = costs->ask.number;
			hit->cost = costs->at_most && cost > costs->at_most ? costs->at_most : cost;
		}
		before = limit;
		if (hit->seen)
			hit->cost = 0;
	}
}
