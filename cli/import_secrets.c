/* SPDX-License-Identifier: BSD-2-Clause */
/* import_secrets: which zones count by API keys that stand in maps, and how a policy says each. */
#include "cli/import_secrets.h"

#include <jansson.h>

#include "identity/credential.h"
#include "identity/ring.h"

/* What decides a variable, through maps; "" if that is not one variable. */
static struct text root_of(const struct import_model *model, struct text name)
{
	for (unsigned depth = 0; depth < 10; depth++) {
		const struct import_variable *variable = import_variable_named(model, name);

		if (!variable)
			return name;
		if (variable->geo || variable->block->count != 3)
			break;
		name = import_variable_alone(variable->block->words[1]);
	}
	return (struct text){"", 0};
}

static bool says(struct text name, const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i + size <= name.size; i++)
		if (text_equal_folded((struct text){name.data + i, size}, (struct text){word, size}))
			return true;
	return false;
}

/* Where API keys are sent, as a policy writes it; size 0: this is no such place. */
static struct text place_of(struct import_model *model, struct text variable)
{
	struct text rest, out;
	bool header = import_begins(variable, "http_", &rest);

	if (!header && !import_begins(variable, "arg_", &rest))
		return (struct text){"", 0};
	if (header && text_equal_folded(rest, TEXT("authorization")))
		return TEXT("bearer");
	if (!says(rest, "key") && !says(rest, "token"))
		return (struct text){"", 0};
	out = arena_format(model->arena, "%s%.*s", header ? "header." : "query.", (int)rest.size, rest.data);
	for (size_t i = 7; header && i < out.size; i++)
		((char *)(uintptr_t)out.data)[i] = out.data[i] == '_' ? '-' : text_lower(out.data[i]);
	return out;
}

/* The secret as the client's own word. False: no client can be known by it. */
static bool token_of(const struct import_secrets *secrets, struct text value, struct text *token)
{
	json_t *string;

	*token = value;
	if (text_equal(secrets->from, TEXT("bearer")) && !credential_bearer(value, token))
		return false;
	if (token->size > RING_SECRET_MAX || (secrets->from.data[0] == 'q' && strpbrk(value.data, "%+&")))
		return false;
	string = json_stringn(token->data, token->size);
	json_decref(string);
	return string != NULL && !memchr(token->data, 0, token->size);
}

static bool gather(struct import_model *model, struct import_secrets *secrets)
{
	for (const struct import_variable *v = model->variables; v; v = v->next) {
		if (v->geo || !text_equal_folded(import_variable_alone(v->block->words[1]), secrets->source))
			continue;
		for (const struct conf_directive *d = v->block->children; d; d = d->next) {
			struct text value = d->words[0];
			bool escaped = value.size > 1 && value.data[0] == '\\';

			if (d->count != 2 || !value.size || conf_is(d, "default") ||
			    (value.size > 1 && value.data[0] == '~'))
				continue;
			if (escaped)
				value = (struct text){value.data + 1, value.size - 1};
			if (import_has(&secrets->values, value))
				continue;
			import_push(model, &secrets->values, value);
			if (secrets->values.count > IMPORT_SECRETS_MAX)
				return false;
		}
	}
	secrets->tokens = arena_alloc(model->arena, (secrets->values.count + 1) * sizeof *secrets->tokens);
	for (size_t i = 0; i < secrets->values.count; i++) {
		if (!token_of(secrets, secrets->values.items[i], &secrets->tokens[i]))
			return false;
		for (size_t k = 0; k < i; k++) /* two spellings of one */
			if (text_equal(secrets->tokens[i], secrets->tokens[k]))
				return false;
	}
	return secrets->values.count > 0;
}

/* A map of the header itself that has no keys in it is said without them. */
static bool plain(const struct import_model *model, const struct import_secrets *secrets, struct text name)
{
	const struct import_variable *map = import_variable_named(model, name);

	if (!text_equal_folded(import_variable_alone(map->block->words[1]), secrets->source))
		return false;
	for (const struct conf_directive *d = map->block->children; d; d = d->next)
		if (d->count == 2 && d->words[0].size && !conf_is(d, "default"))
			return false;
	return true;
}

static void say_audience(struct import_model *model, const struct import_secrets *secrets,
			 const struct import_view *view, bool all, bool anonymous)
{
	struct import_texts *audience = &view->zone->key.audience;

	for (size_t k = 0; !all && k < secrets->plan_names.count; k++) {
		bool counted = false;

		for (size_t i = 0; i < secrets->values.count; i++)
			counted |= view->kinds[i] != COUNTED_NONE &&
				   text_equal(secrets->plans[i], secrets->plan_names.items[k]);
		if (counted)
			import_push(model, audience,
				    arena_format(model->arena, "plan %s", secrets->plan_names.items[k].data));
	}
	if (all && !anonymous)
		import_push(model, audience, TEXT("identified"));
	if (!all && anonymous)
		import_push(model, audience, TEXT("anonymous"));
}

/* Of those without a known key only some are counted: with such a header, or without. */
static void say_header(struct import_model *model, const struct import_secrets *secrets,
		       const struct import_view *view)
{
	bool another = view->kinds[secrets->values.count] != COUNTED_NONE;
	bool none = view->kinds[secrets->values.count + 1] != COUNTED_NONE;
	struct import_key *key = &view->zone->key;

	if (another == none)
		return;
	key->conditions = arena_alloc(model->arena, sizeof *key->conditions);
	key->conditions[0] = (struct import_condition){
		.dimension = IMPORT_HEADER,
		.header = {secrets->from.data + 7, secrets->from.size - 7},
		.negated = none};
	import_push(model, &key->conditions[0].values, TEXT("*"));
	key->condition_count = 1;
}

static void say(struct import_model *model, const struct import_secrets *secrets,
		const struct import_view *view)
{
	size_t count = secrets->values.count, counted = 0;
	struct import_key *key = &view->zone->key;
	enum import_counted kind = COUNTED_NONE, another = view->kinds[count], none = view->kinds[count + 1];
	bool anonymous = another != COUNTED_NONE || none != COUNTED_NONE;
	const char *first = NULL, *last = NULL;

	for (size_t i = 0; i < count; i++)
		if (view->kinds[i] != COUNTED_NONE) {
			kind = view->kinds[i];
			counted++;
		}
	key->known = true;
	if (!counted && !anonymous) {
		key->why = "its key is always empty, so it limits nobody";
		return;
	}
	if (anonymous)
		last = another == COUNTED_TEXT ? "site" : "ip/32/128";
	if (view->site)
		last = "site";
	else if (kind == COUNTED_ADDRESS)
		last = "ip/32/128";
	else if (counted)
		first = view->owner ? "user" : "api-key";
	key->skip = first && !last;
	import_push(model, &key->parts,
		    arena_format(model->arena, "%s%s%s", first ? first : "", first && last ? " | " : "",
				 last ? last : ""));
	say_audience(model, secrets, view, counted == count, anonymous);
	say_header(model, secrets, view);
	if (another == COUNTED_OWN)
		import_note(
			model, IMPORT_DIFFERS, view->zone->place,
			"zone '%.*s': a key that stands in no map is counted as the address that it comes "
			"from; nginx begins a counter for each that is invented",
			(int)view->zone->name.size, view->zone->name.data);
}

static void find_views(struct import_model *model, struct import_secrets *secrets)
{
	struct import_view **tail = &secrets->views;

	for (struct import_zone *zone = model->zones; zone; zone = zone->next) {
		struct text name = import_variable_alone(zone->key_text);

		if (zone->why || zone->twice || !name.size || !import_variable_named(model, name) ||
		    !text_equal_folded(root_of(model, name), secrets->source) || plain(model, secrets, name))
			continue;
		*tail = import_secrets_view(model, secrets, zone);
		if (*tail)
			tail = &(*tail)->next;
	}
}

void import_secrets(struct import_model *model)
{
	struct import_secrets *secrets = arena_alloc(model->arena, sizeof *secrets);

	for (struct import_zone *zone = model->zones; zone; zone = zone->next) {
		struct text name = import_variable_alone(zone->key_text);
		struct text root = name.size && import_variable_named(model, name) ? root_of(model, name)
										   : name;

		if (zone->why || zone->twice || text_equal(root, name))
			continue;
		secrets->source = root;
		secrets->from = place_of(model, root);
		if (!secrets->from.size)
			continue;
		secrets->values.count = 0;
		if (!gather(model, secrets))
			continue;
		find_views(model, secrets);
		if (secrets->views)
			break;
	}
	if (!secrets->views || !import_secrets_plan(model, secrets))
		return;
	model->secrets = secrets;
	for (const struct import_view *view = secrets->views; view; view = view->next)
		say(model, secrets, view);
	model->out->keys = import_secrets_lines(model, secrets);
	model->out->key_count = secrets->values.count;
}
