/* SPDX-License-Identifier: BSD-2-Clause */
/* include: reading a policy that is spread over files. The including file comes first, its includes follow in
 * the order of their names, each with its own includes behind it. */
#include "policy/include.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "policy/load.h"
#include "policy/value.h"
#include "policy/words.h"

struct join { /* whose includes are being read, into which root */
	const struct source *source;
	struct node *root;
};

static void join_source(struct load *load, const struct source *source, struct node *root);

static void append_pairs(struct load *load, struct node *into, const struct node *from)
{
	struct pair *pairs = arena_alloc(&load->arena, (into->count + from->count) * sizeof *pairs);
	if (into->count)
		memcpy(pairs, into->pairs, into->count * sizeof *pairs);
	if (from->count)
		memcpy(pairs + into->count, from->pairs, from->count * sizeof *pairs);
	into->pairs = pairs;
	into->count += from->count;
}

static void append_items(struct load *load, struct node *into, const struct node *from)
{
	struct node *items = arena_alloc(&load->arena, (into->count + from->count) * sizeof *items);
	if (into->count)
		memcpy(items, into->items, into->count * sizeof *items);
	if (from->count)
		memcpy(items + into->count, from->items, from->count * sizeof *items);
	into->items = items;
	into->count += from->count;
}

/* Words whose values are put together rather than said twice. */
static bool joins(struct text word)
{
	static const char *const words[] = {"limits", "plans", "clients", "networks", "exempt", "deny"};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (text_equal(word, text_of(words[i])))
			return true;
	return false;
}

static void join_pair(struct load *load, struct node *into, const struct pair *pair);

/* `clients` is joined word by word; what is below it, and the limits, by appending. Twins among appended
 * words are found later, all at once. */
static void join_value(struct load *load, const struct pair *pair, struct node *into)
{
	const struct node *from = &pair->value;

	if (into->kind == NODE_MAP && from->kind == NODE_MAP && text_equal(pair->key.text, TEXT("clients"))) {
		for (size_t i = 0; i < from->count; i++)
			join_pair(load, into, &from->pairs[i]);
	} else if (into->kind == NODE_MAP && from->kind == NODE_MAP) {
		append_pairs(load, into, from);
	} else if (into->kind == NODE_LIST && from->kind == NODE_LIST) {
		append_items(load, into, from);
	} else if (into->kind == NODE_EMPTY) {
		*into = *from;
	} else if (from->kind != NODE_EMPTY) {
		diag_error(load, pair->key.mark, "'%.*s' is of another kind than at %s:%u:%u",
			   SHOW(pair->key.text), into->mark.file, into->mark.line, into->mark.column);
	}
}

static void join_pair(struct load *load, struct node *into, const struct pair *pair)
{
	for (size_t i = 0; i < into->count; i++) {
		struct pair *there = &into->pairs[i];
		if (!text_equal(there->key.text, pair->key.text))
			continue;
		if (joins(pair->key.text))
			join_value(load, pair, &there->value);
		else
			diag_error(load, pair->key.mark, "'%.*s' stands twice; it is already at %s:%u:%u",
				   SHOW(pair->key.text), there->key.mark.file, there->key.mark.line,
				   there->key.mark.column);
		return;
	}
	append_pairs(load, into, &(struct node){.kind = NODE_MAP, .pairs = (struct pair *)pair, .count = 1});
}

/* False if no more files may be read. */
static bool read_file(struct load *load, const struct join *join, const char *path, struct model_mark mark)
{
	struct stat status;

	if (load->source_count > SOURCE_INCLUDES_MAX) {
		diag_error(load, mark, "more than %u files are included", SOURCE_INCLUDES_MAX);
		return false;
	}
	if (stat(path, &status) == 0) {
		for (size_t i = 0; i < load->source_count; i++) {
			const struct source *other = load->sources[i];
			if (other->inode != status.st_ino || other->device != status.st_dev)
				continue;
			diag_error(load, mark, "'%.*s' is included in itself, or twice", SHOW(text_of(path)));
			return true;
		}
	}
	const struct source *source = source_read(load, path, (struct text){0}, join->source, mark);
	if (source)
		join_source(load, source, join->root);
	return true;
}

/* The pattern, made relative to the folder of the including file, in whose name nothing is a pattern. */
static struct text whole_pattern(struct load *load, const char *including, struct text pattern)
{
	const char *slash = strrchr(including, '/');
	size_t folder = slash && pattern.data[0] != '/' ? (size_t)(slash - including) + 1 : 0, used = 0;
	char *whole = arena_alloc(&load->arena, 2 * folder + pattern.size + 1);

	for (size_t i = 0; i < folder; i++) {
		if (strchr("*?[]\\", including[i]))
			whole[used++] = '\\';
		whole[used++] = including[i];
	}
	memcpy(whole + used, pattern.data, pattern.size);
	return (struct text){whole, used + pattern.size};
}

static bool is_pattern(struct text text)
{
	for (size_t i = 0; i < text.size; i++)
		if (strchr("*?[", text.data[i]))
			return true;
	return false;
}

/* A file that appears in the folder of a pattern is part of the policy from then on: it must be watched. */
static void watch_folder(struct load *load, const char *including, struct text pattern)
{
	const char *slash = strrchr(including, '/');
	size_t outer = slash && pattern.data[0] != '/' ? (size_t)(slash - including) + 1 : 0,
	       inner = pattern.size;

	while (inner > 0 &&
	       (pattern.data[inner - 1] != '/' || is_pattern((struct text){pattern.data, inner})))
		inner--;
	struct text folder = arena_format(&load->arena, "%.*s%.*s", (int)outer, including, (int)inner,
					  pattern.data);
	load_watch_folder(load, folder.size ? folder.data : ".");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_pattern(struct load *load, const struct node *item, void *context)
{
	const struct join *join = context;
	struct text pattern;

	if (!value_text(load, item, "include", &pattern))
		return;
	if (!is_pattern(pattern)) {
		read_file(load, join, source_beside(load, join->source->name, pattern), item->mark);
		return;
	}
	watch_folder(load, join->source->name, pattern);
	load->globbing = true;
	int result = glob(whole_pattern(load, join->source->name, pattern).data, GLOB_NOSORT, NULL,
			  &load->glob);
	size_t count = result == 0 ? load->glob.gl_pathc : 0;
	const char **names = arena_alloc(&load->arena, (count + 1) * sizeof(*names));
	for (size_t i = 0; i < count; i++)
		names[i] =
			arena_text(&load->arena, load->glob.gl_pathv[i], strlen(load->glob.gl_pathv[i])).data;
	globfree(&load->glob);
	load->globbing = false;
	if (result == GLOB_NOSPACE)
		longjmp(load->arena.out_of_memory, 1);
	/* not glob's order, which is the locale's: the same files mean the same policy everywhere */
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count && read_file(load, join, names[i], item->mark); i++)
		;
}

static void join_source(struct load *load, const struct source *source, struct node *root)
{
	struct node tree;
	struct join join = {source, root};

	if (!yaml_read(load, source, &tree))
		return;
	if (tree.kind == NODE_EMPTY && !source->includer)
		diag_error(load, tree.mark,
			   "the policy is empty; the smallest one is limits: {per-ip: 50/s}");
	if (tree.kind == NODE_EMPTY || !words_check(load, &tree, SECTION_FILE, "the file"))
		return;
	for (size_t i = 0; i < tree.count; i++)
		if (!text_equal(tree.pairs[i].key.text, TEXT("include")))
			join_pair(load, root, &tree.pairs[i]);
	const struct node *includes = yaml_get(&tree, "include");
	if (includes)
		value_each(load, includes, "include", read_pattern, &join);
}

void include_all(struct load *load, const struct source *source, struct node *root)
{
	*root = (struct node){.kind = NODE_MAP, .mark = {source->name, 1, 1, 1}};
	join_source(load, source, root);
	for (size_t i = 0; i < root->count; i++) {
		struct node *value = &root->pairs[i].value;
		if (value->kind != NODE_MAP)
			continue;
		yaml_refuse_twins(load, value);
		for (size_t k = 0; k < value->count; k++)
			if (value->pairs[k].value.kind == NODE_MAP &&
			    text_equal(value->pairs[k].key.text, TEXT("networks")))
				yaml_refuse_twins(load, &value->pairs[k].value);
	}
}
