/* SPDX-License-Identifier: BSD-2-Clause */
/* import_texts: lists of texts, and what a word of nginx's says. */
#include "cli/import_model.h"

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

bool import_same(const struct import_texts *a, const struct import_texts *b)
{
	for (size_t i = 0; i < a->count && a->count == b->count; i++)
		if (!text_equal(a->items[i], b->items[i]))
			return false;
	return a->count == b->count;
}

bool import_number(struct text text, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		uint64_t digit = (uint64_t)(text.data[i] - '0');
		if (value > most / 10 || value * 10 + digit > most)
			return false;
		value = value * 10 + digit;
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
