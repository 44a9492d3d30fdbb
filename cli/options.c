/* SPDX-License-Identifier: BSD-2-Clause */
/* options: reading the command line by a table. getopt_long would print in its own words and keep its state
 * in globals. */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "cli/out.h"
#include "policy/suggest.h"

static void print_help(const struct options *options)
{
	printf("usage: %s\n\n%s\noptions:\n", options->synopsis, options->about);
	for (size_t i = 0; i < options->rule_count; i++) {
		char left[64];
		const struct options_rule *rule = &options->rules[i];
		snprintf(left, sizeof left, "%s%s%s", rule->name, rule->argument ? " " : "",
			 rule->argument ? rule->argument : "");
		printf("  %-22s %s\n", left, rule->help);
	}
	printf("  %-22s %s\n  %-22s %s\n", "--json", "one JSON document on standard output", "--help",
	       "this text");
}

static bool not_understood(const struct options *options, const char *what, const char *word)
{
	out_error("%s '%s'", what, word);
	fprintf(stderr, "usage: %s\n", options->synopsis);
	return false;
}

static bool no_option(const struct options *options, struct text word)
{
	struct suggest suggest = suggest_begin(word);
	for (size_t i = 0; i < options->rule_count; i++)
		suggest_offer(&suggest, text_of(options->rules[i].name));
	suggest_offer(&suggest, TEXT("--json"));
	suggest_offer(&suggest, TEXT("--help"));
	if (!suggest.best.size)
		return not_understood(options, "no option", word.data);
	out_error("no option '%.*s'; did you mean '%.*s'?", (int)word.size, word.data, (int)suggest.best.size,
		  suggest.best.data);
	fprintf(stderr, "usage: %s\n", options->synopsis);
	return false;
}

static const struct options_rule *find(const struct options *options, const char *word, size_t size)
{
	for (size_t i = 0; i < options->rule_count; i++)
		if (strlen(options->rules[i].name) == size && memcmp(options->rules[i].name, word, size) == 0)
			return &options->rules[i];
	return NULL;
}

/* False: too many of a repeated option. */
static bool keep(const struct options_rule *rule, const char *value)
{
	if (rule->kind == OPTIONS_TEXT) {
		*(const char **)rule->value = value;
		return true;
	}
	struct options_list *list = rule->value;
	if (list->count == OPTIONS_LIST_MAX)
		return false;
	list->items[list->count++] = value;
	return true;
}

static bool wants(int argc, char **argv, const char *long_name, const char *short_name)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], long_name) == 0 || (short_name && strcmp(argv[i], short_name) == 0))
			return true;
	return false;
}

bool options_read(struct options *options, int argc, char **argv, int *status)
{
	bool only_words = false;
	*status = STATUS_USAGE;
	/* before anything can go wrong, so that an error is a document too */
	out_as_json = wants(argc, argv, "--json", NULL);
	if (wants(argc, argv, "--help", "-h")) {
		out_as_json = false;
		print_help(options);
		*status = STATUS_FINE;
		return false;
	}
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *equals = strchr(word, '=');
		if (only_words || word[0] != '-' || word[1] == '\0') {
			if (options->words.count == options->words_max ||
			    options->words.count == OPTIONS_LIST_MAX)
				return not_understood(options, "one word too many:", word);
			options->words.items[options->words.count++] = word;
			continue;
		}
		if (strcmp(word, "--") == 0) {
			only_words = true;
			continue;
		}
		if (strcmp(word, "--json") == 0)
			continue;
		size_t size = equals ? (size_t)(equals - word) : strlen(word);
		const struct options_rule *rule = find(options, word, size);
		if (!rule)
			return no_option(options, (struct text){word, size});
		if (rule->kind == OPTIONS_FLAG) {
			if (equals)
				return not_understood(options, "this option takes no value:", word);
			*(bool *)rule->value = true;
			continue;
		}
		/* a value that looks like an option is a forgotten value; --name=value takes anything */
		if (!equals && (i + 1 == argc || strncmp(argv[i + 1], "--", 2) == 0))
			return not_understood(options, "a value is missing after", word);
		if (!keep(rule, equals ? equals + 1 : argv[++i]))
			return not_understood(options, "too many of", rule->name);
	}
	*status = STATUS_FINE;
	return true;
}
