/* SPDX-License-Identifier: BSD-2-Clause */
/* import_note: what is said of a configuration, and small things that all of import uses. */
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
	if (!line->dropped)
		import_note(model, IMPORT_LOST, line->place, "`%s`: %s", line->text, why);
	line->dropped = true;
}

void import_drop_own(struct import_model *model, const struct import_place *place, const char *why)
{
	for (size_t i = 0; i < place->line_count; i++)
		import_drop(model, place->lines[i], why);
}

void import_push(struct import_model *model, struct import_texts *texts, struct text text)
{
	texts->items = arena_grow(model->arena, texts->items, texts->count, &texts->capacity,
				  sizeof *texts->items);
	texts->items[texts->count++] = text;
}

bool import_has(const struct import_texts *texts, struct text text)
{
	for (size_t i = 0; i < texts->count; i++)
		if (text_equal(texts->items[i], text))
			return true;
	return false;
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

bool import_number(struct text text, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text.data[i] - '0');
		if (value > most)
			return false;
	}
	*out = value;
	return text.size > 0;
}

bool import_size(struct text text, uint64_t *out)
{
	static const char UNITS[] = "kmg";
	const char *unit = text.size ? strchr(UNITS, text_lower(text.data[text.size - 1])) : NULL;
	unsigned shift = unit && *unit ? 10 * (unsigned)(unit - UNITS + 1) : 0;
	uint64_t number;
	if (!import_number((struct text){text.data, text.size - (shift > 0)}, UINT64_C(1) << 30, &number))
		return false;
	*out = number << shift;
	return true;
}

bool import_begins(struct text text, const char *with, struct text *rest)
{
	size_t size = strlen(with);
	if (text.size < size || memcmp(text.data, with, size) != 0)
		return false;
	*rest = (struct text){text.data + size, text.size - size};
	return true;
}
