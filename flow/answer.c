/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer: the verdict in HTTP's words, on allowed and refused answers alike.
 *
 * X-RateLimit-Reset is epoch seconds, as GitHub and most clients have it. RateLimit and RateLimit-Policy are
 * those of draft-ietf-httpapi-ratelimit-headers-11: structured fields, names in quotes, t the seconds within
 * which no more than r can be used. All numbers come from one look at one state.
 */
#include "flow/body.h"
#include "flow/read.h"

#define POLICY_ROOM                                                                                          \
	768u /* of the buffer, for RateLimit-Policy: what does not fit is left out, the binding limit never  \
	      */

static void add(struct flow_answer *out, struct text name, struct text value)
{
	if (out->header_count < FLOW_HEADERS_MAX)
		out->headers[out->header_count++] = (struct flow_header){name, value};
}

static void add_number(struct flow_answer *out, struct writer *w, struct text name, uint64_t number)
{
	size_t mark = w->used;

	writer_number(w, number);
	add(out, name, writer_since(w, mark));
}

static bool policy(const struct image *image, uint32_t counter_index, struct writer *w, bool first)
{
	const struct image_counter *counter = read_counter(image, counter_index);
	uint64_t window_s = counter->window_ns / 1000000000 + (counter->window_ns % 1000000000 != 0);
	size_t mark = w->used;

	if (!first)
		writer_text(w, TEXT(", "));
	writer_field_string(w, image_text(image, counter->name));
	writer_text(w, TEXT(";q="));
	writer_number(w, counter->capacity);
	writer_text(w, TEXT(";w="));
	writer_number(w, window_s ? window_s : 1);
	if (!w->full)
		return true;
	w->used = mark;
	w->full = false;
	return false;
}

/* The binding limit, then the others that this request was counted by. */
static void policies(const struct flow *flow, struct writer *w, struct flow_answer *out)
{
	const struct image *image = flow->env->image;
	struct writer part = {w->data + w->used, 0, POLICY_ROOM, false};

	if (!policy(image, flow->verdict.counter_index, &part, true))
		return;
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		if (!read_enforced(hit) || hit->counter == flow->verdict.counter_index ||
		    read_limit(image, hit->limit)->shared)
			continue;
		if (!policy(image, hit->counter, &part, false))
			break;
	}
	w->used += part.used;
	add(out, TEXT("RateLimit-Policy"), writer_since(&part, 0));
}

static void ratelimit(const struct flow *flow, struct writer *w, struct flow_answer *out)
{
	const struct flow_verdict *verdict = &flow->verdict;
	size_t mark = w->used;

	writer_field_string(w, image_text(flow->env->image,
					  read_counter(flow->env->image, verdict->counter_index)->name));
	writer_text(w, TEXT(";r="));
	writer_number(w, verdict->remaining);
	if (verdict->effective_s) {
		writer_text(w, TEXT(";t="));
		writer_number(w, verdict->effective_s);
	}
	add(out, TEXT("RateLimit"), writer_since(w, mark));
}

/* A script reads only the headers it is shown (Fetch, CORS-exposed response headers). */
static void expose(const struct flow *flow, struct writer *w, struct flow_answer *out)
{
	size_t mark = w->used;

	if (!read_present(flow->request, TEXT("origin")))
		return;
	for (size_t i = 0; i < out->header_count; i++) {
		if (i)
			writer_text(w, TEXT(", "));
		writer_text(w, out->headers[i].name);
	}
	out->expose = writer_since(w, mark);
}

void flow_answer(const struct flow *flow, struct text accept, int64_t wall, struct flow_answer *out)
{
	const struct flow_verdict *verdict = &flow->verdict;
	struct writer w = {out->buffer, 0, sizeof out->buffer, false};

	memset(out, 0, offsetof(struct flow_answer, buffer));
	out->used = 0;
	if (verdict->limit_index != FLOW_NONE && verdict->status != FLOW_MISSING) {
		const struct image *image = flow->env->image;
		const struct image_respond *respond = read_respond(
			image, read_limit(image, verdict->limit_index)->respond);

		if (respond->headers & IMAGE_HEADERS_X_RATELIMIT) {
			add_number(out, &w, TEXT("X-RateLimit-Limit"), verdict->limit);
			add_number(out, &w, TEXT("X-RateLimit-Remaining"), verdict->remaining);
			add_number(out, &w, TEXT("X-RateLimit-Reset"),
				   (uint64_t)(wall > 0 ? wall : 0) + verdict->reset_s);
		}
		if (respond->headers & IMAGE_HEADERS_RATELIMIT) {
			policies(flow, &w, out);
			ratelimit(flow, &w, out);
		}
		if (verdict->retry_after_s)
			add_number(out, &w, TEXT("Retry-After"), verdict->retry_after_s);
		if (respond->cors_mirror)
			expose(flow, &w, out);
	}
	if (verdict->action == FLOW_REFUSE)
		body_write(flow, accept, &w, out);
	out->used = w.used;
}
