/* SPDX-License-Identifier: BSD-2-Clause */
/* import_stray: limits where nobody looks for them: in blocks of other modules, misspelt ones, and where nginx refuses them. */
#include "cli/import_model.h"

/* Blocks of data: their lines are limits only if they look like it. */
static bool is_data(const struct conf_directive *d)
{
	return conf_is(d, "map") || conf_is(d, "geo") || conf_is(d, "types") || conf_is(d, "split_clients");
}

static bool looks_like_a_limit(const struct conf_directive *d, bool data)
{
	struct text rest;
	if (!conf_is(d, "limit_req") && !conf_is(d, "limit_conn") && !conf_is(d, "limit_rate"))
		return conf_is(d, "set") && d->count == 3 && text_equal(d->words[1], TEXT("$limit_rate"));
	for (size_t i = 1; i < d->count; i++)
		if (import_begins(d->words[i], "zone=", &rest))
			return true;
	return !data || d->count > 2;
}

static void look(struct import_model *model, const struct conf_directive *d, bool data, const char *why)
{
	if (looks_like_a_limit(d, data))
		import_drop_alone(model, d, why);
	else if (!data && (conf_is(d, "limit_req_zone") || conf_is(d, "limit_conn_zone")))
		import_note(model, IMPORT_LOST, d->place, "`%s`: %s", import_written(model, d), why);
	for (const struct conf_directive *child = d->children; child; child = child->next)
		look(model, child, data || is_data(d), why);
}

void import_stray(struct import_model *model, const struct conf_directive *block, const char *why)
{
	if (!why)
		why = arena_format(model->arena, "it stands in `%.*s`, where nothing is read",
				   (int)(block->words[0].size < 80 ? block->words[0].size : 80),
				   block->words[0].data)
			      .data;
	look(model, block, false, why);
}
