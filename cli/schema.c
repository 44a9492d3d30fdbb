/* SPDX-License-Identifier: BSD-2-Clause */
/* weir schema: the words of the policy file, from the table that checks it. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/options.h"
#include "cli/out.h"
#include "policy/policy.h"

int schema_command(int argc, char **argv)
{
	bool markdown = false;
	const struct options_rule rules[] = {
		{"--markdown", OPTIONS_FLAG, &markdown, NULL, "the reference as a page (the default)"},
	};
	struct options options = {
		.synopsis = "weir schema [--markdown | --json]",
		.about = "Prints every word of the policy file with its meaning: as Markdown, or with --json "
			 "as a JSON\n"
			 "Schema for editors (YAML language servers complete and check with it).\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (markdown && out_as_json) {
		out_error("--markdown or --json, not both");
		return STATUS_USAGE;
	}
	char *text = out_as_json ? policy_schema_json() : policy_schema_markdown();
	if (!text)
		return out_failure(WEIR_NO_MEMORY, NULL);
	fputs(text, stdout);
	free(text);
	return STATUS_FINE;
}
