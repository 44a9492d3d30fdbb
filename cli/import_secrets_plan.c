/* SPDX-License-Identifier: BSD-2-Clause */
/* import_secrets_plan: keys in plans, so that each zone is for whole plans: by a map's own words (its tiers) if those do, else by the
 * zones that count them. And what the keys are called. */
#include <jansson.h>
#include <stdio.h>

#include "cli/import_secrets.h"

#define PLANS_MAX 50u
#define NAME_MAX_ 48u

/* A name from anybody's text; "" if nothing is left of it. */
static struct text name_of(struct import_model *model, struct text text)
{
	char *out = arena_alloc(model->arena, NAME_MAX_ + 1);
	size_t used = 0;

	for (size_t i = 0; i < text.size && used < NAME_MAX_; i++) {
		char c = text.data[i];
		bool letter = (text_lower(c) >= 'a' && text_lower(c) <= 'z') || (c >= '0' && c <= '9');

		if (letter || (used && (c == '-' || c == '_' || c == '.')))
			out[used++] = c;
		else if (used && out[used - 1] != '-')
			out[used++] = '-';
	}
	while (used && strchr("-_.", out[used - 1]))
		used--;
	return (struct text){out, used};
}

/* One that is not in the list yet, which it is put into. */
static struct text fresh(struct import_model *model, struct import_texts *list, struct text base)
{
	struct text name = base;

	for (unsigned i = 2; import_has(list, name); i++)
		name = arena_format(model->arena, "%.*s-%u", (int)base.size, base.data, i);
	import_push(model, list, name);
	return name;
}

static bool counts_some(const struct import_secrets *secrets, const struct import_view *view)
{
	size_t counted = 0;

	for (size_t i = 0; i < secrets->values.count; i++)
		counted += view->kinds[i] != COUNTED_NONE;
	return counted && counted < secrets->values.count;
}

/* Are the keys of each class in the zone, or none of them? Classes are told by texts; "" is no plan. */
static bool fits(const struct import_secrets *secrets, const struct text *classes)
{
	for (const struct import_view *view = secrets->views; view; view = view->next)
		for (size_t i = 0; counts_some(secrets, view) && i < secrets->values.count; i++) {
			if (view->kinds[i] != COUNTED_NONE && !classes[i].size)
				return false;
			for (size_t k = 0; k < i; k++)
				if (text_equal(classes[i], classes[k]) &&
				    (view->kinds[i] != COUNTED_NONE) != (view->kinds[k] != COUNTED_NONE))
					return false;
		}
	return true;
}

static size_t count_of(struct import_model *model, const struct import_secrets *secrets,
		       const struct text *classes)
{
	struct import_texts seen = {0};

	for (size_t i = 0; i < secrets->values.count; i++)
		if (classes[i].size && !import_has(&seen, classes[i]))
			import_push(model, &seen, classes[i]);
	return seen.count;
}

/* What a variable says of each key: plain texts, or NULL. */
static struct text *said_by(struct import_model *model, struct import_secrets *secrets, struct text variable)
{
	size_t count = secrets->values.count;
	struct text *out = arena_alloc(model->arena, (count + 1) * sizeof *out);

	for (size_t i = 0; i < count; i++)
		if (!import_secrets_out(model, secrets, variable, i, 0, &out[i]) ||
		    memchr(out[i].data, '$', out[i].size) || (out[i].size && !name_of(model, out[i]).size) ||
		    text_equal(out[i], secrets->values.items[i]))
			return NULL;
	return out;
}

/* By the zones that count them, each called as the first of these. */
static void by_zones(struct import_model *model, const struct import_secrets *secrets, struct text *classes)
{
	for (size_t i = 0; i < secrets->values.count; i++)
		for (const struct import_view *view = secrets->views; view; view = view->next)
			if (counts_some(secrets, view) && view->kinds[i] != COUNTED_NONE)
				classes[i] = arena_format(model->arena, "%.*s%s%.*s", (int)classes[i].size,
							  classes[i].data ? classes[i].data : "",
							  classes[i].size ? "+" : "",
							  (int)view->zone->name.size, view->zone->name.data);
}

/* Plans have names of their own kind, one for each class. */
static void name_plans(struct import_model *model, struct import_secrets *secrets, const struct text *classes)
{
	size_t count = secrets->values.count;
	struct import_texts seen = {0};

	secrets->plans = arena_alloc(model->arena, count * sizeof *secrets->plans);
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;

		if (!classes[i].size)
			continue;
		while (k < seen.count && !text_equal(seen.items[k], classes[i]))
			k++;
		if (k == seen.count) {
			struct text name = name_of(model, classes[i]);

			import_push(model, &seen, classes[i]);
			fresh(model, &secrets->plan_names, name.size ? name : TEXT("plan"));
		}
		secrets->plans[i] = secrets->plan_names.items[k];
	}
}

static void name_keys(struct import_model *model, struct import_secrets *secrets, const struct text *said)
{
	struct import_texts taken = {0};

	secrets->names = arena_alloc(model->arena, secrets->values.count * sizeof *secrets->names);
	for (size_t i = 0; i < secrets->values.count; i++) {
		struct text base = {"", 0};

		if (said)
			base = name_of(model, said[i]);
		else if (secrets->owners)
			base = name_of(model, secrets->owners[i]);
		if (!base.size && secrets->plans)
			base = secrets->plans[i];
		secrets->names[i] = fresh(model, &taken, base.size ? base : TEXT("key"));
	}
}

/* Words for plans are best if every key has one, then if no zone counts by them, then if they are few; for names if they are many. */
struct choice {
	struct text *plans, *names;
	size_t cost, most;
};

static bool is_counted(const struct import_secrets *secrets, struct text variable)
{
	for (const struct import_view *view = secrets->views; view; view = view->next)
		if (text_equal_folded(import_variable_alone(view->zone->key_text), variable))
			return true;
	return false;
}

static void choose(struct import_model *model, struct import_secrets *secrets, struct text variable,
		   struct choice *best)
{
	struct text *said = said_by(model, secrets, variable);
	size_t count = said ? count_of(model, secrets, said) : 0, cost = count;
	bool whole = true;

	if (!count)
		return;
	for (size_t i = 0; i < secrets->values.count; i++)
		whole &= said[i].size > 0;
	if (whole && count > best->most) {
		best->most = count;
		best->names = said;
	}
	cost += (is_counted(secrets, variable) ? 100u : 0u) + (whole ? 0u : 200u);
	if (count <= PLANS_MAX && (!best->plans || cost < best->cost) && fits(secrets, said)) {
		best->plans = said;
		best->cost = cost;
	}
}

bool import_secrets_plan(struct import_model *model, struct import_secrets *secrets)
{
	struct choice best = {.plans = NULL};
	bool needed = false;

	for (const struct import_view *view = secrets->views; view; view = view->next)
		needed |= counts_some(secrets, view);
	for (const struct import_variable *v = model->variables; v; v = v->next)
		choose(model, secrets, v->name, &best);
	if (needed && !best.plans) {
		best.plans = arena_alloc(model->arena, secrets->values.count * sizeof *best.plans);
		by_zones(model, secrets, best.plans);
		if (count_of(model, secrets, best.plans) > PLANS_MAX)
			return false;
	}
	if (needed)
		name_plans(model, secrets, best.plans);
	name_keys(model, secrets, needed && best.names == best.plans ? NULL : best.names);
	return true;
}

char *import_secrets_lines(struct import_model *model, const struct import_secrets *secrets)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	if (!out)
		longjmp(model->arena->out_of_memory, 1);
	for (size_t i = 0; i < secrets->values.count; i++) {
		struct text token = secrets->tokens[i], name = secrets->names[i];
		json_t *line = json_pack("{s:s%, s:s%}", "name", name.data, name.size, "secret", token.data,
					 token.size);

		if (line && secrets->plans && secrets->plans[i].size)
			json_object_set_new(line, "plan",
					    json_stringn(secrets->plans[i].data, secrets->plans[i].size));
		if (line && secrets->owners && secrets->owners[i].size)
			json_object_set_new(line, "owner",
					    json_stringn(secrets->owners[i].data, secrets->owners[i].size));
		if (!line || json_dumpf(line, out, JSON_COMPACT) != 0) {
			json_decref(line);
			fclose(out);
			free(bytes);
			longjmp(model->arena->out_of_memory, 1);
		}
		json_decref(line);
		putc('\n', out);
	}
	fclose(out);
	return bytes;
}
