/* SPDX-License-Identifier: BSD-2-Clause */
/* import_group: equal lines of one zone, wherever they stand, are one limit of the policy: they share their counters in nginx too.
 * Unequal ones of a zone cannot, and that is said. */
#include "cli/import_model.h"

#define LIMITS_MAX 5000u

struct effect { /* a line as it acts in one place */
	struct import_line *line;
	bool dry;
	unsigned status;
	uint64_t after;
	const struct import_page *page;
};

static struct effect effect_of(const struct import_settings *at, struct import_line *line)
{
	bool req = line->kind == IMPORT_REQ;
	struct effect effect = {.line = line};
	if (line->kind == IMPORT_PACE) {
		effect.after = at->after;
		return effect;
	}
	effect.dry = req ? at->req_dry : at->conn_dry;
	effect.status = line->status ? line->status : req ? at->req_status : at->conn_status;
	if (!effect.status)
		effect.status = at->weir_status ? at->weir_status : 503;
	for (const struct import_page *page = at->pages; page; page = page->next)
		if (page->code == effect.status && !effect.page)
			effect.page = page;
	return effect;
}

static bool same_page(const struct import_page *a, const struct import_page *b)
{
	return a == b || (a && b && text_equal(a->uri, b->uri) && a->special == b->special);
}

static bool is(const struct import_limit *limit, const struct effect *effect)
{
	const struct import_line *a = limit->line, *b = effect->line;
	return a->kind == b->kind && a->zone == b->zone && a->burst == b->burst && a->at_once == b->at_once &&
	       a->number == b->number && a->bytes == b->bytes && limit->after == effect->after &&
	       limit->dry == effect->dry && limit->status == effect->status &&
	       same_page(limit->page, effect->page);
}

static void hold(struct import_model *model, struct import_server *server, struct import_place *place,
		 struct import_line *line)
{
	struct effect effect = effect_of(&place->settings, line);
	size_t i = 0;

	if (line->dropped)
		return;
	while (i < model->limit_count && !is(&model->limits[i], &effect))
		i++;
	if (i == LIMITS_MAX) {
		import_drop(model, line, "there are more than 5,000 limits");
		return;
	}
	if (i == model->limit_count) {
		if (effect.status == 444)
			import_note(
				model, IMPORT_DIFFERS, line->place,
				"`%s`: with status 444 nginx closes the connection, a policy answers with it",
				line->text);
		model->limits = arena_grow(model->arena, model->limits, model->limit_count,
					   &model->limit_capacity, sizeof *model->limits);
		model->limits[model->limit_count++] = (struct import_limit){.line = line,
									    .dry = effect.dry,
									    .status = effect.status,
									    .after = effect.after,
									    .page = effect.page,
									    .where = place,
									    .server = server};
	}
	struct import_limit *limit = &model->limits[i];
	bool known = false;
	for (size_t k = 0; k < limit->line_count; k++)
		known |= limit->lines[k] == line;
	if (!known) {
		limit->lines = arena_grow(model->arena, limit->lines, limit->line_count,
					  &limit->line_capacity, sizeof(struct import_line *));
		limit->lines[limit->line_count++] = line;
	}
	place->limits = arena_grow(model->arena, place->limits, place->limit_count, &place->limit_capacity,
				   sizeof *place->limits);
	place->limits[place->limit_count++] = (uint32_t)i;
}

static void tell_answers(struct import_model *model, struct conf_place place, const char *what)
{
	import_note(model, IMPORT_DIFFERS, place,
		    "this %s answers with `return` or a redirect, which nginx does not limit; a policy does",
		    what);
}

void import_group(struct import_model *model)
{
	for (struct import_server *server = model->servers; server; server = server->next) {
		const struct import_settings *self = &server->places[0].settings;
		bool limited = self->req_count || self->conn_count;
		if (server->answers) {
			server->silent = !server->own;
			if (limited && server->own)
				tell_answers(model, server->place, "server");
		}
		for (size_t i = 0; i < server->place_count && !server->silent; i++) {
			struct import_place *place = &server->places[i];
			const struct import_settings *at = &place->settings;
			if (place->why || place->internal)
				continue;
			if (place->answers && !place->own)
				continue;
			if (place->answers && (at->req_count || at->conn_count))
				tell_answers(model, place->place, "location");
			for (size_t k = 0; k < at->req_count; k++)
				hold(model, server, place, at->req[k]);
			for (size_t k = 0; k < at->conn_count; k++)
				hold(model, server, place, at->conn[k]);
			if (at->pace)
				hold(model, server, place, at->pace);
		}
	}
}
