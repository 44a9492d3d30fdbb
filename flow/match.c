/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match: which counters the request meets, and whether a list settles it first.
 *
 * The deny list comes before the exempt one: who is on both was denied for a reason. A preflight carries
 * neither credentials nor a choice of its own, so limits that look at those leave it alone, uncounted: it
 * would halve everyone's allowance.
 *
 * A path that can be read in two ways (path.c) counts as both: what limits or denies need match one reading
 * only, what exempts must match every reading.
 */
#include "flow/read.h"

/* The request as seen by each reading of its path; the second may be NULL. */
struct readings {
	const struct image_subject *first, *second;
	int64_t wall_s;
};

static const struct image_exception *denied(const struct image *image, const struct readings *as)
{
	const struct image_exception *entry = image_exception(image, image->deny, as->first, as->wall_s);

	return !entry && as->second ? image_exception(image, image->deny, as->second, as->wall_s) : entry;
}

static const struct image_exception *exempt(const struct image *image, struct image_span list,
					    const struct readings *as)
{
	const struct image_exception *entry = NULL;

	if (list.count && (!as->second || image_exception(image, list, as->second, as->wall_s)))
		entry = image_exception(image, list, as->first, as->wall_s);
	return entry;
}

static void meet(struct flow *flow, const struct image_hit *found, const struct readings *as)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = read_limit(image, found->limit);
	const struct image_exception *exception = flow->exempt ? flow->exempt
							       : exempt(image, limit->exempt, as);
	uint32_t first = (uint32_t)((limit->counters.offset - image->counters.offset) /
				    sizeof(struct image_counter));

	for (uint32_t i = 0; i < limit->counters.count && flow->hit_count < 2 * (size_t)image->hits_max;
	     i++) {
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

static void one_reading(struct flow *flow, const struct readings *as)
{
	struct image_hit found[IMAGE_HITS_MAX];
	size_t count = image_match(flow->env->image, as->first, found, IMAGE_HITS_MAX);

	for (size_t i = 0; i < count; i++)
		meet(flow, &found[i], as);
}

/* Both lists ascend by limit: a merge, in which each limit is met once. */
static void two_readings(struct flow *flow, const struct readings *as)
{
	const struct image *image = flow->env->image;
	struct image_hit a[IMAGE_HITS_MAX], b[IMAGE_HITS_MAX];
	size_t a_count = image_match(image, as->first, a, IMAGE_HITS_MAX);
	size_t b_count = image_match(image, as->second, b, IMAGE_HITS_MAX);

	for (size_t i = 0, k = 0; i < a_count || k < b_count;) {
		bool from_a = k == b_count || (i < a_count && a[i].limit <= b[k].limit);
		const struct image_hit *next = from_a ? &a[i] : &b[k];

		meet(flow, next, as);
		k += k < b_count && b[k].limit == next->limit;
		i += from_a;
	}
}

static void lists_and_limits(struct flow *flow, const struct readings *as)
{
	const struct image *image = flow->env->image;

	flow->deny = denied(image, as);
	if (flow->deny)
		return;
	flow->exempt = exempt(image, image->exempt, as);
	if (as->second)
		two_readings(flow, as);
	else
		one_reading(flow, as);
}

static __attribute__((noinline)) void ambiguous(struct flow *flow, struct readings *as)
{
	char exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1];
	struct image_subject other = flow->subject;

	other.path_exact.data = exact;
	other.path_folded.data = folded;
	flow_path_literal(flow->request->target, exact, &other.path_exact.size, folded,
			  &other.path_folded.size);
	as->second = &other;
	lists_and_limits(flow, as);
}

void flow_match(struct flow *flow)
{
	struct readings as = {.first = &flow->subject,
			      .wall_s = ((int64_t)flow->time.now + flow->time.wall) / 1000000000};

	if (flow->path_ambiguous)
		ambiguous(flow, &as);
	else
		lists_and_limits(flow, &as);
}
