/* SPDX-License-Identifier: BSD-2-Clause */
/* answered: an answer as text, for comparing. */
#ifndef WEIR_TESTS_FLOW_ANSWERED_H
#define WEIR_TESTS_FLOW_ANSWERED_H

#include "tests/flow/world.h"

/* Cuts out each `before`, id, `after`: the id is another in every table (tests/flow/refusal.c looks at it). */
static inline void without_id(char *text, const char *id, const char *before, const char *after)
{
	char part[128];

	snprintf(part, sizeof part, "%s%s%s", before, id, after);
	for (char *at; (at = strstr(text, part));)
		memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

/* Header lines, expose, then type and body, without the refusal's id. Valid until the next call. */
static inline const char *answered(const struct flow *flow, const char *accept)
{
	static char text[8192];
	static struct flow_answer out;
	size_t used = 0;

	flow_answer(flow, text_of(accept), WALL, &out);
	for (size_t i = 0; i < out.header_count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%.*s: %.*s\n",
					 (int)out.headers[i].name.size, out.headers[i].name.data,
					 (int)out.headers[i].value.size, out.headers[i].value.data);
	if (out.expose.size)
		used += (size_t)snprintf(text + used, sizeof text - used, "expose %.*s\n",
					 (int)out.expose.size, out.expose.data);
	if (out.grpc)
		used += (size_t)snprintf(text + used, sizeof text - used, "grpc-status %u\n",
					 out.grpc_status);
	if (out.content_type.size)
		used += (size_t)snprintf(text + used, sizeof text - used, "%.*s\n%.*s",
					 (int)out.content_type.size, out.content_type.data,
					 (int)out.body.size, out.body.data);
	text[used] = '\0';
	if (flow->verdict.refusal[0]) {
		without_id(text, flow->verdict.refusal, "Weir-Refusal: ", "\n");
		without_id(text, flow->verdict.refusal, ",\"id\":\"", "\"");
		without_id(text, flow->verdict.refusal, ",\"instance\":\"urn:weir:", "\"");
		without_id(text, flow->verdict.refusal, "\n<p><small>", "</small></p>");
		without_id(text, "", ", Weir-Refusal", "");
		without_id(text, "", "expose Weir-Refusal\n", "");
	}
	return text;
}

/* Answer to the last of `times` requests of `line`. */
static inline const char *answer(struct world *world, const char *line, int times, const char *accept)
{
	while (times--) {
		world_pass(world,
			   1000); /* a refusal never comes at the nanosecond at which its window began */
		world_ask(world, line);
	}
	return answered(world->flow, accept);
}

#endif
