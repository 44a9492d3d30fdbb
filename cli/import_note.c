/* SPDX-License-Identifier: BSD-2-Clause */
/* import_note: what is said of a configuration. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/import_model.h"

#define NOTES_MAX 10000u

void import_note(struct import_model *model, enum import_weight weight, struct conf_place place,
		 const char *format, ...)
{
	struct import *out = model->out;
	char *text = NULL;
	va_list arguments;

	out->lost += weight == IMPORT_LOST;
	if (out->remark_count == NOTES_MAX)
		return;
	va_start(arguments, format);
	int size = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (size < 0)
		longjmp(model->arena->out_of_memory, 1);
	out->remarks = arena_grow(model->arena, out->remarks, out->remark_count, &model->note_capacity,
				  sizeof *out->remarks);
	out->remarks[out->remark_count++] = (struct import_remark){
		weight,	    place.file,	  place.order,
		place.line, place.column, arena_text(model->arena, text, (size_t)size).data};
	free(text);
}

const char *import_where(struct import_model *model, struct conf_place place)
{
	return arena_format(model->arena, "%s:%u", place.file, place.line).data;
}

void import_drop(struct import_model *model, struct import_line *line, const char *why)
{
	if (line->dropped)
		return;
	line->dropped = true;
	model->out->dropped++;
	import_note(model, IMPORT_LOST, line->place, "`%s`: %s", line->text, why);
}

void import_drop_alone(struct import_model *model, const struct conf_directive *directive, const char *why)
{
	model->out->lines++;
	model->out->dropped++;
	import_note(model, IMPORT_LOST, directive->place, "`%s`: %s", import_written(model, directive), why);
}

void import_drop_own(struct import_model *model, const struct import_place *place, const char *why)
{
	for (size_t i = 0; i < place->line_count; i++)
		import_drop(model, place->lines[i], why);
}

const char *import_written(struct import_model *model, const struct conf_directive *directive)
{
	struct text text = {"", 0};
	for (size_t i = 0; i < directive->count && text.size < 200; i++) {
		struct text word = directive->words[i];
		text = arena_format(model->arena, "%s%s%.*s", text.data, i ? " " : "",
				    (int)(word.size < 200 ? word.size : 200), word.data);
	}
	return text.data;
}
