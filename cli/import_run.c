/* SPDX-License-Identifier: BSD-2-Clause */
/* import_run: one import from beginning to end. */
#include <stdlib.h>

#include "cli/import_model.h"

static void count(struct import_model *model)
{
	for (struct import_line *line = model->lines; line; line = line->next) {
		if (!line->dropped && !line->carried) {
			import_note(model, IMPORT_REMARK, line->place,
				    "`%s`: it holds nowhere; every place inside has limits of its own, or "
				    "answers by itself",
				    line->text);
			line->carried = true;
		}
		model->out->carried += line->carried && !line->dropped;
	}
}

static int by_place(const void *left, const void *right)
{
	const struct import_remark *a = left, *b = right;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* What is lost is counted, and stays. */
static void say_once(struct import *out)
{
	size_t kept = 0;
	for (size_t i = 0; i < out->remark_count; i++) {
		const struct import_remark *last = kept ? &out->remarks[kept - 1] : NULL;
		bool again = last && out->remarks[i].weight != IMPORT_LOST &&
			     by_place(last, &out->remarks[i]) == 0;
		if (!again)
			out->remarks[kept++] = out->remarks[i];
	}
	out->remark_count = kept;
}

static void understand(struct import_model *model, const struct conf_directive *all)
{
	import_walk(model, all);
	import_lose_untold(model);
	import_group(model);
	import_hosts(model);
	for (uint32_t i = 0; i < model->limit_count; i++)
		import_where_it_holds(model, i);
	import_names(model);
	import_pages(model);
	import_tell_ways(model);
	model->out->policy = import_emit(model);
	count(model);
	for (const struct conf_unread *unread = model->conf->unread; unread; unread = unread->next)
		import_note(model, IMPORT_LOST, unread->place, "`include`: %s is not read: %s", unread->name,
			    unread->why);
	if (model->out->remark_count)
		qsort(model->out->remarks, model->out->remark_count, sizeof *model->out->remarks, by_place);
	say_once(model->out);
}

static void work(struct arena *arena, const struct import_options *options, struct import *out)
{
	struct conf *conf = arena_alloc(arena, sizeof *conf);
	struct import_model *model = arena_alloc(arena, sizeof *model);

	conf->arena = arena;
	conf->first = options->path;
	conf->no_files = options->text.data != NULL;
	*model = (struct import_model){.arena = arena, .conf = conf, .out = out};
	model->lines_tail = &model->lines;
	model->servers_tail = &model->servers;
	const struct conf_directive *all = conf->no_files ? conf_read_text(conf, options->text, options->path)
							  : conf_read(conf, options->path);
	if (all) {
		understand(model, all);
	} else if (conf->message) {
		out->wrong = conf->message;
		out->wrong_file = conf->wrong_at.file;
		out->wrong_line = conf->wrong_at.line;
		out->wrong_column = conf->wrong_at.column;
	} else {
		out->unreadable = true;
		out->wrong_file = options->path;
		out->wrong = conf->unread ? conf->unread->why : "it cannot be read";
	}
}

bool import_run(const struct import_options *options, struct import *out)
{
	struct arena *arena = calloc(1, sizeof *arena);
	*out = (struct import){.memory = arena};
	if (!arena || setjmp(arena->out_of_memory)) {
		out->unreadable = true;
		out->wrong_file = options->path;
		out->wrong = "no memory is left";
		return false;
	}
	work(arena, options, out);
	return out->policy != NULL;
}

void import_free(struct import *import)
{
	free(import->policy);
	if (import->keys)
		explicit_bzero(import->keys, strlen(import->keys));
	free(import->keys);
	if (import->memory)
		arena_free(import->memory);
	free(import->memory);
	*import = (struct import){0};
}
