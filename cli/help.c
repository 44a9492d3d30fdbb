/* SPDX-License-Identifier: BSD-2-Clause */
/* weir help: the subcommands, or one of them. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/out.h"

static const struct {
	const char *name, *line;
	int (*run)(int argc, char **argv);
} TABLE[] = {
#define X(name, line) {#name, line, name##_command},
	COMMANDS(X)
#undef X
};

static const struct {
	int number;
	const char *sentence;
} CODES[] = {
#define X(number, name, sentence) {number, sentence},
	STATUSES(X)
#undef X
};

static void print_all(void)
{
	puts("weir: limits who may ask how much, in nginx and beside it\n\n"
	     "  weir run --to :3000                 a gateway on :8080 before an application on :3000\n"
	     "  weir run policy.yaml                the same, as the file says\n"
	     "  weir check policy.yaml              what the file says, and what is wrong with it\n\n"
	     "subcommands (each knows --help and --json):");
	for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
		printf("  %-10s %s\n", TABLE[i].name, TABLE[i].line);
	puts("\nexit codes:");
	for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
		printf("  %d  %s\n", CODES[i].number, CODES[i].sentence);
}

static json_t *as_json(void)
{
	json_t *commands = json_array(), *codes = json_array();
	for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
		json_array_append_new(commands,
				      json_pack("{s:s, s:s}", "name", TABLE[i].name, "line", TABLE[i].line));
	for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
		json_array_append_new(codes, json_pack("{s:i, s:s}", "code", CODES[i].number, "sentence",
						       CODES[i].sentence));
	return json_pack("{s:o, s:o}", "subcommands", commands, "exit_codes", codes);
}

int help_command(int argc, char **argv)
{
	struct options options = {
		.synopsis = "weir help [SUBCOMMAND]",
		.about = "Lists the subcommands and exit codes, or prints a subcommand's options.\n",
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count == 0) {
		if (out_as_json)
			out_document(as_json());
		else
			print_all();
		return STATUS_FINE;
	}
	for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
		char name[16], flag[] = "--help", *words[] = {name, flag, NULL};
		if (strcmp(options.words.items[0], TABLE[i].name) != 0)
			continue;
		snprintf(name, sizeof name, "%s", TABLE[i].name);
		return TABLE[i].run(2, words);
	}
	out_error("no subcommand '%s'; `weir help` lists them", options.words.items[0]);
	return STATUS_USAGE;
}
