/* SPDX-License-Identifier: BSD-2-Clause */
/* import_location: the locations of a server, those inside others too, each with the paths that it is for. */
#include "cli/import_model.h"

#define PLACES_MAX 1000u /* of a server */

/* "location ~* X", or "location ~*X" */
static void read_head(const struct conf_directive *d, struct import_place *place)
{
	static const struct {
		const char *sign;
		enum import_place_kind kind;
		bool folded;
	} SIGNS[] = {{"^~", IMPORT_HARD_PREFIX, false},
		     {"~*", IMPORT_REGEX, true},
		     {"~", IMPORT_REGEX, false},
		     {"=", IMPORT_EXACT, false},
		     {"@", IMPORT_NAMED, false}};
	struct text head = d->words[1];

	place->kind = IMPORT_PREFIX;
	place->uri = d->words[d->count - 1];
	for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
		struct text rest;
		if (!import_begins(head, SIGNS[i].sign, &rest) || (d->count == 3 && rest.size))
			continue;
		place->kind = SIGNS[i].kind;
		place->folded = SIGNS[i].folded;
		if (d->count == 2)
			place->uri = rest;
		return;
	}
}

static void regex_patterns(struct import_model *model, struct import_place *place)
{
	struct import_regex regex;
	if (!import_regex(model, place->uri, &regex) ||
	    !import_regex_paths(model, &regex, &place->patterns, &place->textual))
		place->why = "this location's regular expression cannot be said as paths";
	else
		place->wider = regex.wider;
}

static void find_patterns(struct import_model *model, struct import_place *place)
{
	struct text uri = place->uri, pattern;
	bool slash = uri.size && uri.data[uri.size - 1] == '/';

	if (place->kind == IMPORT_NAMED) {
		place->why = "requests come to this location by way of others, and weir sees what the client "
			     "asked for";
		return;
	}
	if (place->internal) {
		place->why = "this location is internal, and weir sees what the client asked for";
		return;
	}
	if (place->kind == IMPORT_REGEX) {
		regex_patterns(model, place);
		return;
	}
	place->textual = !slash && place->kind != IMPORT_EXACT;
	if (text_equal(uri, TEXT("/")) && place->kind != IMPORT_EXACT)
		pattern = TEXT("");
	else
		pattern = import_pattern(model, uri, place->kind == IMPORT_EXACT ? "" : slash ? "*" : "/*");
	if (pattern.size == 0 && !text_equal(uri, TEXT("/")))
		place->why = "this location's path cannot be said in a policy";
	else
		import_push(model, &place->patterns, pattern);
}

static bool among(struct import_line *const *lines, size_t count, const struct import_line *line)
{
	for (size_t i = 0; i < count; i++)
		if (lines[i] == line)
			return true;
	return false;
}

void import_own(struct import_model *model, struct import_place *place,
		const struct import_settings *inherited)
{
	const struct import_settings *own = &place->settings;
	place->lines = arena_alloc(model->arena,
				   (own->req_count + own->conn_count + 1) * sizeof(struct import_line *));
	for (size_t i = 0; i < own->req_count; i++)
		if (!among(inherited->req, inherited->req_count, own->req[i]))
			place->lines[place->line_count++] = own->req[i];
	for (size_t i = 0; i < own->conn_count; i++)
		if (!among(inherited->conn, inherited->conn_count, own->conn[i]))
			place->lines[place->line_count++] = own->conn[i];
	if (own->pace && own->pace != inherited->pace)
		place->lines[place->line_count++] = own->pace;
}

void import_locations(struct import_model *model, const struct conf_directive *block,
		      struct import_server *server, const struct import_settings *inherited)
{
	for (const struct conf_directive *d = block->children; d; d = d->next) {
		if (!conf_is(d, "location") || !d->block || d->count < 2 || d->count > 3)
			continue;
		struct import_place place = {.place = d->place, .settings = *inherited};
		read_head(d, &place);
		place.internal = conf_last(d, "internal") != NULL;
		place.answers = import_answers(d);
		import_level(model, d, &place.settings, &place.own);
		find_patterns(model, &place);
		import_own(model, &place, inherited);
		server->own |= place.own;
		if (server->place_count > PLACES_MAX) {
			import_note(model, IMPORT_LOST, d->place,
				    "more than %u locations in a server: this one is not read", PLACES_MAX);
			import_drop_own(model, &place, "its location is not read");
			for (const struct conf_directive *child = d->children; child; child = child->next)
				if (conf_is(child, "location") && child->block)
					import_stray(model, child, "its location is not read");
			continue;
		}
		server->places = arena_grow(model->arena, server->places, server->place_count,
					    &server->place_capacity, sizeof *server->places);
		server->places[server->place_count++] = place;
		import_ways(model, d, server, server->place_count - 1);
		import_locations(model, d, server, &place.settings);
	}
}
