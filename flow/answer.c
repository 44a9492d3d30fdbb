/* SPDX-License-Identifier: BSD-2-Clause */
/* answer: the verdict in HTTP's words, on allowed and refused answers alike. */
#include "flow/body.h"
#include "flow/fields.h"

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

/* What describes the binding limit. */
static void describe(const struct flow *flow, uint32_t headers, bool retry_after, int64_t wall,
		     struct writer *w, struct flow_answer *out)
{
	fields_write(flow, headers, wall, w, out);
	if (retry_after && flow->verdict.retry_after_s)
		fields_add_number(out, w, TEXT("Retry-After"), flow->verdict.retry_after_s);
}

/* What the client can quote, and `weir why` reads. */
static void refusal(const struct flow *flow, struct writer *w, struct flow_answer *out)
{
	size_t mark = w->used;

	if (!flow->verdict.refusal[0])
		return;
	writer_text(w, text_of(flow->verdict.refusal));
	fields_add(out, TEXT("Weir-Refusal"), writer_since(w, mark));
}

static struct writer begin(struct flow_answer *out)
{
	memset(out, 0, offsetof(struct flow_answer, buffer));
	out->used = 0;
	return (struct writer){out->buffer, 0, sizeof out->buffer, false};
}

void flow_fields(const struct flow *flow, uint32_t headers, bool retry_after, int64_t wall,
		 struct flow_answer *out)
{
	struct writer w = begin(out);

	if (flow->verdict.limit_index != FLOW_NONE)
		describe(flow, headers, retry_after, wall, &w, out);
	out->used = w.used;
}

void flow_answer(const struct flow *flow, struct text accept, int64_t wall, struct flow_answer *out)
{
	const struct flow_verdict *verdict = &flow->verdict;
	struct writer w = begin(out);

	if (verdict->limit_index != FLOW_NONE && verdict->status != FLOW_MISSING &&
	    verdict->status != FLOW_NEVER) {
		const struct image *image = flow->env->image;
		const struct image_respond *respond = read_respond(
			image, image_limit_at(image, verdict->limit_index)->respond);

		describe(flow, respond->headers, true, wall, &w, out);
		refusal(flow, &w, out);
		if (respond->cors_mirror)
			expose(flow, &w, out);
	} else {
		if (verdict->retry_after_s) /* a ban of the operator's: no limit describes it */
			fields_add_number(out, &w, TEXT("Retry-After"), verdict->retry_after_s);
		refusal(flow, &w, out);
	}
	if (verdict->status == FLOW_UNKNOWN ||
	    (verdict->status == FLOW_MISSING && verdict->http_status == 401))
		fields_add(out, TEXT("WWW-Authenticate"),
			   flow->who.token_said == FLOW_CREDENTIAL_BAD
				   ? TEXT("Bearer error=\"invalid_token\"")
				   : TEXT("Bearer realm=\"api\""));
	if (verdict->location.size)
		fields_add(out, TEXT("Location"), verdict->location);
	if (verdict->action == FLOW_REFUSE || verdict->action == FLOW_CACHED)
		body_write(flow, accept, &w, out);
	out->used = w.used;
}
