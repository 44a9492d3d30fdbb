/* SPDX-License-Identifier: BSD-2-Clause */
/* findings: as `weir check` prints them, with the line and a caret under the word that is meant. */
#include <stdio.h>
#include <stdlib.h>

#include "policy/policy.h"
#include "policy/utf8.h"

static const char *severity_word(enum policy_severity severity)
{
	return severity == POLICY_ERROR ? "error" : "warning";
}

/* The underline: tabs are repeated so that the caret stands where the terminal puts the word. */
static void write_caret(FILE *out, const struct policy_finding *finding)
{
	const char *line = finding->source;
	size_t size = strlen(line), at = 0;
	unsigned column = 1;

	fputs("      | ", out);
	for (; column < finding->column && at < size; column++) {
		uint32_t code;
		size_t length = utf8_next(line + at, size - at, &code);
		fputc(line[at] == '\t' ? '\t' : ' ', out);
		at += length ? length : 1;
	}
	fputc('^', out);
	for (unsigned i = 1; i < finding->width && at < size; i++) {
		uint32_t code;
		size_t length = utf8_next(line + at, size - at, &code);
		at += length ? length : 1;
		if (at < size)
			fputc('~', out);
	}
	fputc('\n', out);
}

char *policy_findings_text(const struct policy *policy)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (size_t i = 0; i < policy->finding_count; i++) {
		const struct policy_finding *finding = &policy->findings[i];
		fprintf(out, "%s:%u:%u: %s: %s\n", finding->file, finding->line, finding->column,
			severity_word(finding->severity), finding->message);
		if (finding->source && *finding->source) {
			fprintf(out, "%5u | %s\n", finding->line, finding->source);
			write_caret(out, finding);
		}
	}
	size_t all = policy->errors + policy->warnings;
	if (all > policy->finding_count)
		fprintf(out, "and %zu more: %zu error%s, %zu warning%s in all\n", all - policy->finding_count,
			policy->errors, policy->errors == 1 ? "" : "s", policy->warnings,
			policy->warnings == 1 ? "" : "s");
	return fclose(out) == 0 ? text : (free(text), NULL);
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	free(policy->image);
	for (size_t i = 0; i < policy->finding_count; i++) {
		free((char *)policy->findings[i].file);
		free(policy->findings[i].message);
		free(policy->findings[i].source);
	}
	for (char **file = policy->files; file && *file; file++)
		free(*file);
	free(policy->files);
	for (char **folder = policy->folders; folder && *folder; folder++)
		free(*folder);
	free(policy->folders);
	*policy = (struct policy){0};
}
