/* SPDX-License-Identifier: BSD-2-Clause */
/* findings: what the checker found, printed. */
#include "cli/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	static const char *const SEVERITY[] = {[POLICY_ERROR] = "error", [POLICY_WARNING] = "warning"};
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

void findings_counts(const struct policy *policy, char *out, size_t size)
{
	char errors[32] = "no", warnings[32] = "no";
	if (policy->errors)
		snprintf(errors, sizeof errors, "%zu", policy->errors);
	if (policy->warnings)
		snprintf(warnings, sizeof warnings, "%zu", policy->warnings);
	snprintf(out, size, "%s error%s, %s warning%s", errors, policy->errors == 1 ? "" : "s", warnings,
		 policy->warnings == 1 ? "" : "s");
}

/* The name in policy/env.c's sentence about a variable that is not set; size 0: the finding is another one. */
static struct text unset_name(const struct policy_finding *finding)
{
	static const char BEFORE[] = "the environment variable ", AFTER[] = " is not set; ";
	if (finding->severity != POLICY_ERROR || strncmp(finding->message, BEFORE, sizeof BEFORE - 1) != 0)
		return TEXT("");
	const char *name = finding->message + sizeof BEFORE - 1, *end = strstr(name, AFTER);
	return end ? (struct text){name, (size_t)(end - name)} : TEXT("");
}

bool findings_only_unset(const struct policy *policy, char *out, size_t size)
{
	struct text names[POLICY_FINDINGS_MAX];
	size_t count = 0, errors = 0, used = 0;
	for (size_t i = 0; i < policy->finding_count; i++) {
		struct text name = unset_name(&policy->findings[i]);
		size_t same = 0;
		errors += name.size > 0;
		while (same < count && !text_equal(names[same], name))
			same++;
		if (name.size > 0 && same == count)
			names[count++] = name;
	}
	/* those that were not kept may be of any kind */
	if (errors == 0 || errors != policy->errors)
		return false;
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s${%.*s}",
					 i == 0		  ? ""
					 : i + 1 == count ? " and "
							  : ", ",
					 (int)names[i].size, names[i].data);
	if (used < size)
		snprintf(out + used, size - used, " %s not set here", count == 1 ? "is" : "are");
	return true;
}

int findings_status(const struct policy *policy, const char *path)
{
	struct stat st;
	if (policy->image)
		return STATUS_FINE;
	if (strcmp(path, "-") == 0)
		return STATUS_FINDINGS;
	return access(path, R_OK) != 0 || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) ? STATUS_SYSTEM
											: STATUS_FINDINGS;
}
