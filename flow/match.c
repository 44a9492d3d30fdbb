/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match: which counters the request meets, and whether a list settles it first.
 *
 * The deny list comes before the exempt one: who is on both was denied for a reason. A preflight carries
 * neither credentials nor a choice of its own, so limits that look at those leave it alone, uncounted: it
 * would halve everyone's allowance.
 */
#include "flow/read.h"

static void meet(struct flow *flow, const struct image_hit *found, int64_t wall_s)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = read_limit(image, found->limit);
	const struct image_exception *exception = flow->exempt;
	uint32_t first = (uint32_t)((limit->counters.offset - image->counters.offset) /
				    sizeof(struct image_counter));

	if (!exception && limit->exempt.count)
		exception = image_exception(image, limit->exempt, &flow->subject, wall_s);
	for (uint32_t i = 0; i < limit->counters.count && flow->hit_count < image->hits_max; i++) {
		flow->hits[flow->hit_count++] = (struct flow_hit){
			.limit = found->limit,
			.counter = first + i,
			.clause = found->clause,
			.cost = limit->cost,
			.shadow = limit->mode == IMAGE_SHADOW,
			.exempt = exception != NULL,
			.exception = exception,
			.skipped = flow->preflight && limit->preflight_exempt,
			.allowed = true,
		};
	}
}

void flow_match(struct flow *flow)
{
	const struct image *image = flow->env->image;
	int64_t wall_s = ((int64_t)flow->time.now + flow->time.wall) / 1000000000;
	struct image_hit found[IMAGE_HITS_MAX];
	size_t count;

	flow->deny = image_exception(image, image->deny, &flow->subject, wall_s);
	if (flow->deny)
		return;
	flow->exempt = image_exception(image, image->exempt, &flow->subject, wall_s);
	count = image_match(image, &flow->subject, found, IMAGE_HITS_MAX);
	for (size_t i = 0; i < count; i++)
		meet(flow, &found[i], wall_s);
}
