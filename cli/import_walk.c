/* SPDX-License-Identifier: BSD-2-Clause */
/* import_walk: http{} and its servers; first what they refer to, then the limits. */
#include "cli/import_model.h"

#define SERVERS_MAX 1000u

static void gather_names(struct import_model *model, const struct conf_directive *http)
{
	for (const struct conf_directive *d = http->children; d; d = d->next) {
		bool map = conf_is(d, "map"), geo = conf_is(d, "geo");
		if ((map || geo) && d->block && d->count >= 2 && d->count <= 3) {
			struct text name = d->words[d->count - 1];
			struct import_variable *variable = arena_alloc(model->arena, sizeof *variable);
			if (name.size < 2 || name.data[0] != '$' || (map && d->count != 3))
				continue;
			*variable = (struct import_variable){
				d, {name.data + 1, name.size - 1}, geo, model->variables};
			model->variables = variable;
		}
		model->server_count += conf_is(d, "server") && d->block;
	}
	for (const struct conf_directive *d = http->children; d; d = d->next)
		if (conf_is(d, "limit_req_zone") || conf_is(d, "limit_conn_zone"))
			import_zone(model, d);
	import_secrets(model);
	for (struct import_zone *zone = model->zones; zone; zone = zone->next)
		if (!zone->twice)
			import_key(model, zone);
}

static void read_server(struct import_model *model, const struct conf_directive *block,
			const struct import_settings *http, bool http_own)
{
	struct import_server *server = arena_alloc(model->arena, sizeof *server);
	struct import_place self = {.kind = IMPORT_ALL, .place = block->place, .settings = *http};

	server->place = block->place;
	for (const struct conf_directive *d = block->children; d; d = d->next) {
		for (size_t i = 1; conf_is(d, "server_name") && i < d->count; i++)
			import_push(model, &server->names, d->words[i]);
		if (conf_is(d, "listen") && d->count > 1)
			import_push(model, &server->listens, d->words[1]);
		for (size_t i = 2; conf_is(d, "listen") && i < d->count; i++)
			server->default_server |= text_equal(d->words[i], TEXT("default_server")) ||
						  text_equal(d->words[i], TEXT("default"));
	}
	server->answers = import_answers(block);
	import_level(model, block, &self.settings, &self.own);
	import_own(model, &self, http);
	import_push(model, &self.patterns, TEXT(""));
	server->own = self.own;
	server->places = arena_grow(model->arena, server->places, 0, &server->place_capacity,
				    sizeof *server->places);
	server->places[server->place_count++] = self;
	import_ways(model, model->http, server, 0);
	import_ways(model, block, server, 0);
	import_locations(model, block, server, &self.settings);
	/* without a server the limits of http{} are limits all the same */
	server->own |= http_own && model->server_count == 0;
	*model->servers_tail = server;
	model->servers_tail = &server->next;
}

static void read_http(struct import_model *model, const struct conf_directive *http)
{
	static const struct conf_directive nothing = {0};
	struct import_settings settings = {.req_status = 0};
	bool own = false;
	size_t servers = 0;

	model->http = http;
	gather_names(model, http);
	import_level(model, http, &settings, &own);
	import_realip(model, http);
	for (const struct conf_directive *d = http->children; d; d = d->next) {
		if (!conf_is(d, "server") || !d->block)
			continue;
		if (++servers == SERVERS_MAX + 1)
			import_note(model, IMPORT_LOST, d->place,
				    "more than %u servers: this one and what follows are not read",
				    SERVERS_MAX);
		if (servers > SERVERS_MAX) {
			import_stray(model, d, "its server is not read");
			continue;
		}
		read_server(model, d, &settings, own);
	}
	if (servers == 0) {
		struct conf_directive none = nothing;
		none.place = http->place.file ? http->place
					      : (struct conf_place){.file = "", .line = 1, .column = 1};
		read_server(model, &none, &settings, own);
	}
}

static void read_stream(struct import_model *model, const struct conf_directive *block)
{
	for (const struct conf_directive *d = block->children; d; d = d->next) {
		if (conf_is(d, "limit_conn"))
			import_drop_alone(model, d, "it stands in stream{}; weir counts HTTP requests");
		if (d->block)
			read_stream(model, d);
	}
}

void import_walk(struct import_model *model, const struct conf_directive *top)
{
	const struct conf_directive *http = NULL;
	for (const struct conf_directive *d = top->children; d; d = d->next) {
		if (conf_is(d, "http") && d->block && !http) {
			read_http(model, d);
			http = d;
		} else if (conf_is(d, "stream") && d->block) {
			read_stream(model, d);
		}
	}
	for (const struct conf_directive *d = top->children; d && http; d = d->next) {
		if (conf_is(d, "http") && d->block && http != d)
			import_stray(model, d, "it stands in a second http{}, which nginx refuses");
		else if (!(d->block && (conf_is(d, "http") || conf_is(d, "stream"))))
			import_stray(model, d, d->block ? NULL : "it stands outside of http{}");
	}
	if (!http) /* a part of a configuration, as it is included into http{} */
		read_http(model, top);
}
