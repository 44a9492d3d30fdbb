/* SPDX-License-Identifier: BSD-2-Clause */
/* where: where a client says who it is: `[header.x-api-key, bearer]`. */
#include "policy/load.h"
#include "policy/place.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define WHERES_MAX    16
#define DOOR_FILE_MAX 512 /* with NUL: what a door has room for (identity/people.h) */

struct wheres {
	const char *of, *what;
	struct model_where items[WHERES_MAX];
	size_t count;
};

static bool read_name(struct load *load, uint32_t said, struct text word, struct model_mark mark,
		      struct text *name)
{
	static const uint32_t kinds[] = {
		[IMAGE_SAID_HEADER] = IMAGE_KEY_HEADER,
		[IMAGE_SAID_COOKIE] = IMAGE_KEY_COOKIE,
		[IMAGE_SAID_QUERY] = IMAGE_KEY_QUERY,
		[IMAGE_SAID_CLAIM] = IMAGE_KEY_JWT,
	};

	if (said == IMAGE_SAID_BEARER || said == IMAGE_SAID_KEY)
		return true;
	return key_name_read(load, kinds[said], word, mark, name);
}

static void add(struct load *load, const struct node *item, void *context)
{
	struct wheres *list = context;
	struct model_where where = {.name = {"", 0}};
	struct text word;
	int said;

	if (!value_line(load, item, list->what, &word) ||
	    !words_value_text(load, word, item->mark, list->of, &said))
		return;
	where.said = (uint32_t)said;
	if (!read_name(load, where.said, word, item->mark, &where.name))
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].said == where.said && text_equal(list->items[i].name, where.name)) {
			diag_error(load, item->mark, "'%.*s' stands twice in '%s'", SHOW(word), list->what);
			return;
		}
	if (list->count == WHERES_MAX)
		diag_error(load, item->mark, "'%s' names at most %d places", list->what, WHERES_MAX);
	else
		list->items[list->count++] = where;
}

void where_read(struct load *load, const struct node *node, const char *of, const char *what,
		struct model_where **out, size_t *count)
{
	struct wheres *list = arena_alloc(&load->arena, sizeof *list);

	list->of = of;
	list->what = what;
	value_each(load, node, what, add, list);
	*out = list->items;
	*count = list->count;
}

bool door_file_read(struct load *load, const char *from, struct text path, struct model_mark mark,
		    struct text *out)
{
	char absolute[PLACE_MAX];

	if (!policy_absolute_path(source_beside(load, from, path), absolute, sizeof absolute) ||
	    strlen(absolute) >= DOOR_FILE_MAX) {
		diag_error(load, mark, "the path of '%.*s' is longer than %d bytes", SHOW(path),
			   DOOR_FILE_MAX - 1);
		return false;
	}
	*out = arena_text(&load->arena, absolute, strlen(absolute));
	return true;
}
