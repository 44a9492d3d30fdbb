/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * match: which counters the request meets, and whether a list settles it first.
 *
 * The deny list comes before the exempt one: who is on both was denied for a reason. A preflight carries
 * neither credentials nor a choice of its own, so limits that look at those leave it alone, uncounted: it
 * would halve everyone's allowance.
 *
 * A path that can be read in several ways (path.c) counts as all of them: what limits or denies need match
 * one reading only, what exempts must match every one.
 */
#include "flow/read.h"

/* The request as seen by each reading of its path, the widest first. */
struct readings {
	const struct image_subject *subjects[FLOW_PATH_OTHERS + 1];
	size_t count;
	int64_t wall_s;
};

static const struct image_exception *denied(const struct image *image, const struct readings *as)
{
	const struct image_exception *entry = NULL;

	for (size_t i = 0; image->deny.count && !entry && i < as->count; i++)
		entry = image_exception(image, image->deny, as->subjects[i], as->wall_s);
	return entry;
}

/* The entry that the widest reading finds, if every reading finds one. */
static const struct image_exception *exempt(const struct image *image, struct image_span list,
					    const struct readings *as)
{
	const struct image_exception *entry = NULL;

	for (size_t i = list.count ? as->count : 0; i-- > 0;) {
		entry = image_exception(image, list, as->subjects[i], as->wall_s);
		if (!entry)
			return NULL;
	}
	return entry;
}

static enum flow_role role(const struct flow *flow, const struct image_limit *limit,
			   const struct image_exception *exception)
{
	if (flow->preflight && limit->preflight_exempt)
		return FLOW_ROLE_SKIPPED;
	if (exception)
		return FLOW_ROLE_EXEMPT;
	return limit->mode == IMAGE_SHADOW ? FLOW_ROLE_SHADOW : FLOW_ROLE_ENFORCED;
}

static void meet(struct flow *flow, const struct image_hit *found, const struct readings *as)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = read_limit(image, found->limit);
	const struct image_exception *exception = flow->exempt ? flow->exempt
							       : exempt(image, limit->exempt, as);
	uint32_t first = (uint32_t)((limit->counters.offset - image->counters.offset) /
				    sizeof(struct image_counter));

	for (uint32_t i = 0; i < limit->counters.count && flow->hit_count < flow_hits_max(image); i++) {
		struct flow_hit *hit = &flow->hits[flow->hit_count++];

		memset(hit, 0, offsetof(struct flow_hit, ticket)); /* most need no ticket: not worth a line */
		hit->limit = found->limit;
		hit->counter = first + i;
		hit->clause = found->clause;
		hit->what = (uint8_t)read_counter(image, first + i)->what;
		hit->count = (uint8_t)limit->count;
		hit->cost = hit->what == IMAGE_CONCURRENT ? 1 : limit->cost;
		hit->role = (uint8_t)role(flow, limit, exception);
		hit->exception = exception;
		hit->allowed = true;
	}
}

/* Adds to `all` what `more` has besides. Both ascend by limit, and so does the result. */
static size_t join(struct image_hit *all, size_t count, const struct image_hit *more, size_t more_count)
{
	struct image_hit both[IMAGE_HITS_MAX];
	size_t used = 0;

	for (size_t i = 0, k = 0; used < IMAGE_HITS_MAX && (i < count || k < more_count);) {
		bool first = k == more_count || (i < count && all[i].limit <= more[k].limit);

		const struct image_hit *next = first ? &all[i] : &more[k];

		k += k < more_count && more[k].limit == next->limit;
		i += first;
		both[used++] = *next;
	}
	for (size_t i = 0; i < used; i++)
		all[i] = both[i];
	return used;
}

/* Each limit that any reading meets, once. */
static void meet_all(struct flow *flow, const struct readings *as)
{
	struct image_hit all[IMAGE_HITS_MAX], more[IMAGE_HITS_MAX];
	size_t count = image_match(flow->env->image, as->subjects[0], all, IMAGE_HITS_MAX);

	for (size_t i = 1; i < as->count; i++)
		count = join(all, count, more,
			     image_match(flow->env->image, as->subjects[i], more, IMAGE_HITS_MAX));
	for (size_t i = 0; i < count; i++)
		meet(flow, &all[i], as);
}

static void lists_and_limits(struct flow *flow, const struct readings *as)
{
	const struct image *image = flow->env->image;

	flow->deny = denied(image, as);
	if (flow->deny)
		return;
	flow->exempt = exempt(image, image->exempt, as);
	meet_all(flow, as);
}

/* Apart, so that the usual request does not pay for the room. */
static __attribute__((noinline)) void ambiguous(struct flow *flow, const struct readings *widest)
{
	struct readings as = *widest;
	struct flow_path paths[FLOW_PATH_OTHERS + 1];
	struct image_subject others[FLOW_PATH_OTHERS];
	size_t count = flow_path_others(flow->request->target, &flow->path, paths);

	for (size_t i = 0; i < count; i++) {
		others[i] = flow->subject;
		read_path_into(&others[i], &paths[i]);
		as.subjects[as.count++] = &others[i];
	}
	lists_and_limits(flow, &as);
}

void flow_match(struct flow *flow)
{
	struct readings as = {.subjects = {&flow->subject},
			      .count = 1,
			      .wall_s = ((int64_t)flow->time.now + flow->time.wall) / 1000000000};

	if (flow->path_ambiguous)
		ambiguous(flow, &as);
	else
		lists_and_limits(flow, &as);
}
