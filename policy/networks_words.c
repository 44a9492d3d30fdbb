/* SPDX-License-Identifier: BSD-2-Clause */
/* networks_words: lists of addresses, networks and names, and the names themselves. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/sections.h"
#include "policy/suggest.h"
#include "policy/value.h"
#include "policy/words.h"

struct list {
	struct network *networks;
	size_t count, capacity;
	const char *what;
};

static void add(struct load *load, struct list *list, const struct network *network)
{
	list->networks = arena_grow(&load->arena, list->networks, list->count, &list->capacity,
				    sizeof *list->networks);
	list->networks[list->count++] = *network;
}

static bool is_name(struct text text)
{
	for (size_t i = 0; i < text.size; i++)
		if (strchr(":/.[", text.data[i]))
			return false;
	return text_lower(text.data[0]) >= 'a' && text_lower(text.data[0]) <= 'z';
}

static void add_word(struct load *load, struct list *list, struct text word, struct model_mark mark)
{
	struct suggest suggest = suggest_begin(word);
	struct network network;
	char why[256];

	for (size_t i = 0; i < load->network_count; i++) {
		const struct named_networks *named = &load->networks[i];
		if (text_equal(named->name, word)) {
			for (size_t k = 0; k < named->count; k++)
				add(load, list, &named->networks[k]);
			return;
		}
		suggest_offer(&suggest, named->name);
	}
	if (network_parse(word, &network, why, sizeof why))
		add(load, list, &network);
	else if (is_name(word) && suggest.best.size)
		diag_error(load, mark, "unknown network '%.*s'; did you mean '%.*s'?", SHOW(word),
			   SHOW(suggest.best));
	else if (is_name(word))
		diag_error(
			load, mark,
			load->says.api_keys
				? "unknown network '%.*s'; it is not among clients.networks (an API key is "
				  "{key: NAME})"
				: "unknown network '%.*s'; it is not among clients.networks",
			SHOW(word));
	else
		diag_error(load, mark, "%s", why);
}

/* One scalar may hold several, as an environment variable does: `trusted: ${PROXIES}`. */
static void add_words(struct load *load, const struct node *item, void *context)
{
	struct list *list = context;
	struct text rest;

	if (!value_text(load, item, list->what, &rest))
		return;
	while (rest.size) {
		size_t size = 0;
		while (size < rest.size && !strchr(", \n\t", rest.data[size]))
			size++;
		if (size) {
			struct text word = {rest.data, size};
			add_word(load, list, word, yaml_mark_part(item, word));
		}
		size += size < rest.size;
		rest = (struct text){rest.data + size, rest.size - size};
	}
}

void networks_read(struct load *load, const struct node *node, const char *what, struct network **out,
		   size_t *count)
{
	struct list list = {.what = what};
	value_each(load, node, what, add_words, &list);
	*out = list.networks;
	*count = networks_sort(list.networks, list.count);
}

/* A file with one network a line. */
static void read_list_file(struct load *load, const struct node *node, struct list *list)
{
	struct text path, text;
	const char *why;

	const struct node *file = yaml_get(node, "file");
	size_t errors = load->diag.errors;
	if (!words_check(load, node, SECTION_NETWORK, "clients.networks") || load->diag.errors != errors)
		return;
	if (!file) {
		diag_error(load, node->mark,
			   "a network is a list of addresses and networks, or {file: NAME}");
		return;
	}
	if (!value_text(load, file, "file", &path))
		return;
	const char *name = source_beside(load, file->mark.file, path);
	load_watch_file(load, name);
	if (!source_slurp(load, name, SOURCE_FILE_MAX, &text, NULL, &why)) {
		diag_error(load, file->mark, "'%.*s' cannot be read: %s", SHOW(path), why);
		return;
	}
	load_hash(load, text);
	for (size_t at = 0, number = 1; at < text.size; number++) {
		const char *end = memchr(text.data + at, '\n', text.size - at);
		size_t size = end ? (size_t)(end - text.data) - at : text.size - at;
		const char *hash = memchr(text.data + at, '#', size);
		struct text line = {text.data + at, hash ? (size_t)(hash - text.data) - at : size};
		struct network network;
		char reason[256];

		if (line.size && line.data[line.size - 1] == '\r')
			line.size--;
		line = value_trim(line);
		if (line.size && network_parse(line, &network, reason, sizeof reason))
			add(load, list, &network);
		else if (line.size)
			diag_error(load, file->mark, "'%.*s', line %zu: %s", SHOW(path), number, reason);
		at += size + 1;
	}
}

void named_networks_read(struct load *load, const struct node *node)
{
	if (node->kind != NODE_MAP) {
		if (node->kind != NODE_BROKEN)
			diag_error(load, node->mark,
				   "'networks' gives names to lists, like {office: [198.51.100.0/24]}");
		return;
	}
	load->networks = arena_alloc(&load->arena, (node->count + 1) * sizeof *load->networks);
	for (size_t i = 0; i < node->count; i++) {
		const struct pair *pair = &node->pairs[i];
		struct list list = {.what = "networks"};

		size_t errors = load->diag.errors;
		value_name(load, pair->key.text, pair->key.mark, "a network");
		if (pair->value.kind == NODE_MAP)
			read_list_file(load, &pair->value, &list);
		else
			value_each(load, &pair->value, "networks", add_words, &list);
		/* An empty list would be read as "any address" wherever it is used. */
		if (list.count == 0 && load->diag.errors == errors)
			diag_error(load, pair->key.mark, "network '%.*s' names no address",
				   SHOW(pair->key.text));
		load->networks[load->network_count++] = (struct named_networks){
			pair->key.text, list.networks, networks_sort(list.networks, list.count)};
	}
}
