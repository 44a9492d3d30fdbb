/* SPDX-License-Identifier: BSD-2-Clause */
/* respond: what a refused client gets. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define PAGE_MAX ((size_t)64 << 10)

static const struct {
	const char *ending, *type;
} page_types[] = {
	{".html", "text/html; charset=utf-8"},	    {".htm", "text/html; charset=utf-8"},
	{".txt", "text/plain; charset=utf-8"},	    {".json", "application/json"},
	{".xml", "application/xml; charset=utf-8"}, {".svg", "image/svg+xml"},
};

static const char *type_of(struct text path)
{
	for (size_t i = 0; i < sizeof page_types / sizeof page_types[0]; i++) {
		struct text ending = text_of(page_types[i].ending);
		if (path.size > ending.size &&
		    text_equal_folded((struct text){path.data + path.size - ending.size, ending.size},
				      ending))
			return page_types[i].type;
	}
	return NULL;
}

/* The page of that name, read at its first mention. */
static const struct page *page_of(struct load *load, struct text path, struct model_mark mark)
{
	const char *name = source_beside(load, mark.file, path), *why = NULL;
	for (size_t i = 0; i < load->page_count; i++)
		if (text_equal(load->pages[i].path, text_of(name)))
			return &load->pages[i];
	load->pages = arena_grow(&load->arena, load->pages, load->page_count, &load->page_capacity,
				 sizeof *load->pages);
	struct page *page = &load->pages[load->page_count++];
	*page = (struct page){.path = text_of(name)};
	load_watch_file(load, name);
	const char *type = type_of(path);
	if (!type) {
		diag_error(load, mark,
			   "the type of '%.*s' is not known; its name ends in .html, .htm, .txt, .json, .xml "
			   "or .svg",
			   SHOW(path));
	} else if (!source_slurp(load, name, PAGE_MAX, &page->text, NULL, &why)) {
		diag_error(load, mark, "'%.*s' cannot be read: %s", SHOW(path), why);
	} else {
		load_hash(load, page->text);
		page->type = text_of(type);
		page->good = true;
	}
	return page;
}

static void read_body(struct load *load, const struct node *node, struct model_respond *respond)
{
	int number;
	struct text path;

	if (node->kind != NODE_MAP) {
		if (words_value(load, node, "body", &number)) {
			respond->body = (uint32_t)number;
			respond->file_text = respond->file_type = (struct text){0};
		}
		return;
	}
	const struct node *file = yaml_get(node, "file");
	if (!words_check(load, node, SECTION_BODY, "'body'"))
		return;
	if (!file) {
		diag_error(load, node->mark, "'body' is json, problem, text, or {file: NAME}");
		return;
	}
	if (!value_text(load, file, "file", &path))
		return;
	const struct page *page = page_of(load, path, file->mark);
	if (page->good) {
		respond->body = IMAGE_BODY_FILE;
		respond->file_type = page->type;
		respond->file_text = page->text;
	}
}

struct headers {
	uint32_t mask;
	bool none, other;
};

/* Two forms that write the same fields with other meanings. */
static const struct {
	uint32_t forms;
	const char *field;
} shared_fields[] = {
	{IMAGE_HEADERS_X, "X-RateLimit-Reset"},
	{IMAGE_HEADERS_RATELIMIT | IMAGE_HEADERS_DRAFT_7, "RateLimit"},
	{IMAGE_HEADERS_DRAFTS, "RateLimit-Policy"},
};

static const char *form_name(uint32_t form)
{
	for (const struct word_value *value = word_values; value->of; value++)
		if (strcmp(value->of, "headers") == 0 && value->number == (int)form)
			return value->name;
	return "";
}

/* Does `form` stand beside one that it contradicts? A finding then. */
static bool contradicts(struct load *load, const struct node *item, uint32_t mask, uint32_t form)
{
	for (size_t i = 0; i < sizeof shared_fields / sizeof shared_fields[0]; i++) {
		uint32_t other = mask & shared_fields[i].forms & ~form;

		if (!(form & shared_fields[i].forms) || !other)
			continue;
		diag_error(load, item->mark, "'%s' and '%s' both write %s; choose one",
			   form_name(other & -other), form_name(form), shared_fields[i].field);
		return true;
	}
	return false;
}

static void add_header(struct load *load, const struct node *item, void *context)
{
	struct headers *headers = context;
	int number;
	if (!words_value(load, item, "headers", &number))
		return;
	if (number == 0)
		headers->none = true;
	else
		headers->other = true;
	if (!contradicts(load, item, headers->mask, (uint32_t)number))
		headers->mask |= (uint32_t)number;
}

void respond_read(struct load *load, const struct node *node, const char *where,
		  struct model_respond *respond)
{
	const struct node *word;
	int number;

	if (!node || node->kind == NODE_EMPTY || !words_check(load, node, SECTION_RESPOND, where))
		return;
	if ((word = yaml_get(node, "status")))
		value_number(load, word, "status", 400, 599, &respond->status);
	if ((word = yaml_get(node, "headers"))) {
		struct headers headers = {0};
		value_each(load, word, "headers", add_header, &headers);
		if (headers.none && headers.other)
			diag_error(load, word->mark, "'none' stands alone");
		respond->headers = headers.mask;
	}
	if ((word = yaml_get(node, "body")))
		read_body(load, word, respond);
	if ((word = yaml_get(node, "cors")) && words_value(load, word, "cors", &number))
		respond->cors_mirror = number;
}
