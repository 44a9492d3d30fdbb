/* SPDX-License-Identifier: BSD-2-Clause */
/* explain_print: the walk as text, a station a paragraph. */
#include <stdio.h>
#include <string.h>

#include "cli/counter.h"
#include "cli/explain.h"
#include "cli/out.h"

static const char *get(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

static bool is(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

static unsigned long long number(const json_t *object, const char *name)
{
	return (unsigned long long)json_integer_value(json_object_get(object, name));
}

static uint64_t duration(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : ALGO_NEVER;
}

static void print_counter(const json_t *counter)
{
	char wait[48], full[48], words[128];
	if (!json_object_get(counter, "fits") && !json_object_get(counter, "bytes_per_s"))
		return;
	printf("              %s: %s", get(counter, "name"), counter_words(counter, words, sizeof words));
	if (!counter_has_time(counter)) {
		printf(!json_object_get(counter, "fits") ? "\n"
		       : is(counter, "fits")		 ? "; it fits\n"
							 : "; it is full\n");
		return;
	}
	out_duration(duration(counter, "wait_ns"), wait, sizeof wait);
	out_duration(duration(counter, "full_ns"), full, sizeof full);
	printf("%s%s", duration(counter, "full_ns") ? ", whole again in " : "",
	       duration(counter, "full_ns") ? full : "");
	if (json_object_get(counter, "no_room"))
		printf("\n");
	else if (is(counter, "fits"))
		printf("; it fits\n");
	else if (duration(counter, "wait_ns") == ALGO_NEVER)
		printf("; it never fits\n");
	else
		printf("; it fits in %s\n", wait);
}

static void print_limits(const json_t *limits)
{
	size_t i, j;
	json_t *limit, *counter;
	const char *left = "limits";
	for (i = 0; (limit = json_array_get(limits, i)); i++) {
		const char *match = get(limit, "match");
		printf("%-10s  %s (%s): ", left, get(limit, "name"), *match ? match : "every request");
		left = "";
		if (!is(limit, "matches")) {
			printf("no, %s\n", get(limit, "why"));
			continue;
		}
		printf("yes, %s\n", get(limit, "role"));
		if (json_object_get(limit, "key"))
			printf("              key %s\n", get(limit, "key"));
		for (j = 0; (counter = json_array_get(json_object_get(limit, "counters"), j)); j++)
			print_counter(counter);
	}
}

static void print_lists(const json_t *document)
{
	const json_t *deny = json_object_get(document, "deny"), *exempt = json_object_get(document, "exempt");
	const json_t *on = json_is_object(deny) ? deny : exempt;
	if (!json_is_object(on))
		printf("lists       neither denied nor exempt\n");
	else
		printf("lists       %s%s%s\n", on == deny ? "denied" : "exempt",
		       *get(on, "reason") ? ": " : "", get(on, "reason"));
}

static void print_answer(const json_t *verdict, const json_t *answer)
{
	size_t i;
	json_t *header;
	if (strcmp(get(verdict, "action"), "close") == 0) {
		printf("answer      none: the connection is closed\n");
		return;
	}
	if (strcmp(get(verdict, "action"), "refuse") == 0)
		printf("answer      %llu\n", number(verdict, "http_status"));
	else
		printf("answer      the application's, %s\n",
		       json_array_size(json_object_get(answer, "headers")) ? "with" : "unchanged");
	for (i = 0; (header = json_array_get(json_object_get(answer, "headers"), i)); i++)
		printf("              %s: %s\n", json_string_value(json_array_get(header, 0)),
		       json_string_value(json_array_get(header, 1)));
	if (json_object_get(answer, "body"))
		printf("              Content-Type: %s\n\n%s\n", get(answer, "content_type"),
		       get(answer, "body"));
}

/* Where the policy knows clients by more than their address. */
static void print_who(const json_t *who)
{
	const json_t *key = json_object_get(who, "api_key"), *token = json_object_get(who, "token");
	const char *left = "who";

	if (json_is_object(key)) {
		printf("%-10s  API key: %s%s%s%s%s\n", left, get(key, "is"), *get(key, "name") ? ", " : "",
		       get(key, "name"), *get(key, "trouble") ? "; no key is known: " : "",
		       get(key, "trouble"));
		left = "";
	}
	if (json_is_object(token)) {
		printf("%-10s  token: %s\n", left, get(token, "is"));
		left = "";
	}
	if (*get(who, "user")) {
		printf("%-10s  user: %s\n", left, get(who, "user"));
		left = "";
	}
	if (*get(who, "plan"))
		printf("%-10s  plan: %s\n", left, get(who, "plan"));
}

void explain_print(const json_t *document)
{
	const json_t *policy = json_object_get(document, "policy"),
		     *request = json_object_get(document, "request"),
		     *client = json_object_get(document, "client"),
		     *verdict = json_object_get(document, "verdict");
	if (is(policy, "fresh"))
		printf("policy      %s, not in force here: fresh counters\n", get(policy, "source"));
	else
		printf("policy      %s, generation %llu\n", get(policy, "source"),
		       number(policy, "generation"));
	printf("request     %s %s of %s%s\n", get(request, "method"), get(request, "target"),
	       get(request, "host"), is(request, "preflight") ? ", a CORS preflight" : "");
	printf("            matched as %s\n", get(request, "path"));
	printf("client      %s: %s\n", get(client, "address"), get(client, "why"));
	print_who(json_object_get(document, "who"));
	print_lists(document);
	print_limits(json_object_get(document, "limits"));
	printf("verdict     %s: %s%s%s\n", get(verdict, "status"), get(verdict, "sentence"),
	       *get(verdict, "limit") ? "; binding: " : "", get(verdict, "limit"));
	if (number(verdict, "delay_ms"))
		printf("            after %llu ms\n", number(verdict, "delay_ms"));
	print_answer(verdict, json_object_get(document, "answer"));
}
