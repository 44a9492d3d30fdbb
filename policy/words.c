/* SPDX-License-Identifier: BSD-2-Clause */
/* words: looking words up, and telling what was probably meant. */
#include "policy/words.h"

#include <stdio.h>

#include "policy/load.h"
#include "policy/suggest.h"

static const struct word *const tables[] = {words_file, words_clients, words_limit, words_answer};

/* What a section looks like, for who wrote something else in its place. */
static const char *const looks[SECTION_COUNT] = {
	[SECTION_FILE] = "limits: {per-ip: 50/s}",
	[SECTION_GATEWAY] = "{to: http://127.0.0.1:3000}",
	[SECTION_ROUTE] = "{match: /pay/**, to: http://127.0.0.1:4000}",
	[SECTION_CLIENTS] = "{exempt: [{match: GET /healthz}]}",
	[SECTION_ADDRESS] = "{from: x-forwarded-for, trusted: [10.0.0.0/8]}",
	[SECTION_NETWORK] = "{file: partners.txt}",
	[SECTION_EXCEPTION] = "{ip: 10.0.0.0/8, reason: ours}",
	[SECTION_LIMIT] = "{rate: 50/s}",
	[SECTION_MATCH] = "{path: /api/*}",
	[SECTION_RESPOND] = "{status: 429}",
	[SECTION_BODY] = "{file: 429.html}",
};

static const char *const wheres[] = {
#define X(name, where) where,
	WORD_SECTIONS(X)
#undef X
};

/* What people write who know other limiters. */
static const struct {
	enum word_section section;
	const char *wrong, *right;
} habits[] = {
	{SECTION_LIMIT, "path", "match: /the/path"},
	{SECTION_LIMIT, "url", "match: /the/path"},
	{SECTION_LIMIT, "location", "match: /the/path"},
	{SECTION_LIMIT, "method", "match: POST /the/path"},
	{SECTION_LIMIT, "host", "match: {host: the.host}"},
	{SECTION_LIMIT, "by", "key"},
	{SECTION_LIMIT, "per", "key"},
	{SECTION_LIMIT, "limit", "rate: 50/s"},
	{SECTION_LIMIT, "requests", "rate: 50/s"},
	{SECTION_LIMIT, "max", "rate: 50/s"},
	{SECTION_LIMIT, "window", "rate: 100/15min"},
	{SECTION_LIMIT, "period", "rate: 100/15min"},
	{SECTION_LIMIT, "nodelay", "burst (a token-bucket never delays)"},
	{SECTION_LIMIT, "delay", "at_once"},
	{SECTION_LIMIT, "connections", "concurrent: 10"},
	{SECTION_LIMIT, "max_connections", "concurrent: 10"},
	{SECTION_LIMIT, "limit_conn", "concurrent: 10"},
	{SECTION_LIMIT, "limit_rate", "bandwidth: 1MiB/s"},
	{SECTION_LIMIT, "limit_rate_after", "bandwidth: 1MiB/s after 500KiB"},
	{SECTION_LIMIT, "dry_run", "mode: shadow"},
	{SECTION_LIMIT, "enabled", "mode: enforce or disabled"},
	{SECTION_LIMIT, "status", "respond: {status: 429}"},
	{SECTION_LIMIT, "whitelist", "exempt"},
	{SECTION_CLIENTS, "whitelist", "exempt"},
	{SECTION_CLIENTS, "allow", "exempt"},
	{SECTION_CLIENTS, "blacklist", "deny"},
	{SECTION_CLIENTS, "block", "deny"},
	{SECTION_CLIENTS, "trusted_proxies", "address: {from: x-forwarded-for, trusted: [10.0.0.0/8]}"},
	{SECTION_FILE, "rules", "limits"},
	{SECTION_FILE, "rate_limits", "limits"},
	{SECTION_GATEWAY, "port", "listen"},
	{SECTION_GATEWAY, "backend", "to"},
	{SECTION_GATEWAY, "upstream", "to"},
	{SECTION_EXCEPTION, "address", "ip"},
	{SECTION_EXCEPTION, "path", "match: /the/path"},
	{SECTION_EXCEPTION, "expires", "until"},
};

const char *words_where(enum word_section section)
{
	return wheres[section];
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

/* A comma ended the value before, so that the rest of it looks like a word: `{match: GET,POST /x}`. */
static bool comma_trap(const struct pair *pair, const struct pair *before)
{
	return before && pair->value.kind == NODE_EMPTY && before->value.kind == NODE_SCALAR &&
	       !before->value.quoted && pair->key.mark.line == before->value.mark.line;
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
	if (comma_trap(pair, at ? &map->pairs[at - 1] : NULL)) {
		diag_error(
			load, pair->key.mark,
			"unknown word '%.*s' in %s; inside { } a comma ends the value before it: quote that",
			SHOW(name), where);
		return;
	}
	for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
		if (habits[i].section == section && text_equal_folded(name, text_of(habits[i].wrong))) {
			diag_error(load, pair->key.mark, "unknown word '%.*s' in %s; write %s", SHOW(name),
				   where, habits[i].right);
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
