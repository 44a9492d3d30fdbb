/* SPDX-License-Identifier: BSD-2-Clause */
/* weir publish: one edit, published once, for those who run no control process. */
#include <stdio.h>

#include "cli/find.h"
#include "cli/findings.h"
#include "cli/out.h"

static json_t *as_json(const struct policy *policy, const struct publish_report *report)
{
	json_t *document = json_pack("{s:b, s:o}", "ok", policy->image != NULL, "findings",
				     findings_json(policy));
	if (policy->image)
		json_object_update_new(
			document,
			json_pack("{s:I, s:b, s:i, s:i, s:i, s:o}", "generation",
				  (json_int_t)report->generation, "unchanged", report->unchanged, "converted",
				  (int)report->converted, "started", (int)report->started, "dropped",
				  (int)report->dropped, "words", out_own(text_of(report->words))));
	return document;
}

static void print(const char *file, const struct publish_report *report)
{
	if (report->unchanged)
		printf("%s: in force already, generation %llu\n", file,
		       (unsigned long long)report->generation);
	else
		printf("%s: published, generation %llu\n", file, (unsigned long long)report->generation);
	if (*report->words && !report->unchanged)
		puts(report->words);
}

/* Into the table that `find` names. */
static int publish(const struct find *find, const struct image *image, struct publish_report *report)
{
	char why[2 * PLACE_MAX] = "";
	struct table *table = NULL;
	int status = find_open(find, false, &table);
	if (status == STATUS_FINE) {
		enum weir_error error = policy_publish(table, image, report, why, sizeof why);
		if (error != WEIR_OK)
			status = out_failure(error, why);
	}
	find_close(&table);
	return status;
}

int publish_command(int argc, char **argv)
{
	struct find find = {0};
	const struct options_rule rules[] = {
		{"--table", OPTIONS_TEXT, &find.table, "PATH",
		 "the table's file (default: the one that belongs to FILE)"},
	};
	struct options options = {
		.synopsis = "weir publish FILE [--table PATH]",
		.about = "Checks a policy file and puts it in force within a second, in every door of "
			 "the table: no\n"
			 "reload, no counter lost. With errors (exit 1) nothing changes.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count != 1) {
		out_error("which policy file? usage: %s", options.synopsis);
		return STATUS_USAGE;
	}
	char path[PLACE_MAX];
	find.policy = options.words.items[0];
	if (!policy_absolute_path(find.policy, path, sizeof path)) {
		out_error("the path of %s is too long", find.policy);
		return STATUS_USAGE;
	}
	struct policy policy;
	struct publish_report report = {0};
	policy_load(&(struct policy_options){.path = path}, &policy);
	if (!out_as_json)
		findings_print(&policy);
	status = policy.image ? publish(&find, policy.image, &report) : findings_status(&policy, path);
	if (out_as_json && (status == STATUS_FINE || !policy.image))
		out_document(as_json(&policy, &report));
	else if (status == STATUS_FINE)
		print(find.policy, &report);
	else if (!policy.image)
		fprintf(stderr, "weir: %s is not published: the policy in force stays\n", find.policy);
	policy_free(&policy);
	return status;
}
