/* SPDX-License-Identifier: BSD-2-Clause */
/* import_names: a limit is called as its zone; of several limits of one zone the others are called by where they hold too.
 * A network is called as the variable that it came from. */
#include "cli/import_model.h"

#define NAME_MAX_ 48u

static bool is_name_byte(char c)
{
	return (text_lower(c) >= 'a' && text_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_' || c == '.';
}

/* `text` with everything that is in no name made a dash, none at its ends. */
static struct text slug(struct import_model *model, struct text text)
{
	char *out = arena_alloc(model->arena, NAME_MAX_ + 1);
	size_t used = 0;
	for (size_t i = 0; i < text.size && used < NAME_MAX_; i++) {
		char c = is_name_byte(text.data[i]) ? text.data[i] : '-';
		if (c != '-' || (used && out[used - 1] != '-'))
			out[used++] = c;
	}
	while (used && (out[used - 1] == '-' || out[used - 1] == '.'))
		used--;
	return (struct text){out, used};
}

static bool taken(const struct import_model *model, size_t count, struct text name)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(model->limits[i].name, name))
			return true;
	return false;
}

static struct text name_of(struct import_model *model, size_t index)
{
	const struct import_limit *limit = &model->limits[index];
	struct text base = limit->line->zone ? slug(model, limit->line->zone->name) : TEXT("bandwidth"), name;
	if (!base.size)
		base = TEXT("limit");
	name = base;
	if (taken(model, index, name)) {
		struct text where = slug(model, limit->where->uri);
		if (where.size > 14)
			where.size = 14;
		if (where.size)
			name = arena_format(model->arena, "%.*s-%.*s", (int)base.size, base.data,
					    (int)where.size, where.data);
	}
	for (unsigned i = 2; taken(model, index, name); i++)
		name = arena_format(model->arena, "%.*s-%u", (int)base.size, base.data, i);
	return name;
}

/* One zone, several limits: what counted together is counted apart. */
static void tell_apart(struct import_model *model, size_t index)
{
	const struct import_limit *limit = &model->limits[index];
	for (size_t i = 0; i < index && limit->line->zone; i++) {
		const struct import_limit *first = &model->limits[i];
		if (!first->clause_count || first->line->zone != limit->line->zone)
			continue;
		if (first->line == limit->line)
			import_note(model, IMPORT_DIFFERS, limit->line->place,
				    "`%s`: nginx counts it together wherever it holds; where its status, "
				    "page or dry run differ, the "
				    "policy counts apart: '%s', '%s'",
				    limit->line->text, first->name.data, limit->name.data);
		else
			import_note(model, IMPORT_DIFFERS, limit->line->place,
				    "`%s`: nginx counts it together with `%s` at %s; the policy counts '%s' "
				    "and '%s' apart",
				    limit->line->text, first->line->text,
				    import_where(model, first->line->place), first->name.data,
				    limit->name.data);
		return;
	}
}

/* -- networks -- */

static bool name_taken(const struct import_model *model, struct text name)
{
	for (size_t i = 0; i < model->network_count; i++)
		if (text_equal(model->networks[i].name, name))
			return true;
	return false;
}

/* The name of a variable as one of a network; the same list has one name. */
static void name_network(struct import_model *model, struct import_condition *condition)
{
	for (size_t i = 0; i < model->network_count; i++)
		if (import_same(&model->networks[i].values, &condition->values)) {
			condition->name = model->networks[i].name;
			return;
		}
	struct text name = condition->name, base;
	if (name.size > 50)
		name.size = 50;
	bool letter = name.size && text_lower(name.data[0]) >= 'a' && text_lower(name.data[0]) <= 'z';
	base = arena_format(model->arena, "%s%.*s", letter ? "" : "net", (int)name.size, name.data);
	for (size_t i = 0; i < base.size; i++) {
		char c = text_lower(base.data[i]);
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			base = TEXT("network");
	}
	condition->name = base;
	for (unsigned i = 2; name_taken(model, condition->name); i++)
		condition->name = arena_format(model->arena, "%.*s-%u", (int)base.size, base.data, i);
	model->networks = arena_grow(model->arena, model->networks, model->network_count,
				     &model->network_capacity, sizeof *model->networks);
	model->networks[model->network_count++] = *condition;
}

static void name_networks(struct import_model *model)
{
	for (size_t i = 0; i < model->limit_count; i++) {
		struct import_zone *zone = model->limits[i].line->zone;
		for (size_t k = 0; zone && k < zone->key.condition_count; k++)
			if (zone->key.conditions[k].dimension == IMPORT_IP && model->limits[i].clause_count)
				name_network(model, &zone->key.conditions[k]);
	}
}

void import_names(struct import_model *model)
{
	for (size_t i = 0; i < model->limit_count; i++) {
		if (!model->limits[i].clause_count)
			continue;
		model->limits[i].name = name_of(model, i);
		tell_apart(model, i);
	}
	name_networks(model);
}
