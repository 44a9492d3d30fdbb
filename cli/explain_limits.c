/* SPDX-License-Identifier: BSD-2-Clause */
/* explain_limits: which limits the request meets, with their counters, and what keeps the others away. */
#include <stdio.h>

#include "cli/counter.h"
#include "cli/explain.h"
#include "cli/out.h"

/* Does the clause hold if of all its conditions only `keep` (a bit of has) counts? */
static bool holds_alone(const struct image *image, const struct image_clause *clause, uint32_t keep,
			const struct image_subject *subject)
{
	struct image_clause alone = *clause;
	alone.has &= keep;
	if (keep != IMAGE_HAS_METHOD)
		alone.methods = IMAGE_METHOD_ANY;
	alone.headers.count = alone.nots.count = 0;
	return image_clause_holds(image, &alone, subject);
}

/* The first condition that does not hold, in words. */
static void why_not(const struct image *image, const struct image_clause *clause, const struct flow *flow,
		    char *out, size_t size)
{
	const struct image_subject *subject = &flow->subject;
	const struct image_header_test *tests = image_at(image, clause->headers.offset);
	const struct image_clause *nots = image_at(image, clause->nots.offset);
	if (!holds_alone(image, clause, IMAGE_HAS_PATH, subject)) {
		snprintf(out, size, "another path");
	} else if (!holds_alone(image, clause, IMAGE_HAS_METHOD, subject)) {
		char method[32];
		out_escape(flow->request->method, method, sizeof method);
		snprintf(out, size, "the method is %s", method);
	} else if (!holds_alone(image, clause, IMAGE_HAS_HOST, subject)) {
		snprintf(out, size, "another host");
	} else if (!holds_alone(image, clause, IMAGE_HAS_IP, subject)) {
		snprintf(out, size, "the client is in none of its networks");
	} else {
		for (uint32_t i = 0; i < clause->headers.count; i++) {
			struct image_clause alone = {
				.methods = IMAGE_METHOD_ANY,
				.headers = {clause->headers.offset + i * (uint32_t)sizeof *tests, 1}};
			struct text name = image_text(image, tests[i].name);
			if (image_clause_holds(image, &alone, subject))
				continue;
			snprintf(out, size, "header %.*s %s", (int)name.size, name.data,
				 tests[i].how == IMAGE_PRESENT ? "is missing" : "says something else");
			return;
		}
		for (uint32_t i = 0; i < clause->nots.count; i++)
			if (image_clause_holds(image, &nots[i], subject)) {
				snprintf(out, size, "its `not` holds");
				return;
			}
		snprintf(out, size, "it does not hold");
	}
}

static const char *role(const struct flow_hit *hit)
{
	if (hit->denied)
		return "refuses: its key is missing";
	if (hit->role == FLOW_ROLE_SKIPPED)
		return hit->missing ? "left out: its key is missing" : "left out: a CORS preflight";
	if (hit->role == FLOW_ROLE_EXEMPT)
		return "counts, never refuses: exempt";
	if (hit->role == FLOW_ROLE_SHADOW)
		return "counts, never refuses: shadow";
	return "enforced";
}

/* The hits of one limit from *at on; moves *at behind them. */
static void matched(const struct live *live, const struct flow *flow, size_t *at, json_t *out)
{
	const struct flow_hit *first = &flow->hits[*at];
	char key[256];
	json_t *counters = json_array();
	json_object_set_new(out, "matches", json_true());
	if (first->clause != UINT32_MAX)
		json_object_set_new(
			out, "route",
			out_own(image_text(live->image, image_clause_at(live->image, first->clause)->text)));
	json_object_set_new(out, "role", json_string(role(first)));
	if (!first->denied && first->role != FLOW_ROLE_SKIPPED)
		json_object_set_new(
			out, "key",
			out_hostile((struct text){key, flow_key_text(flow, first, key, sizeof key)}));
	for (; *at < flow->hit_count && flow->hits[*at].limit == first->limit; ++*at) {
		const struct flow_hit *hit = &flow->hits[*at];
		bool keyless = hit->denied || hit->role == FLOW_ROLE_SKIPPED;
		json_array_append_new(counters,
				      keyless ? counter_name_json(live, hit) : counter_json(live, flow, hit));
	}
	json_object_set_new(out, "counters", counters);
}

static void unmatched(const struct live *live, const struct flow *flow, const struct image_limit *limit,
		      json_t *out)
{
	char why[320] = "disabled";
	const struct image_clause *clauses = image_at(live->image, limit->clauses.offset);
	if (flow->deny)
		snprintf(why, sizeof why, "the deny list comes first");
	else if (limit->mode != IMAGE_DISABLED && limit->clauses.count > 0)
		why_not(live->image, &clauses[0], flow, why, sizeof why);
	for (uint32_t i = 1; !flow->deny && limit->mode != IMAGE_DISABLED && i < limit->clauses.count; i++) {
		char other[320];
		why_not(live->image, &clauses[i], flow, other, sizeof other);
		if (strcmp(why, other) != 0)
			snprintf(why, sizeof why, "none of its %u matches holds", limit->clauses.count);
	}
	json_object_set_new(out, "matches", json_false());
	json_object_set_new(out, "why", out_own(text_of(why)));
}

json_t *explain_limits(const struct live *live, const struct flow *flow)
{
	json_t *list = json_array();
	size_t at = 0;
	for (uint32_t i = 0; i < live->image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(live->image, i);
		json_t *out = json_pack("{s:o, s:o}", "name", out_own(image_text(live->image, limit->name)),
					"match", out_own(image_text(live->image, limit->match_text)));
		if (at < flow->hit_count && flow->hits[at].limit == i)
			matched(live, flow, &at, out);
		else
			unmatched(live, flow, limit, out);
		json_array_append_new(list, out);
	}
	return list;
}
