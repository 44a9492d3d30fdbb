/* SPDX-License-Identifier: BSD-2-Clause */
/* import_ways: where nginx leads requests from one location to another, or answers them before a limit: rewrite, return, try_files,
 * index, error_page. A policy looks at what the client asked for. */
#include "cli/import_model.h"

static bool is_redirect(const struct conf_directive *rewrite)
{
	struct text last = rewrite->words[rewrite->count - 1], to = rewrite->words[2], rest;
	return text_equal(last, TEXT("redirect")) || text_equal(last, TEXT("permanent")) ||
	       import_begins(to, "http://", &rest) || import_begins(to, "https://", &rest) ||
	       import_begins(to, "$scheme", &rest);
}

/* Could the rest of the block be left out for some requests? */
static bool may_leave(const struct conf_directive *d)
{
	struct text last = d->words[d->count - 1];
	if (conf_is(d, "break") ||
	    (conf_is(d, "rewrite") && (text_equal(last, TEXT("last")) || text_equal(last, TEXT("break")))))
		return true;
	for (const struct conf_directive *child = conf_is(d, "if") ? d->children : NULL; child;
	     child = child->next)
		if (may_leave(child))
			return true;
	return false;
}

bool import_answers(const struct conf_directive *block)
{
	static const char *const ALL[] = {"^",	  "/",	   "^/",     ".*",     "^.*",	  "^.*$",
					  "(.*)", "^(.*)", "^(.*)$", "^/(.*)", "^/(.*)$", "^/?(.*)$"};
	for (const struct conf_directive *d = block->children; d; d = d->next) {
		if (conf_is(d, "return"))
			return true;
		for (size_t i = 0; conf_is(d, "rewrite") && d->count > 2 && i < sizeof ALL / sizeof *ALL; i++)
			if (text_equal(d->words[1], text_of(ALL[i])) && is_redirect(d))
				return true;
		if (may_leave(d))
			return false;
	}
	return false;
}

static void add(struct import_model *model, struct import_server *server, struct import_way way)
{
	server->ways = arena_grow(model->arena, server->ways, server->way_count, &server->way_capacity,
				  sizeof *server->ways);
	server->ways[server->way_count++] = way;
}

static void read(struct import_model *model, const struct conf_directive *block, struct import_server *server,
		 size_t from)
{
	for (const struct conf_directive *d = block->children; d; d = d->next) {
		struct import_way way = {.from = from, .directive = d, .to = d->words[d->count - 1]};
		const char *query = way.to.size ? memchr(way.to.data, '?', way.to.size) : NULL;
		if (query)
			way.to.size = (size_t)(query - way.to.data);
		if (conf_is(d, "if") && d->block) {
			read(model, d, server, from);
			continue;
		}
		if (conf_is(d, "return"))
			way.kind = IMPORT_ANSWERED;
		else if (conf_is(d, "rewrite") && d->count > 2 && is_redirect(d))
			way.kind = IMPORT_ANSWERED;
		else if (conf_is(d, "rewrite") && d->count > 2 &&
			 !(from && text_equal(d->words[d->count - 1], TEXT("break"))))
			way.kind = IMPORT_REWRITTEN;
		else if (conf_is(d, "try_files") && d->count > 2)
			way.kind = IMPORT_TRIED;
		else if (conf_is(d, "index") && d->count > 1)
			way.kind = IMPORT_INDEXED;
		else if (conf_is(d, "error_page") && d->count > 2)
			way.kind = IMPORT_PAGED;
		else
			continue;
		add(model, server, way);
	}
}

void import_ways(struct import_model *model, const struct conf_directive *block, struct import_server *server,
		 size_t from)
{
	read(model, block, server, from);
}

static bool is_index_of(const struct import_way *way, struct text uri)
{
	const char *slash = memrchr(uri.data, '/', uri.size);
	for (size_t i = 1; i < way->directive->count && slash; i++) {
		struct text name = way->directive->words[i];
		size_t size = (size_t)(uri.data + uri.size - slash - 1);
		if (text_equal(name, uri) || text_equal(name, (struct text){slash + 1, size}))
			return true;
	}
	return false;
}

bool import_leads(const struct import_way *way, const struct import_place *place)
{
	if (way->kind == IMPORT_INDEXED)
		return place->kind == IMPORT_EXACT && place->uri.size && is_index_of(way, place->uri);
	if (way->kind != IMPORT_TRIED && way->kind != IMPORT_PAGED)
		return false;
	if (place->kind == IMPORT_EXACT)
		return text_equal(way->to, place->uri);
	return (place->kind == IMPORT_PREFIX || place->kind == IMPORT_HARD_PREFIX) && place->uri.size > 1 &&
	       way->to.size >= place->uri.size && memcmp(way->to.data, place->uri.data, place->uri.size) == 0;
}

static bool limited(const struct import_place *place)
{
	return place->settings.req_count || place->settings.conn_count;
}

static bool has_lines(const struct import_place *place)
{
	for (size_t i = 0; i < place->line_count; i++)
		if (!place->lines[i]->dropped)
			return true;
	return false;
}

static void tell_leads(struct import_model *model, const struct import_server *server, size_t at)
{
	const struct import_place *place = &server->places[at];
	bool told[IMPORT_PAGED + 1] = {false};
	for (size_t i = 0; i < server->way_count; i++) {
		const struct import_way *way = &server->ways[i];
		if (way->from == at || told[way->kind] || !import_leads(way, place))
			continue;
		told[way->kind] = true;
		import_note(model, IMPORT_DIFFERS, place->place,
			    "`%s` at %s leads here from other paths; a policy looks at what the client asked "
			    "for",
			    import_written(model, way->directive),
			    import_where(model, way->directive->place));
	}
}

static void tell_server(struct import_model *model, const struct import_server *server)
{
	bool paths = false, limits = false;
	for (size_t i = 0; i < server->place_count; i++) {
		const struct import_place *place = &server->places[i];
		paths |= i && place->own && !place->why;
		limits |= limited(place) && !place->why && (!place->answers || place->own);
	}
	for (size_t i = 0; i < server->way_count; i++) {
		const struct import_way *way = &server->ways[i];
		const struct import_place *from = &server->places[way->from];
		if (way->kind == IMPORT_REWRITTEN && paths)
			import_note(model, IMPORT_DIFFERS, way->directive->place,
				    "`%s`: a policy looks at what the client asked for, not where a rewrite "
				    "leads",
				    import_written(model, way->directive));
		if (way->kind == IMPORT_ANSWERED && !(way->from ? from->answers : server->answers) &&
		    (way->from ? limited(from) : limits))
			import_note(model, IMPORT_DIFFERS, way->directive->place,
				    "`%s`: nginx does not limit what it answers here; a policy does",
				    import_written(model, way->directive));
	}
	for (size_t i = 1; i < server->place_count; i++) {
		const struct import_place *place = &server->places[i];
		if (!place->why && has_lines(place))
			tell_leads(model, server, i);
		if (place->kind != IMPORT_REGEX || !place->why || place->own)
			continue;
		if (place->answers && limits)
			import_note(model, IMPORT_DIFFERS, place->place,
				    "its regular expression cannot be said as paths: nginx does not limit "
				    "what it answers here, a policy does");
		else if (!place->answers && paths)
			import_note(model, IMPORT_DIFFERS, place->place,
				    "its regular expression cannot be said as paths: where it takes "
				    "requests away from locations with limits of their own, theirs hold");
	}
}

void import_tell_ways(struct import_model *model)
{
	for (struct import_server *server = model->servers; server; server = server->next)
		if (!server->ignored && !server->silent)
			tell_server(model, server);
}
