/* SPDX-License-Identifier: BSD-2-Clause */
/* explain_walk: runs the flow dry and writes down what each station said. */
#include <stdlib.h>

#include "cli/explain.h"
#include "cli/out.h"

static json_t *policy_json(const struct live *live)
{
	return json_pack("{s:o, s:I, s:o}", "source", out_own(image_text(live->image, live->image->source)),
			 "generation", (json_int_t)live->image->generation, "table",
			 live->folder[0] ? json_null() : out_own(text_of(table_path(live->table))));
}

static json_t *request_json(const struct flow *flow)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:b}", "method", out_hostile(flow->request->method),
			 "target", out_hostile(flow->request->target), "path",
			 out_hostile(flow->subject.path_folded), "host", out_hostile(flow->subject.host),
			 "preflight", flow->preflight, "grpc", flow->grpc);
}

static json_t *exception_json(const struct live *live, const struct image_exception *exception)
{
	if (!exception)
		return json_null();
	return json_pack("{s:o, s:o}", "reason", out_own(image_text(live->image, exception->reason)), "until",
			 exception->until ? json_integer(exception->until) : json_null());
}

static json_t *verdict_json(const struct live *live, const struct flow *flow)
{
	static const char *const SENTENCE[] = {
#define X(name, word, help) [FLOW_##name] = (help),
		FLOW_STATUSES(X)
#undef X
	};
	const struct flow_verdict *verdict = &flow->verdict;
	static const char *const ACTION[] = {[FLOW_PASS] = "pass",
					     [FLOW_REFUSE] = "refuse",
					     [FLOW_CLOSE] = "close",
					     [FLOW_TELL] = "tell",
					     [FLOW_CACHED] = "cached"};
	json_t *out = json_pack("{s:s, s:s, s:s}", "action", ACTION[verdict->action], "status",
				flow_status_word(verdict->status), "sentence", SENTENCE[verdict->status]);
	if (verdict->action == FLOW_REFUSE)
		json_object_set_new(out, "http_status", json_integer(verdict->http_status));
	if (verdict->wait_ms)
		json_object_set_new(out, "delay_ms", json_integer((json_int_t)verdict->wait_ms));
	if (verdict->limit_index != FLOW_NONE) {
		json_object_set_new(
			out, "limit",
			out_own(image_text(live->image,
					   image_limit_at(live->image, verdict->limit_index)->name)));
		json_object_set_new(out, "retry_after_s", json_integer((json_int_t)verdict->retry_after_s));
	}
	return out;
}

static json_t *answer_json(const struct live *live, const struct flow *flow)
{
	struct flow_answer answer = {0};
	struct text accept = {0};
	json_t *headers = json_array();
	if (!flow->request->header(flow->request->door, TEXT("accept"), 0, &accept))
		accept = TEXT("");
	flow_answer(flow, accept, live_wall(live), &answer);
	for (size_t i = 0; i < answer.header_count; i++)
		json_array_append_new(headers, json_pack("[o, o]", out_hostile(answer.headers[i].name),
							 out_hostile(answer.headers[i].value)));
	json_t *out = json_pack("{s:o}", "headers", headers);
	if (flow->verdict.action == FLOW_REFUSE) {
		json_object_set_new(out, "content_type", out_own(answer.content_type));
		json_object_set_new(out, "body", out_own(answer.body));
	}
	return out;
}

json_t *explain_walk(const struct live *live, const struct request *request, bool *refused)
{
	struct people people;
	const struct flow_env env = {.table = live->table, .image = live->image, .people = &people};
	struct flow *flow = calloc(1, flow_size(live->image));
	if (!flow || !people_open(&people, live->image)) {
		free(flow);
		return NULL;
	}
	flow_begin(flow, &env, &request->flow, &live->now, true, true);
	flow_run(flow);
	*refused = flow->verdict.action != FLOW_PASS;
	json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "policy", policy_json(live),
				"request", request_json(flow), "client", explain_client(live->image, flow),
				"who", explain_who(live->image, flow, people.trouble), "deny",
				exception_json(live, flow->deny), "exempt",
				exception_json(live, flow->exempt), "limits", explain_limits(live, flow),
				"verdict", verdict_json(live, flow), "answer", answer_json(live, flow));
	flow_end(flow, &live->now);
	people_close(&people);
	free(flow);
	return out;
}
