/* SPDX-License-Identifier: BSD-2-Clause */
/* schema_markdown: docs/policy.md: every word with its type, default, meaning and an example, and the prose
 * around. */
#include <stdio.h>
#include <stdlib.h>

#include "policy/policy.h"
#include "policy/schema_prose.h"
#include "policy/words.h"

static const char *const type_words[] = {
#define X(name, say, json) say,
	WORD_TYPES(X)
#undef X
};

/* heading and first sentence of each section */
static const struct {
	const char *heading, *say;
} sections[SECTION_COUNT] = {
	[SECTION_FILE] = {"The file", "The words at the file's first level."},
	[SECTION_GATEWAY] = {"Inside gateway", "Where `weir run` listens, and the backends behind it."},
	[SECTION_ROUTE] = {"Inside gateway.routes",
			   "Each entry of the list sends some paths to a backend of their own."},
	[SECTION_CLIENTS] = {"Inside clients", "Who the clients are."},
	[SECTION_ADDRESS] =
		{"Inside clients.address",
		 "Where the client's address comes from. The address decides who is limited, so only "
		 "proxies that are named may say it."},
	[SECTION_NETWORK] = {"Inside clients.networks", "Each network is a list, or a file."},
	[SECTION_API_KEYS] =
		{"Inside clients.api_keys",
		 "API keys, as `weir keys` hands them out. `api_keys: {}` takes everything as it "
		 "is by default."},
	[SECTION_JWT] = {"Inside clients.jwt", "Tokens, and whose word counts. `algorithms` is needed, and "
					       "`jwks_file` or, for HS256, `secret_file`."},
	[SECTION_PLAN] = {"Inside clients.plan", "Who has which of the `plans`."},
	[SECTION_NUMBERS] = {"Inside a plan", "What a plan says of one limit: a rate, a list of rates, "
					      "`unlimited`, `never`, or a section of these words."},
	[SECTION_EXCEPTION] = {"Inside exempt and deny",
			       "The entries of `clients.exempt`, `clients.deny` and a limit's `exempt`. All "
			       "conditions of an entry must hold. "
			       "A bare value is an `ip`, or a `match` if it has a path in it."},
	[SECTION_LIMIT] = {"Inside a limit", "Several limits can hold for one request; each has these words. "
					     "Only `rate` is needed, or one of "
					     "`concurrent`, `bandwidth` and `total`."},
	[SECTION_CANDIDATE] = {"Inside a limit's candidate",
			       "Other numbers, beside those in force. What is not said "
			       "is as in the limit."},
	[SECTION_THEN] = {"Inside a limit's then", "What a client meets that is refused again and again."},
	[SECTION_OVER] = {"Inside a limit's over",
			  "What a quota gives beyond its number, and whom it tells."},
	[SECTION_COST] = {"Inside a limit's cost", "A cost that the request says, or its answer."},
	[SECTION_MATCH] = {"Inside match", "The long form of a match. All conditions must hold."},
	[SECTION_RESPOND] = {"Inside respond",
			     "What clients get; at the file's first level, and inside a limit."},
	[SECTION_BODY] = {"Inside respond.body", "A page of your own."},
};

static void write_values(FILE *out, const char *of)
{
	for (const struct word_value *value = word_values; value->of; value++)
		if (value->built && strcmp(value->of, of) == 0)
			fprintf(out, "- `%s`: %s\n", value->name, value->help);
	fputc('\n', out);
}

static void write_word(const struct word *word, void *context)
{
	FILE *out = context;
	if (!word->example)
		return;
	fprintf(out, "### `%s`\n\n*%s*", word->name, type_words[word->type]);
	if (*word->fallback)
		fprintf(out, " · default: %s", word->fallback);
	fprintf(out, "\n\n%s\n\n", word->help);
	if (word->type == TYPE_CHOICE || word->type == TYPE_CHOICES || word->type == TYPE_BODY ||
	    word->type == TYPE_WHERE || word->type == TYPE_WHERES)
		write_values(out, words_values_of(word));
	fprintf(out, "```yaml\n%s```\n\n", word->example);
}

static void write_later(const struct word *word, void *context)
{
	if (!word->example)
		fprintf(context, "- `%s` in %s: %s\n", word->name, words_where(word->section), word->help);
}

char *policy_schema_markdown(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(schema_prose_begin, out);
	for (enum word_section section = 0; section < SECTION_COUNT; section++) {
		fprintf(out, "## %s\n\n%s\n\n", sections[section].heading, sections[section].say);
		words_each(section, write_word, out);
	}
	fputs(schema_prose_grammar, out);
	write_values(out, "key");
	fputs(schema_prose_end, out);
	fputs(schema_prose_words, out);
	fputs(schema_prose_close, out);
	fputs("\n## Not built yet\n\nThese words are known and refused with \"not built yet\":\n\n", out);
	for (enum word_section section = 0; section < SECTION_COUNT; section++)
		words_each(section, write_later, out);
	for (const struct word_value *value = word_values; value->of; value++)
		if (!value->built)
			fprintf(out, "- `%s: %s`: %s\n", value->of, value->name, value->help);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
