/* SPDX-License-Identifier: BSD-2-Clause */
/* import_key: the key of a zone, "$binary_remote_addr", "$http_x_api_key", "$server_name:$remote_addr", or a map's or geo's
 * variable, as a policy says it. */
#include "cli/import_switch.h"

static bool name_byte(char c)
{
	return (text_lower(c) >= 'a' && text_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* "x_api_key" as the header that nginx means. */
static struct text dashes(struct import_model *model, const char *prefix, struct text name)
{
	struct text out = arena_format(model->arena, "%s%.*s", prefix, (int)name.size, name.data);
	char *bytes = (char *)(uintptr_t)out.data;
	for (size_t i = strlen(prefix); i < out.size; i++)
		bytes[i] = bytes[i] == '_' ? '-' : text_lower(bytes[i]);
	return out;
}

struct spelled {
	struct text part; /* "" : adds nothing */
	bool can_miss;
};

/* One variable as a part of a key. */
static struct spelled spell(struct import_model *model, struct import_zone *zone, struct text name)
{
	static const struct {
		const char *name, *part;
	} KNOWN[] = {
		{"binary_remote_addr", "ip/32/128"},
		{"remote_addr", "ip/32/128"},
		{"host", "host"},
		{"http_host", "host"},
		{"request_method", "method"},
		{"uri", "path"},
		{"document_uri", "path"},
		{"request_uri", "path"},
	};
	struct text rest;

	for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
		if (text_equal(name, text_of(KNOWN[i].name))) {
			if (KNOWN[i].part[0] == 'p')
				import_note(model, IMPORT_DIFFERS, zone->place,
					    "zone '%.*s': `$%.*s` becomes `path`, the normalised path that "
					    "the client asked for, "
					    "without query and case",
					    (int)zone->name.size, zone->name.data, (int)name.size, name.data);
			return (struct spelled){text_of(KNOWN[i].part), false};
		}
	if (text_equal(name, TEXT("server_name"))) {
		if (model->server_count <= 1)
			return (struct spelled){TEXT(""), false};
		import_note(model, IMPORT_DIFFERS, zone->place,
			    "zone '%.*s': `$server_name` becomes `host`: the names of one server are counted "
			    "apart",
			    (int)zone->name.size, zone->name.data);
		return (struct spelled){TEXT("host"), false};
	}
	if (import_begins(name, "http_", &rest) && rest.size)
		return (struct spelled){dashes(model, "header.", rest), true};
	if (import_begins(name, "cookie_", &rest) && rest.size)
		return (struct spelled){arena_format(model->arena, "cookie.%.*s", (int)rest.size, rest.data),
					true};
	if (import_begins(name, "arg_", &rest) && rest.size)
		return (struct spelled){arena_format(model->arena, "query.%.*s", (int)rest.size, rest.data),
					true};
	bool map = import_variable_named(model, name) != NULL;
	import_note(model, map ? IMPORT_DIFFERS : IMPORT_REMARK, zone->place,
		    "zone '%.*s': `$%.*s` becomes `var.%.*s`, which only an nginx that has this variable can "
		    "tell%s",
		    (int)zone->name.size, zone->name.data, (int)name.size, name.data, (int)name.size,
		    name.data, map ? "; keep its map or geo in nginx.conf" : "");
	return (struct spelled){arena_format(model->arena, "var.%.*s", (int)name.size, name.data), true};
}

/* A text with variables. */
static void read_expression(struct import_model *model, struct import_zone *zone, struct text text)
{
	struct import_key *key = &zone->key;
	bool literal = false, sure = false;
	struct import_texts can_miss = {0};

	for (size_t i = 0; i < text.size && !key->why;) {
		if (text.data[i] != '$') {
			literal = true;
			i++;
			continue;
		}
		bool brace = i + 1 < text.size && text.data[i + 1] == '{';
		size_t from = i + 1 + brace, to = from;
		while (to < text.size && name_byte(text.data[to]))
			to++;
		if (to == from || to - from > 100 || (brace && (to == text.size || text.data[to] != '}'))) {
			key->why = "its key is not understood";
			return;
		}
		i = to + brace;
		struct spelled part = spell(model, zone, (struct text){text.data + from, to - from});
		sure |= !part.can_miss;
		if (part.part.size && !import_has(&key->parts, part.part)) {
			import_push(model, &key->parts, part.part);
			if (part.can_miss)
				import_push(model, &can_miss, part.part);
		}
		if (key->parts.count > 16)
			key->why = "its key has too many parts";
	}
	key->skip = key->parts.count == 1 && can_miss.count == 1 && !literal && !sure;
	key->address = can_miss.count > 1;
	if (key->address)
		import_note(model, IMPORT_DIFFERS, zone->place,
			    "zone '%.*s': where a part of its key is missing, the address takes its place",
			    (int)zone->name.size, zone->name.data);
	for (size_t i = 0; i < key->parts.count && !key->skip && !key->address; i++)
		if (import_has(&can_miss, key->parts.items[i]))
			key->parts.items[i] = arena_format(model->arena, "%s | site",
							   key->parts.items[i].data);
}

/* "$name" or "${name}" and nothing else; size 0 otherwise. */
struct text import_variable_alone(struct text text)
{
	struct text name = {text.data + 1, text.size ? text.size - 1 : 0};
	if (text.size < 2 || text.data[0] != '$')
		return (struct text){0};
	if (name.data[0] == '{' && name.data[name.size - 1] == '}')
		name = (struct text){name.data + 1, name.size - 2};
	for (size_t i = 0; i < name.size; i++)
		if (!name_byte(name.data[i]))
			return (struct text){0};
	return name;
}

static bool meets_all(struct text key)
{
	return text_equal(key, TEXT("~.")) || text_equal(key, TEXT("~.+")) || text_equal(key, TEXT("~^.+$"));
}

/* map $http_x $k { default $http_x; "" $remote_addr; }: one, or where it is missing the other. */
static bool read_else(struct import_model *model, struct import_zone *zone, struct text name)
{
	const struct conf_directive *map = import_variable_named(model, name)->block;
	struct text source = map->count == 3 ? import_variable_alone(map->words[1]) : TEXT("");
	struct text present = {"", 0}, absent = present, regex = present, rest;

	if (!import_begins(source, "http_", &rest) && !import_begins(source, "cookie_", &rest) &&
	    !import_begins(source, "arg_", &rest))
		return false;
	for (const struct conf_directive *d = map->children; d; d = d->next) {
		if (d->count != 2)
			return false;
		if (conf_is(d, "default"))
			present = d->words[1];
		else if (conf_is(d, ""))
			absent = d->words[1];
		else if (meets_all(d->words[0]))
			regex = d->words[1];
		else
			return false;
	}
	if (regex.size) {
		absent = absent.size ? absent : present;
		present = regex;
	}
	struct text other = import_variable_alone(absent);
	if (map->cut || !text_equal(import_variable_alone(present), source) || !other.size ||
	    import_variable_named(model, source) || import_variable_named(model, other))
		return false;
	struct spelled first = spell(model, zone, source), second = spell(model, zone, other);
	if (!second.part.size)
		second.part = TEXT("site");
	import_push(model, &zone->key.parts,
		    arena_format(model->arena, "%s | %s", first.part.data, second.part.data));
	zone->key.skip = second.can_miss;
	return true;
}

/* Follows maps and geos to what is counted; false: it cannot be said (key->why, or *why). */
static bool follow(struct import_model *model, struct import_zone *zone, struct text *counted,
		   const char **why)
{
	struct import_key *key = &zone->key;
	struct text name;
	for (unsigned depth = 0; (name = import_variable_alone(*counted)).size; depth++) {
		struct import_switch decided;
		size_t before = key->condition_count;
		if (!import_variable_named(model, name) || (depth && read_else(model, zone, name)))
			return true;
		*why = "it is too long a chain of maps";
		if (depth == 10 || !import_switch(model, name, 0, &decided, why) ||
		    !import_switch_key(model, &decided, counted, key, why))
			return false;
		for (size_t i = before; i < key->condition_count; i++)
			for (size_t k = 0; k < before; k++)
				if (key->conditions[i].dimension == key->conditions[k].dimension) {
					*why = "its maps look at one thing twice";
					return false;
				}
	}
	return true;
}

void import_key(struct import_model *model, struct import_zone *zone)
{
	struct text name = import_variable_alone(zone->key_text), counted = zone->key_text;
	const char *why = NULL;

	if (zone->why || zone->key.known)
		return; /* its lines are lost anyway, or it is said */
	if (zone->key_text.size == 0) {
		zone->key.why = "its key is empty, so it limits nobody";
		return;
	}
	zone->key.variable = name;
	if (name.size && import_variable_named(model, name) && read_else(model, zone, name))
		return;
	if (!follow(model, zone, &counted, &why)) {
		if (zone->key.why)
			return;
		zone->key.condition_count = 0;
		import_note(model, IMPORT_DIFFERS, zone->place,
			    "zone '%.*s': its key `%.*s` stays nginx's: %s; keep it in nginx.conf, no other "
			    "door can tell it",
			    (int)zone->name.size, zone->name.data, (int)zone->key_text.size,
			    zone->key_text.data, why);
		import_push(model, &zone->key.parts,
			    arena_format(model->arena, "var.%.*s", (int)name.size, name.data));
		zone->key.skip = true;
		return;
	}
	if (!zone->key.parts.count)
		read_expression(model, zone, counted);
}
