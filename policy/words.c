/* SPDX-License-Identifier: BSD-2-Clause */
/* words: looking words up, and telling what was probably meant. */
#include "policy/words.h"

#include <stdio.h>

#include "policy/habits.h"
#include "policy/load.h"
#include "policy/suggest.h"

static const struct word *const tables[] = {words_file, words_clients,	 words_people, words_limit,
					    words_cost, words_candidate, words_then,   words_answer};

/* What a section looks like, for who wrote something else in its place. */
static const char *const looks[SECTION_COUNT] = {
	[SECTION_FILE] = "limits: {per-ip: 50/s}",
	[SECTION_GATEWAY] = "{to: http://127.0.0.1:3000}",
	[SECTION_ROUTE] = "{match: /pay/**, to: http://127.0.0.1:4000}",
	[SECTION_CLIENTS] = "{exempt: [{match: GET /healthz}]}",
	[SECTION_ADDRESS] = "{from: x-forwarded-for, trusted: [10.0.0.0/8]}",
	[SECTION_NETWORK] = "{file: partners.txt}",
	[SECTION_API_KEYS] = "{from: [header.x-api-key, bearer]}",
	[SECTION_JWT] = "{jwks_file: keys.json, algorithms: [RS256]}",
	[SECTION_PLAN] = "{from: [api-key], none: guest}",
	[SECTION_NUMBERS] = "{rate: 100/min, burst: 20}",
	[SECTION_EXCEPTION] = "{ip: 10.0.0.0/8, reason: ours}",
	[SECTION_LIMIT] = "{rate: 50/s}",
	[SECTION_MATCH] = "{path: /api/*}",
	[SECTION_CANDIDATE] = "{rate: 60/min}",
	[SECTION_THEN] = "{ban: 15min, after: 20 refusals in 5min}",
	[SECTION_OVER] = "{allow: 20%, notify: [80%, 100%]}",
	[SECTION_COST] = "{reserve: body.max_tokens, settle: response.body.usage.total_tokens}",
	[SECTION_RESPOND] = "{status: 429}",
	[SECTION_BODY] = "{file: 429.html}",
};

static const char *const wheres[] = {
#define X(name, where) where,
	WORD_SECTIONS(X)
#undef X
};

const char *words_where(enum word_section section)
{
	return wheres[section];
}

const char *words_values_of(const struct word *word)
{
	if (strcmp(word->name, "from") != 0)
		return word->name;
	return word->section == SECTION_API_KEYS ? "api_keys.from"
	       : word->section == SECTION_JWT	 ? "jwt.from"
	       : word->section == SECTION_PLAN	 ? "plan.from"
						 : word->name;
}

void words_each(enum word_section section, void (*visit)(const struct word *word, void *context),
		void *context)
{
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		for (const struct word *word = tables[i]; word->name; word++)
			if (word->section == section)
				visit(word, context);
}

/* "header.x-key" fits "header.NAME". */
static bool fits(struct text name, const char *pattern)
{
	const char *dot = strstr(pattern, ".NAME");
	if (!dot)
		return text_equal(name, text_of(pattern));
	size_t size = (size_t)(dot - pattern) + 1;
	return name.size > size && memcmp(name.data, pattern, size) == 0;
}

const struct word *words_find(enum word_section section, struct text name)
{
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		for (const struct word *word = tables[i]; word->name; word++)
			if (word->section == section && fits(name, word->name))
				return word;
	return NULL;
}

static void offer(const struct word *word, void *context)
{
	if (word->example)
		suggest_offer(context, text_of(word->name));
}

struct list { /* "a, b, c"; what does not fit is left out */
	char text[256];
	size_t used;
};

static void add_name(struct list *list, const char *name)
{
	int size = snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s",
			    list->used ? ", " : "", name);
	if (size > 0 && (size_t)size < sizeof list->text - list->used)
		list->used += (size_t)size;
	else
		list->text[list->used] = '\0';
}

static void add_to_list(const struct word *word, void *context)
{
	if (word->example)
		add_name(context, word->name);
}

static bool takes_list(enum word_section section, struct text name)
{
	const struct word *word = words_find(section, name);

	return word &&
	       (word->type == TYPE_STATUSES || word->type == TYPE_PERCENTS || word->type == TYPE_CHOICES ||
		word->type == TYPE_RATE || word->type == TYPE_KEY || word->type == TYPE_WHERES ||
		word->type == TYPE_LISTEN || word->type == TYPE_ADDRESSES ||
		/* a header's value can have a comma in it */
		(word->type == TYPE_TEXTS && !strchr(word->name, '.')));
}

static bool left_over(const struct node *map, size_t at, enum word_section section)
{
	return at < map->count && map->pairs[at].value.kind == NODE_EMPTY &&
	       !words_find(section, map->pairs[at].key.text);
}

/* A comma ended the value before, so that the rest of it looks like words: `{match: GET,POST /x}`,
 * `{failure: 401,403}`. One finding for all of the rest; false: it is something else. */
static bool comma_trap(struct load *load, const struct node *map, size_t at, enum word_section section,
		       const char *where)
{
	size_t first = at;
	const struct pair *pair = &map->pairs[at], *before;

	while (first > 0 && left_over(map, first, section))
		first--;
	before = &map->pairs[first];
	if (first == at || before->value.kind != NODE_SCALAR || before->value.quoted ||
	    pair->key.mark.line != before->value.mark.line)
		return false;
	if (first + 1 < at)
		return true; /* said with the first of them */
	if (!takes_list(section, before->key.text)) {
		diag_error(
			load, pair->key.mark,
			"unknown word '%.*s' in %s; inside { } a comma ends the value before it: quote that",
			SHOW(pair->key.text), where);
		return true;
	}
	struct text list = before->value.text;
	for (; left_over(map, at, section); at++)
		list = arena_format(&load->arena, "%.*s, %.*s", (int)list.size, list.data,
				    SHOW(map->pairs[at].key.text));
	diag_error(
		load, pair->key.mark,
		"unknown word '%.*s' in %s; inside { } a comma ends the value before it: write %.*s: [%.*s]",
		SHOW(pair->key.text), where, SHOW(before->key.text), (int)(list.size < 200 ? list.size : 200),
		list.data);
	return true;
}

static void unknown(struct load *load, const struct node *map, size_t at, enum word_section section,
		    const char *where)
{
	const struct pair *pair = &map->pairs[at];
	struct text name = pair->key.text;

	if (text_equal(name, TEXT("<<"))) {
		diag_error(load, pair->key.mark,
			   "YAML merge keys (<<) are not used in policies; write the words out");
		return;
	}
	if (comma_trap(load, map, at, section, where))
		return;
	const char *habit = habits_word(section, name);
	if (habit) {
		diag_error(load, pair->key.mark, "unknown word '%.*s' in %s; write %s", SHOW(name), where,
			   habit);
		return;
	}
	struct suggest suggest = suggest_begin(name);
	words_each(section, offer, &suggest);
	if (suggest.best.size) {
		diag_error(load, pair->key.mark, "unknown word '%.*s' in %s; did you mean '%.*s'?",
			   SHOW(name), where, SHOW(suggest.best));
		return;
	}
	for (enum word_section other = 0; other < SECTION_COUNT; other++)
		if (words_find(other, name)) {
			diag_error(load, pair->key.mark, "unknown word '%.*s' in %s; it belongs in %s",
				   SHOW(name), where, wheres[other]);
			return;
		}
	struct list list = {.text = ""};
	words_each(section, add_to_list, &list);
	diag_error(load, pair->key.mark, "unknown word '%.*s' in %s; its words are %s", SHOW(name), where,
		   list.text);
}

bool words_check(struct load *load, const struct node *map, enum word_section section, const char *where)
{
	if (map->kind != NODE_MAP) {
		if (map->kind != NODE_BROKEN)
			diag_error(load, map->mark, "%s holds words and values, like %s", where,
				   looks[section]);
		return false;
	}
	for (size_t i = 0; i < map->count; i++) {
		const struct word *word = words_find(section, map->pairs[i].key.text);
		if (!word)
			unknown(load, map, i, section, where);
		else if (!word->example)
			diag_error(load, map->pairs[i].key.mark, "'%.*s' is not built yet",
				   SHOW(map->pairs[i].key.text));
	}
	return true;
}

bool words_value_text(struct load *load, struct text text, struct model_mark mark, const char *of,
		      int *number)
{
	struct suggest suggest = suggest_begin(text);
	for (const struct word_value *value = word_values; value->of; value++) {
		if (strcmp(value->of, of) != 0)
			continue;
		if (fits(text, value->name) && value->built) {
			*number = value->number;
			return true;
		}
		if (fits(text, value->name)) {
			diag_error(load, mark, "'%.*s' is not built yet", SHOW(text));
			return false;
		}
		if (value->built)
			suggest_offer(&suggest, text_of(value->name));
	}
	const char *habit = habits_value(of, text);
	if (habit) {
		diag_error(load, mark, "'%.*s' is no value of '%s'; %s", SHOW(text), of, habit);
		return false;
	}
	if (suggest.best.size) {
		diag_error(load, mark, "'%.*s' is no value of '%s'; did you mean '%.*s'?", SHOW(text), of,
			   SHOW(suggest.best));
		return false;
	}
	struct list list = {.text = ""};
	for (const struct word_value *value = word_values; value->of; value++)
		if (strcmp(value->of, of) == 0 && value->built)
			add_name(&list, value->name);
	diag_error(load, mark, "'%.*s' is no value of '%s'; it is one of: %s", SHOW(text), of, list.text);
	return false;
}

bool words_value(struct load *load, const struct node *node, const char *of, int *number)
{
	if (node->kind == NODE_SCALAR)
		return words_value_text(load, node->text, node->mark, of, number);
	if (node->kind != NODE_BROKEN)
		diag_error(load, node->mark, "'%s' is one word", of);
	return false;
}
