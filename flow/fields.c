/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields: how an answer tells what is left. All numbers come from one look at one state.
 *
 *   X-RateLimit-*   -Reset in epoch seconds as most clients have it, or in seconds from now; GitHub's -Used and
 *                   -Resource beside them
 *   draft 11        RateLimit and RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers-11: structured fields,
 *                   t the seconds within which no more than r can be used
 *   draft 7, 6      its older forms. reset is when the quota is whole again; on a refusal Retry-After, which may not
 *                   be earlier. They know quotas in time only: places in flight are not told in them
 *
 * Places in flight have no reset, no window and no t: they are free when another request ends.
 */
#include "flow/fields.h"

#define POLICY_ROOM                                                                                          \
	768u /* of the buffer, for RateLimit-Policy: what does not fit is left out, the binding limit never  \
	      */

enum form { DRAFT_6, DRAFT_7, DRAFT_11 };

void fields_add(struct flow_answer *out, struct text name, struct text value)
{
	if (out->header_count < FLOW_HEADERS_MAX)
		out->headers[out->header_count++] = (struct flow_header){name, value};
}

void fields_add_number(struct flow_answer *out, struct writer *writer, struct text name, uint64_t number)
{
	size_t mark = writer->used;

	writer_number(writer, number);
	fields_add(out, name, writer_since(writer, mark));
}

static const struct image_counter *binding(const struct flow *flow)
{
	return image_counter_at(flow->env->image, flow->verdict.counter_index);
}

static struct text binding_name(const struct flow *flow)
{
	return image_text(flow->env->image, binding(flow)->name);
}

static bool in_flight(const struct flow *flow)
{
	return binding(flow)->what == IMAGE_CONCURRENT;
}

static void x_ratelimit(const struct flow *flow, uint32_t headers, int64_t wall, struct writer *w,
			struct flow_answer *out)
{
	const struct flow_verdict *verdict = &flow->verdict;
	uint64_t now_s = headers & IMAGE_HEADERS_DELTA || wall < 0 ? 0 : (uint64_t)wall;

	fields_add_number(out, w, TEXT("X-RateLimit-Limit"), verdict->limit);
	fields_add_number(out, w, TEXT("X-RateLimit-Remaining"), verdict->remaining);
	if (!in_flight(flow))
		fields_add_number(out, w, TEXT("X-RateLimit-Reset"), now_s + verdict->reset_s);
	if (headers & IMAGE_HEADERS_GITHUB) {
		fields_add_number(out, w, TEXT("X-RateLimit-Used"),
				  verdict->limit > verdict->remaining ? verdict->limit - verdict->remaining
								      : 0);
		fields_add(out, TEXT("X-RateLimit-Resource"), binding_name(flow));
	}
}

/* What the hit's counter lets pass, and in which time. Of those that are asked with a bound (algo_bounded): as this request
 * asked. */
static uint32_t quota(const struct flow *flow, const struct flow_hit *hit, uint64_t *window_ns)
{
	const struct image_counter *counter = image_counter_at(flow->env->image, hit->counter);
	enum algo_kind kind = hit->look.numbers.kind;
	struct algo_report report;

	*window_ns = counter->window_ns;
	if (kind != ALGO_LIMIT_REQ && kind != ALGO_CONCURRENT)
		return counter->soft ? counter->soft : counter->capacity;
	if (kind == ALGO_LIMIT_REQ)
		*window_ns = algo_window_ns(&hit->look.numbers);
	flow_hit_report(flow, hit, &report);
	return report.limit;
}

/* One entry of RateLimit-Policy. False: no room. */
static bool policy(const struct flow *flow, const struct flow_hit *hit, enum form form, struct writer *w)
{
	const struct image *image = flow->env->image;
	const struct image_counter *counter = image_counter_at(image, hit->counter);
	uint64_t window_ns, window_s;
	uint32_t most = quota(flow, hit, &window_ns);
	size_t mark = w->used;

	window_s = window_ns / 1000000000 + (window_ns % 1000000000 != 0);

	if (mark)
		writer_text(w, TEXT(", "));
	if (form == DRAFT_11) {
		writer_field_string(w, image_text(image, counter->name));
		writer_text(w, TEXT(";q="));
	}
	writer_number(w, most);
	if (counter->what == IMAGE_CONCURRENT) {
		writer_text(w, TEXT(";qu=\"concurrent-requests\""));
	} else {
		writer_text(w, TEXT(";w="));
		writer_number(w, window_s ? window_s : 1);
	}
	if (!w->full)
		return true;
	w->used = mark;
	w->full = false;
	return false;
}

/* The binding limit, then the others that this request was counted by. */
static void policies(const struct flow *flow, enum form form, struct writer *w, struct flow_answer *out)
{
	const struct image *image = flow->env->image;
	struct writer part = {w->data + w->used, 0, POLICY_ROOM, false};

	for (size_t i = 0; (form == DRAFT_11 || !in_flight(flow)) && i < flow->hit_count; i++)
		if (flow->hits[i].counter == flow->verdict.counter_index) {
			policy(flow, &flow->hits[i], form, &part);
			break;
		}
	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		const struct image_counter *counter = image_counter_at(image, hit->counter);
		if (!read_enforced(hit) || hit->counter == flow->verdict.counter_index ||
		    image_limit_at(image, hit->limit)->shared ||
		    (counter->what == IMAGE_CONCURRENT && form != DRAFT_11))
			continue;
		if (!policy(flow, hit, form, &part))
			break;
	}
	w->used += part.used;
	if (part.used)
		fields_add(out, TEXT("RateLimit-Policy"), writer_since(&part, 0));
}

static void structured(const struct flow *flow, struct writer *w, struct flow_answer *out)
{
	const struct flow_verdict *verdict = &flow->verdict;
	size_t mark = w->used;

	writer_field_string(w, binding_name(flow));
	writer_text(w, TEXT(";r="));
	writer_number(w, verdict->remaining);
	if (verdict->effective_s) {
		writer_text(w, TEXT(";t="));
		writer_number(w, verdict->effective_s);
	}
	fields_add(out, TEXT("RateLimit"), writer_since(w, mark));
}

static void older(const struct flow *flow, enum form form, struct writer *w, struct flow_answer *out)
{
	const struct flow_verdict *verdict = &flow->verdict;
	uint64_t reset_s = verdict->retry_after_s ? verdict->retry_after_s : verdict->reset_s;
	size_t mark = w->used;

	if (in_flight(flow))
		return;
	if (form == DRAFT_6) {
		fields_add_number(out, w, TEXT("RateLimit-Limit"), verdict->limit);
		fields_add_number(out, w, TEXT("RateLimit-Remaining"), verdict->remaining);
		fields_add_number(out, w, TEXT("RateLimit-Reset"), reset_s);
		return;
	}
	writer_text(w, TEXT("limit="));
	writer_number(w, verdict->limit);
	writer_text(w, TEXT(", remaining="));
	writer_number(w, verdict->remaining);
	writer_text(w, TEXT(", reset="));
	writer_number(w, reset_s);
	fields_add(out, TEXT("RateLimit"), writer_since(w, mark));
}

void fields_write(const struct flow *flow, uint32_t headers, int64_t wall, struct writer *writer,
		  struct flow_answer *out)
{
	enum form form = headers & IMAGE_HEADERS_RATELIMIT ? DRAFT_11
			 : headers & IMAGE_HEADERS_DRAFT_7 ? DRAFT_7
							   : DRAFT_6;

	if (headers & IMAGE_HEADERS_X)
		x_ratelimit(flow, headers, wall, writer, out);
	if (!(headers & IMAGE_HEADERS_DRAFTS))
		return;
	policies(flow, form, writer, out);
	if (form == DRAFT_11)
		structured(flow, writer, out);
	else
		older(flow, form, writer, out);
}
