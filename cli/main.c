/* SPDX-License-Identifier: BSD-2-Clause */
/* weir: find the subcommand and run it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/out.h"

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
	out_error("no subcommand '%s'; `weir help` lists them", argv[1]);
	return STATUS_USAGE;
}
