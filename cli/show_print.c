/* SPDX-License-Identifier: BSD-2-Clause */
/* show_print: the document of `weir show` as text. */
#include <stdio.h>
#include <string.h>

#include "cli/counter.h"
#include "cli/out.h"
#include "cli/show.h"

static const char *get(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

static const char *number(const json_t *object, const char *name, char *out, size_t size)
{
	const json_t *value = json_object_get(object, name);
	return json_is_null(value) ? "-" : out_number((uint64_t)json_integer_value(value), out, size);
}

/* In place of the policy's lines: what nginx.conf says is nginx's to judge. */
static void print_nginx_conf(const json_t *document, int64_t now)
{
	const json_t *policy = json_object_get(document, "policy"),
		     *control = json_object_get(document, "control");
	char when[32];
	printf("table     %s\n", get(document, "table"));
	printf("zones     of %s, generation %lld, read by nginx %s\n", get(policy, "source"),
	       (long long)json_integer_value(json_object_get(policy, "generation")),
	       out_when(json_integer_value(json_object_get(policy, "compiled_at")), now, when, sizeof when));
	if (strcmp(get(policy, "file"), "missing") == 0)
		printf("          the file is gone; what nginx read stays in force\n");
	else
		printf("          an edit is in force after nginx -s reload\n");
	if (json_is_true(json_object_get(control, "running")))
		printf("control   process %lld writes the table down\n",
		       (long long)json_integer_value(json_object_get(control, "pid")));
}

static void print_policy(const json_t *document, int64_t now)
{
	const json_t *policy = json_object_get(document, "policy"),
		     *control = json_object_get(document, "control"),
		     *gateway = json_object_get(document, "gateway"), *finding;
	const char *file = get(policy, "file"), *source = get(policy, "source");
	bool running = json_is_true(json_object_get(control, "running"));
	char when[32];
	size_t i;
	printf("table     %s\n", get(document, "table"));
	printf("policy    %s, generation %lld, compiled %s\n", source,
	       (long long)json_integer_value(json_object_get(policy, "generation")),
	       out_when(json_integer_value(json_object_get(policy, "compiled_at")), now, when, sizeof when));
	if (strcmp(file, "missing") == 0)
		printf("          the file is gone; what was published stays in force\n");
	else if (strcmp(file, "differs") == 0)
		printf("          the file has been edited since; to put it in force: weir publish %s\n",
		       source);
	else if (strcmp(file, "broken") == 0)
		printf("          the file is broken, what was published stays in force; see weir check %s\n",
		       source);
	else if (strcmp(file, "unreadable") == 0)
		printf("          whether the file has been edited since cannot be told: this user may not "
		       "read it\n");
	else if (strcmp(file, "unset") == 0)
		printf("          whether the file has been edited since cannot be told: %s\n",
		       get(policy, "unset"));
	for (i = 0; (finding = json_array_get(json_object_get(policy, "findings"), i)); i++)
		printf("          %s:%lld:%lld: %s: %s\n", get(finding, "file"),
		       (long long)json_integer_value(json_object_get(finding, "line")),
		       (long long)json_integer_value(json_object_get(finding, "column")),
		       get(finding, "severity"), get(finding, "message"));
	if (gateway)
		printf("gateway   not in force as edited: %s\n", get(gateway, "why"));
	if (running)
		printf("control   process %lld publishes edits\n",
		       (long long)json_integer_value(json_object_get(control, "pid")));
	else
		printf("control   none: edits wait for weir publish\n");
}

static void print_limits(const json_t *limits, bool zones)
{
	const json_t *limit;
	size_t i;
	char a[32], b[32], c[32], d[32];
	printf("\n%-20s %12s %12s %12s %12s\n", zones ? "zone" : "limit", "allowed", "refused",
	       zones ? "dry run" : "shadow", "delayed");
	for (i = 0; (limit = json_array_get(limits, i)); i++) {
		printf("%-20s %12s %12s %12s %12s\n", get(limit, "name"),
		       number(limit, "allowed", a, sizeof a), number(limit, "refused", b, sizeof b),
		       number(limit, "shadow", c, sizeof c), number(limit, "delayed", d, sizeof d));
		if (*get(limit, "sentence"))
			printf("  %s\n", get(limit, "sentence"));
		if (json_is_true(json_object_get(limit, "statistics_shared")))
			printf("  (counted together with other limits: there are more than have room of "
			       "their own)\n");
		if (json_integer_value(json_object_get(limit, "no_room")))
			printf("  %s requests found no room in the table\n",
			       number(limit, "no_room", a, sizeof a));
	}
}

static void print_key(const json_t *counters)
{
	const json_t *counter;
	size_t i;
	for (i = 0; (counter = json_array_get(counters, i)); i++) {
		const json_t *wait = json_object_get(counter, "wait_ns"),
			     *full = json_object_get(counter, "full_ns");
		char text[48], words[128];
		printf("\n%s%s%s%s: %s", get(counter, "name"), *get(counter, "as") ? " (" : "",
		       get(counter, "as"), *get(counter, "as") ? ")" : "",
		       counter_words(counter, words, sizeof words));
		if (counter_has_time(counter) && json_is_false(json_object_get(counter, "fits")))
			printf(json_is_null(wait) ? ", the next one never fits" : ", the next one fits in %s",
			       out_duration((uint64_t)json_integer_value(wait), text, sizeof text));
		if (counter_has_time(counter) && (json_is_null(full) || json_integer_value(full) > 0))
			printf(", whole again in %s",
			       out_duration(json_is_null(full) ? ALGO_NEVER
							       : (uint64_t)json_integer_value(full),
					    text, sizeof text));
		printf("\n");
	}
}

static void print_happenings(const json_t *document, int64_t now)
{
	const json_t *one;
	size_t i;
	for (i = 0; (one = json_array_get(json_object_get(document, "untrusted"), i)); i++)
		printf("\n%s sends forwarding headers and is not trusted: all who come through it share one "
		       "bucket.\n"
		       "If it is a proxy of yours, add to the policy:\n  %s\n",
		       get(one, "address"), get(one, "cure"));
	if (json_array_size(json_object_get(document, "recently")))
		printf("\nrecently\n");
	for (i = 0; (one = json_array_get(json_object_get(document, "recently"), i)); i++) {
		char when[32], count[32];
		long long n = json_integer_value(json_object_get(one, "count"));
		printf("  %s  %-16s %-16s %s",
		       out_when(json_integer_value(json_object_get(one, "at")), now, when, sizeof when),
		       get(one, "kind"), get(one, "limit"), get(one, "who"));
		if (n > 1)
			printf(" (%s requests)", number(one, "count", count, sizeof count));
		if (json_object_get(one, "percent"))
			printf(" has used %lld %% of %s",
			       (long long)json_integer_value(json_object_get(one, "percent")),
			       number(one, "quota", count, sizeof count));
		printf("\n");
	}
}

void show_print(const json_t *document, int64_t now)
{
	const json_t *requests = json_object_get(document, "requests");
	char a[32], b[32], c[32], d[32];
	bool zones = strcmp(get(json_object_get(document, "policy"), "kind"), "zones") == 0;
	(zones ? print_nginx_conf : print_policy)(document, now);
	print_limits(json_object_get(document, "limits"), zones);
	print_key(json_object_get(document, "key"));
	if (requests && zones)
		printf("\n%s requests decided; %s keys evicted before they had recovered\n",
		       number(requests, "decisions", a, sizeof a),
		       number(requests, "evicted_live", d, sizeof d));
	else if (requests)
		printf("\n%s requests decided, %s matched no limit, %s denied; %s keys evicted before they "
		       "had recovered\n",
		       number(requests, "decisions", a, sizeof a), number(requests, "unmatched", b, sizeof b),
		       number(requests, "denied", c, sizeof c),
		       number(requests, "evicted_live", d, sizeof d));
	if (requests && json_integer_value(json_object_get(requests, "unknown")))
		printf("%s requests came with an unknown API key or a token that is not believed\n",
		       number(requests, "unknown", a, sizeof a));
	if (requests && json_integer_value(json_object_get(requests, "unsettled")))
		printf("%s answers did not say what a limit is settled by\n",
		       number(requests, "unsettled", a, sizeof a));
	if (requests && json_integer_value(json_object_get(requests, "bans")))
		printf("%s bans are in force: weir bans\n", number(requests, "bans", a, sizeof a));
	print_happenings(document, now);
}
