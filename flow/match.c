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

/* The row of the counter under the numbers that hold for this client: those of his billing day, where he has one. */
static uint32_t row_of(const struct flow *flow, const struct image_counter *counter)
{
	const uint32_t *days = image_at(flow->env->image, counter->day_rows.offset);
	unsigned day = flow->who.key_said == FLOW_CREDENTIAL_GOOD ? flow->who.key.billing_day : 0;

	return counter->day_rows.count && day >= 1 && day <= counter->day_rows.count ? days[day - 1]
										     : counter->row;
}

static void meet_counter(struct flow *flow, const struct image_hit *found, uint32_t index,
			 const struct flow_hit *like)
{
	const struct image_limit *limit = image_limit_at(flow->env->image, found->limit);
	const struct image_counter *counter = image_counter_at(flow->env->image, index);
	struct flow_hit *hit = &flow->hits[flow->hit_count];
	bool rate = counter->what == IMAGE_RATE;

	if (flow->hit_count == flow_hits_max(flow->env->image))
		return;
	flow->hit_count++;
	memcpy(hit, like, offsetof(struct flow_hit, ticket));
	hit->counter = index;
	hit->row = row_of(flow, counter);
	hit->what = (uint8_t)counter->what;
	hit->count = (uint8_t)(counter->what == IMAGE_NEW_KEYS ? IMAGE_COUNT_ALL : limit->count);
	hit->cost = rate || counter->what == IMAGE_USAGE || read_paces(hit) ? limit->cost : 1;
	hit->settles = (uint8_t)(rate ? limit->costs.settle.from : IMAGE_AMOUNT_NUMBER);
}

/* The counters that hold for the client's plan, and those of the limit that no plan changes. */
static void meet_span(struct flow *flow, const struct image_hit *found, struct image_span span, bool others,
		      const struct flow_hit *like)
{
	const struct image *image = flow->env->image;
	uint32_t first = (uint32_t)((span.offset - image->counters.offset) / sizeof(struct image_counter));

	for (uint32_t i = first; i < first + span.count; i++) {
		uint32_t what = image_counter_at(image, i)->what;

		if (!others || what == IMAGE_NEW_KEYS || what == IMAGE_USAGE)
			meet_counter(flow, found, i, like);
	}
}

static const struct image_variant *variant_of(const struct flow *flow, const struct image_limit *limit)
{
	const struct image_variant *variants = image_at(flow->env->image, limit->variants.offset);

	for (uint32_t i = 0; i < limit->variants.count && variants[i].plan <= flow->who.plan; i++)
		if (variants[i].plan == flow->who.plan)
			return &variants[i];
	return NULL;
}

static void meet(struct flow *flow, const struct image_hit *found, const struct readings *as)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = image_limit_at(image, found->limit);
	const struct image_variant *variant;
	struct flow_hit like;

	if (limit->who && !(limit->who & flow->subject.who))
		return;
	memset(&like, 0, offsetof(struct flow_hit, ticket)); /* most need no ticket: not worth a line */
	like.limit = found->limit;
	like.clause = found->clause;
	like.exception = flow->exempt ? flow->exempt : exempt(image, limit->exempt, as);
	like.role = (uint8_t)role(flow, limit, like.exception);
	like.allowed = true;
	variant = limit->variants.count ? variant_of(flow, limit) : NULL;
	if (variant && variant->how == IMAGE_VARIANT_UNLIMITED) {
		if (like.role != FLOW_ROLE_SKIPPED)
			like.role = FLOW_ROLE_EXEMPT;
	} else if (variant && variant->how == IMAGE_VARIANT_NEVER) {
		like.never = like.role == FLOW_ROLE_ENFORCED;
	} else if (variant) {
		meet_span(flow, found, variant->counters, false, &like);
		meet_span(flow, found, limit->counters, true, &like);
		return;
	}
	meet_span(flow, found, limit->counters, false, &like);
}

void flow_meet(struct flow *flow, uint32_t limit, uint32_t clause)
{
	const struct readings none = {.count = 0};

	meet(flow, &(struct image_hit){.limit = limit, .clause = clause}, &none);
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
	struct readings as = {.subjects = {&flow->subject}, .count = 1, .wall_s = read_wall_s(&flow->time)};

	if (flow->path_ambiguous)
		ambiguous(flow, &as);
	else
		lists_and_limits(flow, &as);
}
