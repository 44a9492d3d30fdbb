/* SPDX-License-Identifier: BSD-2-Clause */
/* findings: what the checker found, printed. */
#include "cli/findings.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/out.h"

void findings_print(const struct policy *policy)
{
	char *text = policy_findings_text(policy);
	fflush(stdout);
	if (text)
		fputs(text, stderr);
	free(text);
}

json_t *findings_json(const struct policy *policy)
{
	static const char *const SEVERITY[] = {
		[POLICY_ERROR] = "error", [POLICY_WARNING] = "warning", [POLICY_NOTE] = "note"};
	json_t *list = json_array();
	for (size_t i = 0; i < policy->finding_count; i++) {
		const struct policy_finding *finding = &policy->findings[i];
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:i, s:i, s:i, s:o}", "severity",
					SEVERITY[finding->severity], "file", out_own(text_of(finding->file)),
					"line", (int)finding->line, "column", (int)finding->column, "width",
					(int)finding->width, "message", out_own(text_of(finding->message))));
	}
	return list;
}

static int one(char *out, size_t size, size_t count, const char *word)
{
	return count == 0 ? snprintf(out, size, "no %ss", word)
			  : snprintf(out, size, "%zu %s%s", count, word, count == 1 ? "" : "s");
}

void findings_counts(const struct policy *policy, char *out, size_t size)
{
	char errors[24], warnings[24];
	one(errors, sizeof errors, policy->errors, "error");
	one(warnings, sizeof warnings, policy->warnings, "warning");
	snprintf(out, size, "%s, %s", errors, warnings);
}
