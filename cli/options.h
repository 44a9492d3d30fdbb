/* SPDX-License-Identifier: BSD-2-Clause */
/* options: one reader for every subcommand's command line, driven by a table that is also its help text. */
#ifndef WEIR_CLI_OPTIONS_H
#define WEIR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_LIST_MAX 64

struct options_list { /* an option that may be repeated, in order */
	const char *items[OPTIONS_LIST_MAX];
	size_t count;
};

enum options_kind {
	OPTIONS_FLAG /* bool */,
	OPTIONS_TEXT /* const char * */,
	OPTIONS_LIST /* struct options_list */
};

struct options_rule {
	const char *name; /* with its dashes */
	enum options_kind kind;
	void *value;	      /* where it goes, by kind */
	const char *argument; /* what help calls the value; NULL for a flag */
	const char *help;
};

struct options {
	const char *synopsis; /* "weir check [FILE]" */
	const char *about;    /* a paragraph; lines end in \n */
	const struct options_rule *rules;
	size_t rule_count;
	size_t words_max;	   /* how many words may stand beside the options */
	struct options_list words; /* out */
};

/* Reads argv[1..]: `--name value`, `--name=value`, flags, words, `--` ends the options. --json and --help are
 * understood everywhere. True: go on; false: stop with *status (help was printed: STATUS_FINE; not
 * understood: STATUS_USAGE). */
bool options_read(struct options *options, int argc, char **argv, int *status);

#endif
