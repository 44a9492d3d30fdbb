/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema: the table of words is true. Every example of the reference is a good policy, every word in the
 * table is really read (nonsense in its place is a finding), every word of a later time is refused, and
 * docs/policy.md is what the table says.
 */
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/policy.h"
#include "policy/words.h"
#include "tests/tap.h"

static char *said(const char *text, size_t *errors, size_t *warnings)
{
	struct policy_options options = {.path = "policy.yaml", .text = text, .wall = 1780272000};
	struct policy policy;
	policy_load(&options, &policy);
	*errors = policy.errors;
	*warnings = policy.warnings;
	char *findings = policy_findings_text(&policy);
	policy_free(&policy);
	return findings;
}

static unsigned check_examples(const char *page)
{
	unsigned count = 0;
	for (const char *at = strstr(page, "```yaml\n"); at; at = strstr(at, "```yaml\n")) {
		const char *begin = at + 8, *end = strstr(begin, "```\n");
		char *text = strndup(begin, (size_t)(end - begin));
		size_t errors, warnings;
		char *findings = said(text, &errors, &warnings);
		/* an example of another section leaves the limits out */
		bool good = errors == 0 &&
			    (warnings == 0 || (warnings == 1 && strstr(findings, "there are no limits")));
		if (!ok(good, "an example of the reference is a good policy"))
			printf("# %s\n# %s\n", text, findings);
		free(findings);
		free(text);
		at = end;
		count++;
	}
	return count;
}

/* Where the words of a section stand, as a policy with a hole for one word and its value. */
static const char *const frames[SECTION_COUNT] = {
	[SECTION_FILE] = "%s: %s\n",
	[SECTION_GATEWAY] = "gateway: {%s: %s}\n",
	[SECTION_ROUTE] = "gateway: {routes: [{%s: %s}]}\n",
	[SECTION_CLIENTS] = "clients: {%s: %s}\n",
	[SECTION_ADDRESS] = "clients: {address: {%s: %s}}\n",
	[SECTION_NETWORK] = "clients: {networks: {a: {%s: %s}}}\n",
	[SECTION_API_KEYS] = "clients: {api_keys: {%s: %s}}\n",
	[SECTION_JWT] = "clients: {jwt: {%s: %s}}\n",
	[SECTION_PLAN] = "{plans: {a: {}}, clients: {plan: {%s: %s}}}\n",
	[SECTION_NUMBERS] = "{plans: {p: {a: {%s: %s}}}, limits: {a: {rate: 5/s}}}\n",
	[SECTION_EXCEPTION] = "clients: {deny: [{ip: 10.0.0.1, %s: %s}]}\n",
	[SECTION_LIMIT] = "limits: {a: {%s: %s}}\n",
	[SECTION_MATCH] = "limits: {a: {match: {%s: %s}}}\n",
	[SECTION_COST] = "limits: {a: {rate: 5/s, cost: {%s: %s}}}\n",
	[SECTION_THEN] = "limits: {a: {rate: 5/s, then: {ban: 1s, %s: %s}}}\n",
	[SECTION_OVER] = "limits: {a: {rate: 5/day, over: {%s: %s}}}\n",
	[SECTION_CANDIDATE] = "limits: {a: {rate: 5/s, candidate: {%s: %s}}}\n",
	[SECTION_RESPOND] = "respond: {%s: %s}\n",
	[SECTION_BODY] = "respond: {body: {%s: %s}}\n",
};

/* Words that need a neighbour to be looked at. */
static const struct {
	const char *section, *word, *frame;
} neighbours[] = {
	{"gateway.routes", "match", "gateway: {routes: [{to: 3000, %s: %s}]}\n"},
	{"gateway.routes", "to", "gateway: {routes: [{match: /x, %s: %s}]}\n"},
	{"exempt and deny", "ip", "clients: {deny: [{match: /x, %s: %s}]}\n"},
	{"plans", "queue", "{plans: {p: {a: {%s: %s}}}, limits: {a: {concurrent: 5}}}\n"},
	{"plans", "at_once",
	 "{plans: {p: {a: {%s: %s}}}, limits: {a: {algorithm: leaky-bucket, rate: 5/s}}}\n"},
	{"plans", "wait", "{plans: {p: {a: {%s: %s}}}, limits: {a: {concurrent: 5, queue: 5}}}\n"},
	{"plans", "align",
	 "{plans: {p: {a: {%s: %s}}}, limits: {a: {algorithm: fixed-window, rate: 5/s}}}\n"},
	{"limits.then", "ban", "limits: {a: {rate: 5/s, then: {%s: %s}}}\n"},
	{"limits.candidate", "queue",
	 "limits: {a: {algorithm: leaky-bucket, rate: 5/s, candidate: {%s: %s}}}\n"},
	{"limits.candidate", "at_once",
	 "limits: {a: {algorithm: leaky-bucket, rate: 5/s, candidate: {%s: %s}}}\n"},
	{"limits.candidate", "wait",
	 "limits: {a: {algorithm: leaky-bucket, rate: 5/s, candidate: {%s: %s}}}\n"},
	{"limits.candidate", "align",
	 "limits: {a: {algorithm: fixed-window, rate: 5/s, candidate: {%s: %s}}}\n"},
	{"limits", "new_keys", "limits: {a: {rate: 5/s, %s: %s}}\n"},
	{"limits", "usage", "limits: {a: {rate: 5/s, %s: %s}}\n"},
	{"limits", "candidate", "limits: {a: {rate: 5/s, %s: %s}}\n"},
	{"limits", "burst", "limits: {a: {rate: 5/s, %s: %s}}\n"},
	{"limits", "algorithm", "limits: {a: {rate: 5/s, %s: %s}}\n"},
	{"limits", "queue", "limits: {a: {algorithm: leaky-bucket, rate: 5/s, %s: %s}}\n"},
	{"limits", "at_once", "limits: {a: {algorithm: leaky-bucket, rate: 5/s, %s: %s}}\n"},
	{"limits", "wait", "limits: {a: {algorithm: leaky-bucket, rate: 5/s, %s: %s}}\n"},
	{"limits", "align", "limits: {a: {algorithm: fixed-window, rate: 5/s, %s: %s}}\n"},
};

static const char *frame_of(const struct word *word)
{
	for (size_t i = 0; i < sizeof neighbours / sizeof neighbours[0]; i++)
		if (strcmp(neighbours[i].word, word->name) == 0 &&
		    strcmp(neighbours[i].section, words_where(word->section)) == 0)
			return neighbours[i].frame;
	return frames[word->section];
}

static void check_word(const struct word *word, void *context)
{
	char text[256], what[128], name[64], place[64];
	size_t errors, warnings;
	unsigned *count = context;

	snprintf(name, sizeof name, "%s", word->name);
	snprintf(text, sizeof text, frame_of(word), name, "[[[]]]");
	char *findings = said(text, &errors, &warnings);
	snprintf(what, sizeof what, "%s in %s: %s", word->name, words_where(word->section),
		 word->example ? "nonsense is a finding at its value" : "not built yet");
	if (word->example) {
		/* a finding at the column of the value or inside it */
		bool there = false;
		size_t column = (size_t)(strstr(text, "[[[]]]") - text) + 1;
		for (size_t i = column; i < column + 4; i++) {
			snprintf(place, sizeof place, "policy.yaml:1:%zu: error", i);
			there |= strstr(findings, place) != NULL;
		}
		if (!ok(there, what))
			printf("# %s\n", findings);
		ok(word->help[0] && strstr(word->example, strtok(name, ".")), "its example uses it");
	} else {
		char refusal[96];
		snprintf(refusal, sizeof refusal, "'%s' is not built yet", word->name);
		if (!ok(strstr(findings, refusal) != NULL, what))
			printf("# %s\n", findings);
	}
	free(findings);
	++*count;
}

static void check_values(void)
{
	for (const struct word_value *value = word_values; value->of; value++) {
		char text[256], refusal[96];
		size_t errors, warnings;
		if (value->built)
			continue;
		snprintf(text, sizeof text,
			 strcmp(value->of, "headers") == 0 ? "respond: {%s: %s}\n"
							   : "limits: {a: {rate: 5/s, %s: %s}}\n",
			 value->of, value->name);
		char *findings = said(text, &errors, &warnings);
		snprintf(refusal, sizeof refusal, "'%s' is not built yet", value->name);
		if (!ok(strstr(findings, refusal) != NULL, refusal))
			printf("# %s\n", findings);
		free(findings);
	}
}

static char *slurp(const char *path)
{
	FILE *in = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);
	if (in && text) {
		text[fread(text, 1, (1 << 20) - 1, in)] = '\0';
		fclose(in);
	}
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");
	if (!out || fputs(text, out) < 0)
		abort();
	fclose(out);
}

int main(void)
{
	char folder[] = "/tmp/weir-schema-XXXXXX";
	char *page = policy_schema_markdown(), *kept = slurp("docs/policy.md"),
	     *schema = policy_schema_json();
	unsigned words = 0;

	ok(page && kept && strcmp(page, kept) == 0,
	   "docs/policy.md is what the table says (make docs writes it)");
	json_error_t error;
	json_t *root = json_loads(schema, 0, &error);
	ok(root != NULL, "the schema is JSON");
	ok(json_object_size(json_object_get(root, "$defs")) == SECTION_COUNT - 1,
	   "every section is in the schema");
	ok(json_object_get(json_object_get(root, "properties"), "limits") != NULL,
	   "limits are in the schema");
	ok(!json_object_get(json_object_get(root, "properties"), "store"), "what is not built is not");
	json_decref(root);

	if (!mkdtemp(folder) || chdir(folder) != 0)
		abort();
	write_file("keys.json", "{\"keys\": []}\n");
	write_file("secret", "a secret that nobody else can read\n");
	ok(chmod("secret", 0600) == 0, "nobody else");
	write_file("429.html", "<p>slow down</p>\n");
	write_file("partners.txt", "192.0.2.0/24\n");
	unsigned examples = check_examples(page);
	for (enum word_section section = 0; section < SECTION_COUNT; section++)
		words_each(section, check_word, &words);
	check_values();
	ok(unlink("keys.json") == 0 && unlink("secret") == 0, "keys are gone");
	ok(unlink("429.html") == 0 && unlink("partners.txt") == 0 && chdir("/") == 0 && rmdir(folder) == 0,
	   "the folder is gone");
	ok(examples >= 50 && words >= 70, "all of them were there");
	free(page);
	free(kept);
	free(schema);
	return done_testing();
}
