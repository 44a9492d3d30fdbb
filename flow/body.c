/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * body: the refusal, as JSON, as a problem (RFC 9457), as text, as a page, or as a gRPC message.
 *
 * It names the limit and the wait, never the client's key nor the reason noted beside a deny entry: those are
 * for the operator's eyes.
 */
#include "flow/body.h"
#include "flow/negotiate.h"
#include "flow/read.h"

/* What happened, in the forms that bodies are made of. */
struct story {
	struct text error;   /* for programs */
	struct text title;   /* for people */
	struct text type;    /* problem type */
	struct text problem; /* its title */
	bool counted;	     /* a limit refused: it has a name and perhaps a wait */
};

static const struct story stories[] = {
	{{"rate_limited", 12},
	 {"Too many requests", 17},
	 {"https://iana.org/assignments/http-problem-types#quota-exceeded", 62},
	 {"Request cannot be satisfied as assigned quota has been exceeded", 63},
	 true},
	{{"denied", 6}, {"Access denied", 13}, {"about:blank", 11}, {"Access denied", 13}, false},
	{{"missing_key", 11},
	 {"Missing identification", 22},
	 {"about:blank", 11},
	 {"Missing identification", 22},
	 false},
	{{"banned", 6},
	 {"Refused for a while", 19},
	 {"https://iana.org/assignments/http-problem-types#abnormal-usage-detected", 71},
	 {"Request not satisfied as abnormal usage was detected", 52},
	 false},
	{{"unknown_credentials", 19},
	 {"Unknown credentials", 19},
	 {"about:blank", 11},
	 {"Unknown credentials", 19},
	 false},
	{{"not_in_plan", 11},
	 {"Not part of your plan", 21},
	 {"about:blank", 11},
	 {"Not part of your plan", 21},
	 false},
	{{"too_many_at_once", 16},
	 {"Too many requests at the same time", 34},
	 {"https://iana.org/assignments/http-problem-types#quota-exceeded", 62},
	 {"Request cannot be satisfied as assigned quota has been exceeded", 63},
	 true},
};

/* Places in flight are missing. */
static bool at_once(const struct flow *flow)
{
	const struct flow_verdict *verdict = &flow->verdict;

	return verdict->status == FLOW_REJECTED &&
	       image_counter_at(flow->env->image, verdict->counter_index)->what == IMAGE_CONCURRENT;
}

enum { STORY_LIMIT, STORY_DENIED, STORY_MISSING, STORY_BANNED, STORY_UNKNOWN, STORY_NEVER, STORY_AT_ONCE };

static const struct story *story_of(const struct flow *flow)
{
	switch (flow->verdict.status) {
	case FLOW_DENIED:
		return &stories[STORY_DENIED];
	case FLOW_MISSING:
		return &stories[STORY_MISSING];
	case FLOW_BANNED:
		return &stories[STORY_BANNED];
	case FLOW_UNKNOWN:
		return &stories[STORY_UNKNOWN];
	case FLOW_NEVER:
		return &stories[STORY_NEVER];
	default:
		return &stories[at_once(flow) ? STORY_AT_ONCE : STORY_LIMIT];
	}
}

static void sentence(const struct flow *flow, struct writer *w)
{
	const struct flow_verdict *verdict = &flow->verdict;

	if (verdict->status == FLOW_DENIED) {
		writer_text(w, TEXT("Access denied."));
	} else if (verdict->status == FLOW_MISSING) {
		static const struct text wanted[] = {
			[FLOW_WANTED_NOTHING] = TEXT("This request does not carry what it is counted by."),
			[FLOW_WANTED_KEY] = TEXT("This request needs an API key: send one."),
			[FLOW_WANTED_TOKEN] = TEXT("This request needs a token: send one."),
		};
		writer_text(w,
			    wanted[verdict->http_status == 401 ? flow_who_wanted(flow, verdict->limit_index)
							       : FLOW_WANTED_NOTHING]);
	} else if (verdict->status == FLOW_UNKNOWN) {
		writer_text(
			w, TEXT("The API key or token of this request is not known, or not valid any more."));
	} else if (verdict->status == FLOW_NEVER) {
		writer_text(w, TEXT("Your plan does not include this."));
	} else if (verdict->retry_after_s == 0) {
		writer_text(w, TEXT("Too many requests: this one exceeds what the limit ever allows."));
	} else {
		writer_text(w, verdict->status == FLOW_BANNED ? TEXT("Refused for a while: try again in ")
			       : at_once(flow) ? TEXT("Too many requests at the same time: try again in ")
					       : TEXT("Too many requests: try again in "));
		writer_number(w, verdict->retry_after_s);
		writer_text(w, verdict->retry_after_s == 1 ? TEXT(" second.") : TEXT(" seconds."));
	}
}

static struct text limit_name(const struct flow *flow)
{
	const struct image *image = flow->env->image;

	return image_text(image, image_limit_at(image, flow->verdict.limit_index)->name);
}

/* Its id, for support to ask for: letters and digits only. */
static void refusal(const struct flow *flow, struct writer *w, struct text before, struct text after)
{
	if (!flow->verdict.refusal[0])
		return;
	writer_text(w, before);
	writer_text(w, text_of(flow->verdict.refusal));
	writer_text(w, after);
}

static void json(const struct flow *flow, const struct story *story, struct writer *w)
{
	writer_text(w, TEXT("{\"error\":\""));
	writer_text(w, story->error);
	writer_text(w, TEXT("\",\"message\":\""));
	sentence(flow, w);
	writer_text(w, TEXT("\""));
	if (flow->verdict.limit_index != FLOW_NONE) {
		writer_text(w, TEXT(",\"limit\":"));
		writer_json(w, limit_name(flow));
	}
	if (flow->verdict.retry_after_s) {
		writer_text(w, TEXT(",\"retryAfter\":"));
		writer_number(w, flow->verdict.retry_after_s);
	}
	refusal(flow, w, TEXT(",\"id\":\""), TEXT("\""));
	writer_text(w, TEXT("}\n"));
}

static void problem(const struct flow *flow, const struct story *story, struct writer *w)
{
	writer_text(w, TEXT("{\"type\":\""));
	writer_text(w, story->type);
	writer_text(w, TEXT("\",\"title\":\""));
	writer_text(w, story->problem);
	writer_text(w, TEXT("\",\"status\":"));
	writer_number(w, flow->verdict.http_status);
	writer_text(w, TEXT(",\"detail\":\""));
	sentence(flow, w);
	writer_text(w, TEXT("\""));
	if (story->counted) { /* the name of the counter, as in RateLimit-Policy */
		const struct image *image = flow->env->image;
		writer_text(w, TEXT(",\"violated-policies\":["));
		writer_json(w, image_text(image, image_counter_at(image, flow->verdict.counter_index)->name));
		writer_text(w, TEXT("]"));
	}
	refusal(flow, w, TEXT(",\"instance\":\"urn:weir:"), TEXT("\""));
	writer_text(w, TEXT("}\n"));
}

static void page(const struct flow *flow, const struct story *story, struct writer *w)
{
	writer_text(w, TEXT("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>"));
	writer_text(w, story->title);
	writer_text(w, TEXT("</title></head>\n<body><h1>"));
	writer_text(w, story->title);
	writer_text(w, TEXT("</h1><p>"));
	sentence(flow, w);
	writer_text(w, TEXT("</p>"));
	refusal(flow, w, TEXT("\n<p><small>"), TEXT("</small></p>"));
	writer_text(w, TEXT("</body>\n</html>\n"));
}

static void grpc(const struct flow *flow, const struct story *story, struct writer *w,
		 struct flow_answer *out)
{
	char plain[256];
	struct writer message = {.data = plain, .size = sizeof plain};
	size_t mark = w->used;
	struct text type;

	sentence(flow, &message);
	writer_percent(w, writer_since(&message, 0));
	out->body = writer_since(w, mark);
	out->grpc = true;
	out->grpc_status = story->counted ? 8 : flow->verdict.http_status == 401 ? 16 : 7;
	out->content_type = TEXT("application/grpc");
	if (read_header(flow->request, TEXT("content-type"), 0, &type) && type.size >= 20 &&
	    text_equal_folded((struct text){type.data, 20}, TEXT("application/grpc-web")))
		out->content_type = TEXT("application/grpc-web");
}

/* The configured form; a page of the operator's own is about a limit that was reached, nothing else. */
static enum negotiate_kind configured(const struct story *story, const struct image_respond *respond)
{
	switch (respond ? (enum image_body)respond->body : IMAGE_BODY_JSON) {
	case IMAGE_BODY_PROBLEM:
		return NEGOTIATE_PROBLEM;
	case IMAGE_BODY_TEXT:
		return NEGOTIATE_TEXT;
	case IMAGE_BODY_FILE:
		return story->counted ? NEGOTIATE_FILE : NEGOTIATE_JSON;
	default:
		return NEGOTIATE_JSON;
	}
}

void body_write(const struct flow *flow, struct text accept, struct writer *writer, struct flow_answer *out)
{
	const struct image *image = flow->env->image;
	const struct image_respond *respond = NULL;
	const struct story *story = story_of(flow);
	struct text file_type = {NULL, 0};
	size_t mark = writer->used;

	if (flow->grpc) {
		grpc(flow, story, writer, out);
		return;
	}
	if (flow->verdict.limit_index != FLOW_NONE) {
		respond = read_respond(image, image_limit_at(image, flow->verdict.limit_index)->respond);
		file_type = image_text(image, respond->file_type);
	}
	switch (negotiate(accept, configured(story, respond), file_type)) {
	case NEGOTIATE_FILE:
		out->content_type = file_type;
		out->body = respond ? image_text(image, respond->file_text) : TEXT("");
		return;
	case NEGOTIATE_PROBLEM:
		problem(flow, story, writer);
		out->content_type = TEXT("application/problem+json");
		break;
	case NEGOTIATE_TEXT:
		sentence(flow, writer);
		writer_text(writer, TEXT("\n"));
		out->content_type = TEXT("text/plain; charset=utf-8");
		break;
	case NEGOTIATE_HTML:
		page(flow, story, writer);
		out->content_type = TEXT("text/html; charset=utf-8");
		break;
	default:
		json(flow, story, writer);
		out->content_type = TEXT("application/json");
		break;
	}
	out->body = writer_since(writer, mark);
}
