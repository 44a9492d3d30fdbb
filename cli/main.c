/* SPDX-License-Identifier: BSD-2-Clause */
/* weir: find the subcommand and run it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/out.h"
#include "policy/suggest.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} TABLE[] = {
#define X(name, line) {#name, name##_command},
	COMMANDS(X)
#undef X
		{"--help", help_command},
	{"-h", help_command},
	{"--version", version_command},
	{"-V", version_command},
};

int main(int argc, char **argv)
{
	if (argc < 2) {
		help_command(1, argv);
		return STATUS_USAGE;
	}
	for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
		if (strcmp(argv[1], TABLE[i].name) == 0)
			return out_finish(TABLE[i].run(argc - 1, argv + 1));
	struct suggest suggest = suggest_begin(text_of(argv[1]));
	for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
		suggest_offer(&suggest, text_of(TABLE[i].name));
	if (suggest.best.size)
		out_error("no subcommand '%s'; did you mean '%s'?", argv[1], suggest.best.data);
	else
		out_error("no subcommand '%s'; `weir help` lists them", argv[1]);
	return STATUS_USAGE;
}
