/* SPDX-License-Identifier: BSD-2-Clause */
/* import_page: error_page for the status of refusals, as a page of the policy's own where it is a file that can be read. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import_model.h"

#define PAGE_MAX 65536

void import_page(struct import_model *model, const struct conf_directive *d, struct import_settings *settings,
		 bool *replaced)
{
	bool special = false;
	uint64_t code;

	if (!*replaced)
		settings->pages = NULL; /* a level's own replace those that it would inherit */
	*replaced = true;
	if (d->count < 3)
		return;
	struct text uri = d->words[d->count - 1];
	special = uri.size == 0 || uri.data[0] != '/' || memchr(uri.data, '$', uri.size);
	for (size_t i = 1; i + 1 < d->count; i++)
		special |= d->words[i].size && d->words[i].data[0] == '=';
	for (size_t i = 1; i + 1 < d->count; i++) {
		if (!import_number(d->words[i], 599, &code) || code < 400)
			continue;
		struct import_page *page = arena_alloc(model->arena, sizeof *page);
		*page = (struct import_page){(unsigned)code, uri, special, d->place, settings->pages};
		settings->pages = page;
	}
}

/* The folder that nginx would find the page in: that of its location. */
static struct text root_of(const struct import_limit *limit, struct text uri)
{
	const struct import_server *server = limit->server;
	const struct import_place *best = &server->places[0];
	size_t size = 0;
	for (size_t i = 1; i < server->place_count; i++) {
		const struct import_place *place = &server->places[i];
		bool meets = place->kind == IMPORT_EXACT
				     ? text_equal(place->uri, uri)
				     : (place->kind == IMPORT_PREFIX || place->kind == IMPORT_HARD_PREFIX) &&
					       place->uri.size <= uri.size &&
					       memcmp(place->uri.data, uri.data, place->uri.size) == 0;
		if (meets && place->uri.size >= size) {
			best = place;
			size = place->uri.size;
		}
	}
	if (best->settings.alias)
		return (struct text){0};
	return best->settings.root;
}

static bool has_type(struct text path)
{
	static const char *const TYPES[] = {".html", ".htm", ".txt", ".json", ".xml", ".svg"};
	for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
		size_t size = strlen(TYPES[i]);
		if (path.size > size && memcmp(path.data + path.size - size, TYPES[i], size) == 0)
			return true;
	}
	return false;
}

static const char *file_of(struct import_model *model, const struct import_limit *limit)
{
	struct text uri = limit->page->uri, root = root_of(limit, uri);
	struct stat st;

	if (limit->page->special || model->conf->no_files || root.size == 0 || root.data[0] != '/' ||
	    memchr(root.data, '$', root.size) || memchr(root.data, '\0', root.size) ||
	    memchr(uri.data, '\0', uri.size) || memmem(uri.data, uri.size, "..", 2))
		return NULL;
	struct text path = arena_format(model->arena, "%.*s%.*s", (int)root.size, root.data, (int)uri.size,
					uri.data);
	for (size_t i = 0; i < path.size; i++)
		if (path.data[i] < ' ' || path.data[i] == 0x7f)
			return NULL;
	if (!has_type(path) || stat(path.data, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > PAGE_MAX ||
	    access(path.data, R_OK) != 0)
		return NULL;
	return path.data;
}

void import_pages(struct import_model *model)
{
	for (size_t i = 0; i < model->limit_count; i++) {
		struct import_limit *limit = &model->limits[i];
		bool told = false;
		if (!limit->page || limit->dry)
			continue;
		limit->page_file = file_of(model, limit);
		for (size_t k = 0; k < i; k++)
			told |= model->limits[k].page == limit->page && !model->limits[k].dry;
		if (!limit->page_file && !told)
			import_note(model, IMPORT_DIFFERS, limit->page->place,
				    "error_page %u %.*s: it is no file that can be read from here; in nginx "
				    "it still answers, other doors send weir's "
				    "own body",
				    limit->page->code, (int)limit->page->uri.size, limit->page->uri.data);
	}
}
