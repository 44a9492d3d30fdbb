/* SPDX-License-Identifier: BSD-2-Clause */
/* weir check: the findings of a policy file, then the file read aloud. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/findings.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/people_look.h"

static json_t *as_json(const char *file, const struct policy *policy, const char *aloud)
{
	json_t *document = json_pack("{s:o, s:b, s:I, s:I, s:o}", "file", out_own(text_of(file)), "ok",
				     policy->image != NULL, "errors", (json_int_t)policy->errors, "warnings",
				     (json_int_t)policy->warnings, "findings", findings_json(policy));
	json_t *sentences = json_array();
	for (const char *line = aloud; line && *line;) {
		size_t n = strcspn(line, "\n");
		json_array_append_new(sentences, out_own((struct text){line, n}));
		line += n + (line[n] == '\n');
	}
	json_object_set_new(document, "sentences", sentences);
	return document;
}

struct people {
	const char *file;
	struct policy *policy;
	json_t *said;
};

static void say(void *context, const char *sentence, const char *cure)
{
	struct people *people = context;
	people->policy->warnings++;
	json_array_append_new(people->said,
			      json_pack("{s:o, s:s}", "sentence", out_own(text_of(sentence)), "cure", cure));
	if (!out_as_json)
		fprintf(stderr, "%s: warning: %s (%s)\n", people->file, sentence, cure);
}

static void summarise(const char *file, const struct policy *policy)
{
	char counts[64];
	findings_counts(policy, counts, sizeof counts);
	if (policy->image)
		printf("%s: %u limit%s, %s\n", file, policy->image->limits.count,
		       policy->image->limits.count == 1 ? "" : "s", counts);
	else
		printf("%s: not usable, %s\n", file, counts);
}

int check_command(int argc, char **argv)
{
	bool quiet = false;
	const struct options_rule rules[] = {
		{"--quiet", OPTIONS_FLAG, &quiet, NULL, "only what is wrong; nothing if nothing is"},
	};
	struct options options = {
		.synopsis = "weir check [FILE | -]",
		.about = "Checks a policy file (./policy.yaml; - is standard input): findings on standard "
			 "error, with line,\n"
			 "column and what was probably meant; then each limit in a sentence, with its worst "
			 "case.\n"
			 "Exit 0 with or without warnings, 1 with errors.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;

	const char *file = options.words.count ? options.words.items[0] : "policy.yaml";
	struct policy policy;
	policy_load(&(struct policy_options){.path = file}, &policy);
	char *aloud = policy.image ? policy_read_aloud(policy.image) : NULL;
	status = findings_status(&policy, file);
	struct people people = {strcmp(file, "-") == 0 ? "standard input" : file, &policy, json_array()};
	if (out_as_json) {
		if (policy.image) {
			people_look_keys(policy.image, say, &people);
			people_look_tokens(policy.image, true, say, &people);
		}
		json_t *document = as_json(file, &policy, aloud);
		json_object_set_new(document, "clients", people.said);
		out_document(document);
	} else {
		findings_print(&policy);
		if (policy.image) {
			people_look_keys(policy.image, say, &people);
			people_look_tokens(policy.image, true, say, &people);
		}
		json_decref(people.said);
		if (aloud && !quiet)
			fputs(aloud, stdout);
		if (!quiet)
			summarise(strcmp(file, "-") == 0 ? "standard input" : file, &policy);
	}
	free(aloud);
	policy_free(&policy);
	return status;
}
