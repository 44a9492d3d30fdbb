/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_limits: what a client reads about itself, for free.
 *
 * Every limit is met as if the request were for what it matches, and looked at; nothing is charged. Left out are those that no
 * request to this path says anything about: whose key is a route or a field of a body, or is not there; those whose key anybody can
 * say, since it may be somebody else's (a header, a cookie); those that speak for everyone; and what only the operator is to know:
 * shadow limits, candidates.
 *
 * Of the limits that are met by this path itself those of a minute at most, by address or for the whole site, hold here as anywhere: what
 * costs nothing could be asked without end. The others do not: who has used up his hour wants to read just that. None of them is
 * charged, but by those who come with a key or token that is none: else keys could be guessed here, unlimited.
 */
#include "flow/own_limits.h"

#include "flow/take.h"
#include "flow/usage.h"
#include "flow/writer.h"

#define SECOND UINT64_C(1000000000)
#define END    TEXT("]}\n")
#define MOST   256u /* limits, the first of the policy: what is free must be cheap */

bool own_limits_asked(const struct flow *flow)
{
	struct text path = image_text(flow->env->image, flow->env->image->clients.own_limits);
	struct text method = flow->request->method;

	return path.size && text_equal(path, (struct text){flow->path.exact, flow->path.exact_size}) &&
	       (text_equal(method, TEXT("GET")) || text_equal(method, TEXT("HEAD")));
}

static bool guesses(const struct flow *flow)
{
	return flow->who.key_said == FLOW_CREDENTIAL_BAD || flow->who.token_said == FLOW_CREDENTIAL_BAD;
}

static enum flow_step charge(struct flow *flow)
{
	enum flow_step step = flow_decide(flow);

	if (flow_who_refused(flow)) /* 401, which settles what is reserved */
		return step;
	for (size_t i = 0; step == FLOW_DONE && i < flow->hit_count; i++)
		if (flow->hits[i].held)
			take_back(flow, &flow->hits[i]);
	return step;
}

/* It protects the site, and is no client's allowance. */
static bool edge(const struct image *image, const struct flow_hit *hit)
{
	const struct image_limit *limit = image_limit_at(image, hit->limit);
	const struct image_key_part *parts = image_at(image, limit->key.offset);

	for (uint32_t i = 0; i < limit->key.count; i++)
		if (parts[i].kind != IMAGE_KEY_IP && parts[i].kind != IMAGE_KEY_SITE)
			return false;
	return image_counter_at(image, hit->counter)->window_ns <= 60 * SECOND;
}

enum flow_step own_limits_decide(struct flow *flow)
{
	bool pass = true;

	if (guesses(flow))
		return charge(flow);
	for (size_t i = 0; i < flow->hit_count; i++) {
		struct flow_hit *hit = &flow->hits[i];

		if (!read_enforced(hit) || !edge(flow->env->image, hit))
			continue;
		hit->allowed = !hit->denied && !hit->never && take_would_pass(flow, hit);
		pass = pass && hit->allowed;
	}
	if (pass)
		flow->hit_count = 0;
	return FLOW_DONE;
}

/* Is it the client's own, and nobody else's? */
static bool told(const struct image *image, const struct image_limit *limit)
{
	const struct image_key_part *parts = image_at(image, limit->key.offset);

	for (uint32_t i = 0; i < limit->key.count; i++)
		switch ((enum image_key_kind)parts[i].kind) {
		case IMAGE_KEY_ROUTE:
		case IMAGE_KEY_PATH:
		case IMAGE_KEY_METHOD:
		case IMAGE_KEY_BODY:
		case IMAGE_KEY_HEADER:
		case IMAGE_KEY_COOKIE:
		case IMAGE_KEY_QUERY:
		case IMAGE_KEY_VAR:
			return false;
		default:
			break;
		}
	return limit->mode == IMAGE_ENFORCE && limit->candidate == 0 && !limit->shared;
}

static void field(struct writer *writer, struct text name, uint64_t number)
{
	writer_text(writer, TEXT(",\""));
	writer_text(writer, name);
	writer_text(writer, TEXT("\":"));
	writer_number(writer, number);
}

static uint64_t seconds(uint64_t ns)
{
	return ns / SECOND + (ns % SECOND != 0);
}

static void entry(struct flow *flow, struct flow_hit *hit, bool *first, struct writer *writer)
{
	const struct image *image = flow->env->image;
	const struct image_counter *counter = image_counter_at(image, hit->counter);
	struct algo_report report;

	if (hit->role != FLOW_ROLE_ENFORCED || hit->missing || hit->denied || hit->never ||
	    (hit->what != IMAGE_RATE && hit->what != IMAGE_CONCURRENT))
		return;
	take_look(flow, hit);
	if (hit->look.numbers.kind == ALGO_NONE) /* the table could not say */
		return;
	table_describe(&hit->look, &flow->time, hit->cost, false, &report);
	uint64_t used = report.limit - report.remaining;
	usage_soft(counter, &report);
	if (!*first)
		writer_text(writer, TEXT(","));
	writer_text(writer, TEXT("{\"name\":"));
	writer_json(writer, image_text(image, counter->name));
	writer_text(writer, TEXT(",\"match\":"));
	writer_json(writer, image_text(image, image_limit_at(image, hit->limit)->match_text));
	field(writer, TEXT("limit"), report.limit);
	field(writer, TEXT("used"), used);
	field(writer, TEXT("remaining"), report.remaining);
	field(writer, TEXT("reset"), flow_reset_s(&hit->look.numbers, &report));
	field(writer, TEXT("window"), seconds(counter->window_ns));
	writer_text(writer, TEXT("}"));
	*first = *first && writer->full;
}

size_t flow_own_limits(struct flow *flow, char *out, size_t size)
{
	const struct image *image = flow->env->image;
	const struct image_plan *plans = image_at(image, image->plans.offset);
	struct writer writer = {out, 0, size > END.size ? size - END.size : 0, false};
	bool first = true;
	unsigned count = 0;

	writer_text(&writer, TEXT("{\"plan\":"));
	if (flow->who.plan < image->plans.count)
		writer_json(&writer, image_text(image, plans[flow->who.plan].name));
	else
		writer_text(&writer, TEXT("null"));
	writer_text(&writer, TEXT(",\"limits\":["));
	if (writer.full)
		return 0;
	for (uint32_t i = 0; i < image->limits.count && count < MOST && !writer.full; i++) {
		if (!told(image, image_limit_at(image, i)))
			continue;
		count++;
		flow->hit_count = 0;
		flow_meet(flow, i, UINT32_MAX);
		flow_key(flow, false);
		for (size_t k = 0; k < flow->hit_count && !writer.full; k++) {
			size_t mark = writer.used;

			entry(flow, &flow->hits[k], &first, &writer);
			if (writer.full)
				writer.used = mark;
		}
	}
	flow->hit_count = 0;
	memcpy(out + writer.used, END.data, END.size);
	return writer.used + END.size;
}
