/* SPDX-License-Identifier: BSD-2-Clause */
/* import_secrets_view: what a zone counts with each key, by following its maps with that key in hand. */
#include "cli/import_secrets.h"

#define DEPTH_MAX 10u
#define WORK_MAX  UINT64_C(100000000)

static bool is_entry(const struct conf_directive *d)
{
	return d->count == 2;
}

static bool is_regex(struct text key)
{
	return key.size > 1 && key.data[0] == '~';
}

/* With a key that stands in no map there is only the default; a regular expression might meet it. */
static bool of_another(const struct import_variable *map, struct text *out)
{
	const struct conf_directive *otherwise = conf_last(map->block, "default");

	for (const struct conf_directive *d = map->block->children; d; d = d->next)
		if (is_entry(d) && is_regex(d->words[0]))
			return false;
	*out = otherwise && is_entry(otherwise) ? otherwise->words[1] : TEXT("");
	return true;
}

static bool look_up(struct import_model *model, struct import_secrets *secrets,
		    const struct import_variable *map, struct text value, struct text *out)
{
	for (const struct conf_directive *d = map->block->children; d; d = d->next)
		secrets->work++;
	return secrets->work < WORK_MAX && import_map_of(model, map, value, out);
}

bool import_secrets_out(struct import_model *model, struct import_secrets *secrets, struct text name,
			size_t which, unsigned depth, struct text *out)
{
	const struct import_variable *map = import_variable_named(model, name);
	struct text source = {"", 0}, value = {"", 0}, alone;

	if (!map || map->geo || map->block->cut || depth == DEPTH_MAX)
		return false;
	source = import_variable_alone(map->block->words[1]);
	if (text_equal_folded(source, secrets->source)) {
		if (which < secrets->values.count)
			value = secrets->values.items[which];
		if (which == secrets->values.count ? !of_another(map, out)
						   : !look_up(model, secrets, map, value, out))
			return false;
	} else if (!source.size || !import_secrets_out(model, secrets, source, which, depth + 1, &value) ||
		   memchr(value.data, '$', value.size) || !look_up(model, secrets, map, value, out)) {
		return false;
	}
	alone = import_variable_alone(*out);
	if (alone.size && import_variable_named(model, alone))
		return import_secrets_out(model, secrets, alone, which, depth + 1, out);
	return true;
}

static bool kind_of(const struct import_secrets *secrets, size_t which, struct text out,
		    enum import_counted *kind)
{
	struct text alone = import_variable_alone(out);

	*kind = COUNTED_TEXT;
	if (!out.size)
		*kind = COUNTED_NONE;
	else if (text_equal(alone, TEXT("binary_remote_addr")) || text_equal(alone, TEXT("remote_addr")))
		*kind = COUNTED_ADDRESS;
	else if (alone.size && text_equal_folded(alone, secrets->source))
		*kind = which > secrets->values.count ? COUNTED_NONE : COUNTED_OWN;
	else if (memchr(out.data, '$', out.size))
		return false;
	return true;
}

/* Keys of one text are one owner's, who is the same for all zones; clients without a key have no part in it. */
static bool by_owner(struct import_model *model, struct import_secrets *secrets, struct import_view *view)
{
	size_t count = secrets->values.count;

	if (!secrets->owners)
		secrets->owners = arena_alloc(model->arena, count * sizeof *secrets->owners);
	for (size_t i = 0; i < count; i++) {
		bool counted = view->kinds[i] != COUNTED_NONE;

		if (counted && secrets->owners[i].size && !text_equal(secrets->owners[i], view->outs[i]))
			return false;
		for (size_t k = count; counted && k < count + 2; k++)
			if (view->kinds[k] == COUNTED_TEXT && text_equal(view->outs[i], view->outs[k]))
				return false;
	}
	for (size_t i = 0; i < count; i++)
		if (view->kinds[i] != COUNTED_NONE)
			secrets->owners[i] = view->outs[i];
	view->owner = true;
	return true;
}

/* Of the counted keys: one kind; texts either all different, or all the same, or by owner. */
static bool settle_texts(struct import_model *model, struct import_secrets *secrets, struct import_view *view)
{
	size_t count = secrets->values.count, same = 0, counted = 0, first = count;

	for (size_t i = 0; i < count; i++) {
		if (view->kinds[i] == COUNTED_NONE)
			continue;
		first = first == count ? i : first;
		counted++;
		if (view->kinds[i] != view->kinds[first])
			return false;
		for (size_t k = i + 1; k <= count + 1 && view->kinds[i] == COUNTED_TEXT; k++)
			if (view->kinds[k] == COUNTED_TEXT && text_equal(view->outs[i], view->outs[k]))
				same++;
	}
	secrets->work += counted * counted;
	if (first == count || view->kinds[first] != COUNTED_TEXT || !same)
		return true;
	view->site = true;
	for (size_t i = 0; i <= count + 1; i++)
		view->site &= view->kinds[i] == COUNTED_NONE || text_equal(view->outs[i], view->outs[first]);
	return view->site || by_owner(model, secrets, view);
}

/* Those without a key, and those with one that stands nowhere, are one kind of client in a policy. */
static bool settle_anonymous(const struct import_secrets *secrets, const struct import_view *view)
{
	size_t count = secrets->values.count;
	enum import_counted another = view->kinds[count], none = view->kinds[count + 1];
	bool keys = false;

	for (size_t i = 0; i < count; i++)
		keys |= view->kinds[i] == COUNTED_ADDRESS;
	if (another == COUNTED_TEXT || none == COUNTED_TEXT)
		return another == none && text_equal(view->outs[count], view->outs[count + 1]) && !keys;
	/* one kind only: a condition on the header tells them apart, which keys that are known must meet too */
	if (another == COUNTED_NONE && none != COUNTED_NONE) {
		for (size_t i = 0; i < count; i++)
			if (view->kinds[i] != COUNTED_NONE)
				return false;
	}
	return (another == COUNTED_NONE) == (none == COUNTED_NONE) ||
	       strncmp(secrets->from.data, "header.", 7) == 0;
}

struct import_view *import_secrets_view(struct import_model *model, struct import_secrets *secrets,
					struct import_zone *zone)
{
	size_t count = secrets->values.count;
	struct import_view *view = arena_alloc(model->arena, sizeof *view);

	view->zone = zone;
	view->outs = arena_alloc(model->arena, (count + 2) * sizeof *view->outs);
	view->kinds = arena_alloc(model->arena, (count + 2) * sizeof *view->kinds);
	for (size_t i = 0; i < count + 2; i++)
		if (!import_secrets_out(model, secrets, import_variable_alone(zone->key_text), i, 0,
					&view->outs[i]) ||
		    !kind_of(secrets, i, view->outs[i], &view->kinds[i]))
			return NULL;
	return settle_anonymous(secrets, view) && settle_texts(model, secrets, view) ? view : NULL;
}
