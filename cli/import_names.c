/* SPDX-License-Identifier: BSD-2-Clause */
/* import_names: a limit is called as its zone; of several limits of one zone the others are called by where they hold too. */
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
	while (used && out[used - 1] == '-')
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

void import_names(struct import_model *model)
{
	for (size_t i = 0; i < model->limit_count; i++) {
		if (!model->limits[i].clause_count)
			continue;
		model->limits[i].name = name_of(model, i);
		tell_apart(model, i);
	}
}
