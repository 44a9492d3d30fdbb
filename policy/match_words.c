/* SPDX-License-Identifier: BSD-2-Clause */
/* match_words: the long form of a match, {host:, path:, method:, ip:, header.NAME:, for:, not:}. A list of values
 * means any of them: the clause is repeated for each, since a clause of the model has one host, one path and
 * one value per header. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define CLAUSES_MAX 1000 /* that one match may come to */

struct clauses {
	struct model_clause *items;
	size_t count, capacity;
	bool exact, inside_not;
};

static void push(struct load *load, struct clauses *clauses, const struct model_clause *clause)
{
	clauses->items = arena_grow(&load->arena, clauses->items, clauses->count, &clauses->capacity,
				    sizeof *clauses->items);
	clauses->items[clauses->count++] = *clause;
}

/* One dimension of the long form: every clause so far, times every value of `node`. */
struct dimension {
	struct clauses *from, *into;
	const char *word;
	struct text header;
	bool full; /* no more combinations: said once */
	bool (*apply)(struct load *load, const struct dimension *dimension, const struct node *item,
		      struct text value, struct model_clause *clause);
};

static void multiply_by(struct load *load, const struct node *item, void *context)
{
	struct dimension *dimension = context;
	struct text text;

	if (!value_line(load, item, dimension->word, &text))
		return;
	if (dimension->into->count + dimension->from->count > CLAUSES_MAX) {
		if (!dimension->full)
			diag_error(load, item->mark, "the lists of this match make more than %d combinations",
				   CLAUSES_MAX);
		dimension->full = true;
		return;
	}
	for (size_t i = 0; i < dimension->from->count; i++) {
		struct model_clause clause = dimension->from->items[i];
		if (!dimension->apply(load, dimension, item, text, &clause))
			return;
		clause.text = arena_format(&load->arena, "%.*s%s%s: %.*s", (int)clause.text.size,
					   clause.text.data ? clause.text.data : "",
					   clause.text.size ? ", " : "", dimension->word, (int)text.size,
					   text.data);
		push(load, dimension->into, &clause);
	}
}

static void multiply(struct load *load, const struct node *node, struct clauses *clauses,
		     struct dimension dimension)
{
	struct clauses into = {.exact = clauses->exact, .inside_not = clauses->inside_not};
	dimension.from = clauses;
	dimension.into = &into;
	value_each(load, node, dimension.word, multiply_by, &dimension);
	if (into.count)
		*clauses = into;
}

static bool apply_path(struct load *load, const struct dimension *dimension, const struct node *item,
		       struct text value, struct model_clause *clause)
{
	struct text path = value;
	if (path.size > 1 && path.data[0] != '/' && memmem(path.data, path.size, " /", 2)) {
		diag_error(load, item->mark,
			   "here the methods are a word of their own: {method: ..., path: ...}");
		return false;
	}
	return match_path_read(load, item, path, dimension->from->exact, &clause->path);
}

static bool host_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static bool apply_host(struct load *load, const struct dimension *dimension, const struct node *item,
		       struct text value, struct model_clause *clause)
{
	struct text host = value;
	char *copy = arena_alloc(&load->arena, host.size + 1);
	size_t size = host.size, start = 0;
	(void)dimension;

	for (size_t i = 0; i < size; i++)
		copy[i] = text_lower(host.data[i]);
	if (size > 1 && copy[size - 1] == '.')
		size--;
	if (size > 2 && copy[0] == '*' && copy[1] == '.')
		start = 2;
	if (size > 0 && copy[0] == '.') {
		diag_error(load, item->mark, "'%.*s' is not a host like example.com or *.example.com",
			   SHOW(host));
		return false;
	}
	bool six = size > 2 && copy[0] == '[' && copy[size - 1] == ']';
	for (size_t i = start; i < size && !six; i++)
		if (!host_byte(copy[i])) {
			diag_error(load, item->mark,
				   "'%.*s' is not a host like example.com or *.example.com%s", SHOW(host),
				   copy[i] == ':' ? " (the port is left out)" : "");
			return false;
		}
	clause->host = (struct text){copy, size};
	return true;
}

static bool apply_header(struct load *load, const struct dimension *dimension, const struct node *item,
			 struct text value, struct model_clause *clause)
{
	struct model_header_test *tests = arena_alloc(&load->arena,
						      (clause->header_count + 1) * sizeof *tests);
	struct model_header_test test = {dimension->header, value, IMAGE_EXACT};

	bool before = value.data[0] == '*', behind = value.data[value.size - 1] == '*';
	if (value.size == 1 && before)
		test = (struct model_header_test){dimension->header, {"", 0}, IMAGE_PRESENT};
	else if (before && !behind)
		test = (struct model_header_test){
			dimension->header, {value.data + 1, value.size - 1}, IMAGE_SUFFIX};
	else if (behind && !before)
		test = (struct model_header_test){
			dimension->header, {value.data, value.size - 1}, IMAGE_PREFIX};
	if (memchr(test.value.data, '*', test.value.size)) {
		diag_error(load, item->mark, "a * stands at one end of a header's value, or alone");
		return false;
	}
	if (clause->header_count)
		memcpy(tests, clause->headers, clause->header_count * sizeof *tests);
	tests[clause->header_count++] = test;
	clause->headers = tests;
	return true;
}

struct method_list {
	uint32_t mask;
	struct text text;
};

static void add_methods(struct load *load, const struct node *item, void *context)
{
	struct method_list *list = context;
	struct text text;
	uint32_t mask;
	if (!value_line(load, item, "method", &text) || !match_methods_read(load, item, text, &mask))
		return;
	list->mask |= mask;
	list->text = arena_format(&load->arena, "%.*s%s%.*s", (int)list->text.size,
				  list->text.data ? list->text.data : "", list->text.size ? "," : "",
				  (int)text.size, text.data);
}

static struct text join_text(struct load *load, struct text before, const char *word, struct text value)
{
	return arena_format(&load->arena, "%.*s%s%s: %.*s", (int)before.size, before.data ? before.data : "",
			    before.size ? ", " : "", word, (int)value.size, value.data ? value.data : "");
}

static struct text networks_text(struct load *load, const struct network *networks, size_t count)
{
	char first[ADDRESS_TEXT_MAX], last[ADDRESS_TEXT_MAX];
	struct text text = {"", 0};

	/* a list of thousands is told by its size: the text is for reading */
	for (size_t i = 0; i < count && i < 8; i++) {
		address_format((const struct address *)networks[i].first, first);
		address_format((const struct address *)networks[i].last, last);
		bool one = strcmp(first, last) == 0;
		text = arena_format(&load->arena, "%s%s%s%s%s", text.data, i ? "+" : "", first,
				    one ? "" : "-", one ? "" : last);
	}
	return count > 8 ? arena_format(&load->arena, "%s+%zu more", text.data, count - 8) : text;
}

static void read_words(struct load *load, const struct node *node, struct clauses *out);

static void read_not(struct load *load, const struct node *node, struct model_clause *base, bool exact)
{
	struct clauses nots = {.exact = exact, .inside_not = true};
	bool list = node->kind == NODE_LIST;

	for (size_t i = 0; i < (list ? node->count : 1); i++)
		read_words(load, list ? &node->items[i] : node, &nots);
	base->nots = nots.items;
	base->not_count = nots.count;
	base->text = join_text(load, base->text, "not", match_text(load, nots.items, nots.count));
}

/* The conditions that are not multiplied. */
static void read_single(struct load *load, const struct node *node, struct clauses *out,
			struct model_clause *base)
{
	const struct node *word;

	if ((word = yaml_get(node, "method"))) {
		struct method_list list = {0};
		value_each(load, word, "method", add_methods, &list);
		if (list.mask)
			base->methods = list.mask;
		base->text = join_text(load, base->text, "method", list.text);
	}
	if ((word = yaml_get(node, "ip"))) {
		networks_read(load, word, "ip", &base->networks, &base->network_count);
		base->text = join_text(load, base->text, "ip",
				       networks_text(load, base->networks, base->network_count));
	}
	if ((word = yaml_get(node, "for"))) {
		struct text who = {"", 0};
		who_read(load, word, &base->who, &who);
		base->text = join_text(load, base->text, "for", who);
	}
	if ((word = yaml_get(node, "not"))) {
		if (out->inside_not)
			diag_error(load, word->mark,
				   "a 'not' inside a 'not' is not understood; say what it means without");
		else
			read_not(load, word, base, out->exact);
	}
}

/* One node: a scalar or the long form. */
static void read_words(struct load *load, const struct node *node, struct clauses *out)
{
	struct clauses found = {.exact = out->exact, .inside_not = out->inside_not};
	struct model_clause base = {.mark = node->mark, .methods = IMAGE_METHOD_ANY};

	if (node->kind != NODE_MAP) {
		if (match_scalar_read(load, node, out->exact, &base))
			push(load, out, &base);
		return;
	}
	if (!words_check(load, node, SECTION_MATCH, "'match'"))
		return;
	if (node->count == 0)
		diag_error(load, node->mark, "an empty match; leave it out for every request");
	read_single(load, node, out, &base);
	push(load, &found, &base);
	for (size_t i = 0; i < node->count; i++) {
		const struct pair *pair = &node->pairs[i];
		struct text word = pair->key.text, header;

		if (text_equal(word, TEXT("host")))
			multiply(load, &pair->value, &found,
				 (struct dimension){.word = "host", .apply = apply_host});
		else if (text_equal(word, TEXT("path")))
			multiply(load, &pair->value, &found,
				 (struct dimension){.word = "path", .apply = apply_path});
		else if (word.size > 7 && memcmp(word.data, "header.", 7) == 0 &&
			 header_name_read(load, (struct text){word.data + 7, word.size - 7}, pair->key.mark,
					  &header))
			multiply(load, &pair->value, &found,
				 (struct dimension){
					 .word = arena_format(&load->arena, "header.%s", header.data).data,
					 .header = header,
					 .apply = apply_header});
	}
	for (size_t i = 0; i < found.count; i++) {
		found.items[i].text = arena_format(&load->arena, "{%.*s}", (int)found.items[i].text.size,
						   found.items[i].text.data);
		push(load, out, &found.items[i]);
	}
}

void match_read(struct load *load, const struct node *node, bool exact, struct model_clause **out,
		size_t *count)
{
	struct clauses clauses = {.exact = exact};

	if (!node)
		return;
	if (node->kind == NODE_LIST && node->count == 0)
		diag_error(load, node->mark, "an empty match; leave it out for every request");
	for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++)
		read_words(load, &node->items[i], &clauses);
	if (node->kind != NODE_LIST)
		read_words(load, node, &clauses);
	*out = clauses.items;
	*count = clauses.count;
}

static size_t put(char *out, size_t used, struct text text)
{
	if (text.size)
		memcpy(out + used, text.data, text.size);
	return used + text.size;
}

struct text match_text(struct load *load, const struct model_clause *clauses, size_t count)
{
	size_t size = 1, used = 0;
	for (size_t i = 0; i < count; i++)
		size += clauses[i].text.size + 4;
	char *text = arena_alloc(&load->arena, size);
	for (size_t i = 0; i < count; i++) {
		used = put(text, used, i ? TEXT(" or ") : TEXT(""));
		used = put(text, used, clauses[i].text);
	}
	return (struct text){text, used};
}
