/* SPDX-License-Identifier: BSD-2-Clause */
/* import_lost: limits of locations whose requests a policy cannot tell: lost before it is asked where the others hold. */
#include "cli/import_model.h"

static bool limits(const struct import_place *place)
{
	const struct import_settings *at = &place->settings;
	return at->req_count || at->conn_count || at->pace;
}

/* Is there a limit for requests that no location is for? */
static bool has_around(const struct import_server *server)
{
	const struct import_place *around = &server->places[0];
	for (size_t i = 1; i < server->place_count; i++)
		if ((server->places[i].kind == IMPORT_PREFIX ||
		     server->places[i].kind == IMPORT_HARD_PREFIX) &&
		    text_equal(server->places[i].uri, TEXT("/")))
			around = &server->places[i];
	return limits(around) && (!around->answers || around->own);
}

static void lose_untold(struct import_model *model, const struct import_server *server)
{
	bool around = has_around(server);
	for (size_t i = 1; i < server->place_count; i++) {
		const struct import_place *place = &server->places[i];
		if (!place->why)
			continue;
		bool elsewhere = place->kind == IMPORT_NAMED || place->internal;
		import_drop_own(model, place,
				elsewhere ? place->why
					  : arena_format(model->arena, "%s; its requests %s", place->why,
							 around ? "meet what holds around it"
								: "are then not limited")
						    .data);
	}
}

/* A limit for where try_files leads is for requests with other paths, if no limit of its kind was met on the way: nginx counts a
 * request once. */
static void lose_tried(struct import_model *model, const struct import_server *server,
		       const struct import_way *way, const struct import_place *place)
{
	const struct import_settings *from = &server->places[way->from].settings;
	for (size_t i = 0; i < place->line_count; i++) {
		struct import_line *line = place->lines[i];
		if (line->kind == IMPORT_REQ ? from->req_count
					     : line->kind == IMPORT_CONN && from->conn_count)
			continue;
		import_drop(
			model, line,
			arena_format(model->arena,
				     "`%s` at %s leads here from other paths, and a policy would see only "
				     "%.*s itself",
				     import_written(model, way->directive),
				     import_where(model, way->directive->place), (int)place->uri.size,
				     place->uri.data)
				.data);
	}
}

void import_lose_untold(struct import_model *model)
{
	for (const struct import_server *server = model->servers; server; server = server->next) {
		lose_untold(model, server);
		for (size_t i = 0; i < server->way_count; i++)
			for (size_t k = 1; server->ways[i].kind == IMPORT_TRIED && k < server->place_count;
			     k++)
				if (server->ways[i].from != k && !server->places[k].why &&
				    text_equal(server->ways[i].to, server->places[k].uri) &&
				    import_leads(&server->ways[i], &server->places[k]))
					lose_tried(model, server, &server->ways[i], &server->places[k]);
	}
}
