/* SPDX-License-Identifier: BSD-2-Clause */
/* import_pattern: paths of nginx as patterns of a policy, and which of them meet each other's paths. */
#include <stdio.h>

#include "cli/import_model.h"

/* What a pattern would read as something else is written in hexadecimal. */
static bool plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && !strchr("*{}?#%|`<>\"\\^", c);
}

struct text import_pattern(struct import_model *model, struct text path, const char *tail)
{
	struct arena *arena = model->arena;
	char *out = arena_alloc(arena, path.size * 3 + strlen(tail) + 2), why[320];
	size_t used = 0;
	struct pattern cut;

	for (size_t i = 0; i < path.size; i++) {
		if (path.data[i] == IMPORT_ANY)
			used += (size_t)sprintf(out + used, "{x}");
		else if (plain((unsigned char)path.data[i]))
			out[used++] = path.data[i];
		else
			used += (size_t)sprintf(out + used, "%%%02X", (unsigned char)path.data[i]);
	}
	memcpy(out + used, tail, strlen(tail) + 1);
	struct text pattern = {out, used + strlen(tail)};
	/* "://" would be read as a whole address; nginx merges such slashes anyway */
	if (memmem(pattern.data, pattern.size, "://", 3) ||
	    !pattern_read(arena, pattern, false, &cut, why, sizeof why))
		return (struct text){0};
	return pattern;
}

struct pattern import_pattern_cut(struct import_model *model, struct text pattern)
{
	struct pattern cut = {.rest = true};
	char why[320];
	if (pattern.size && !pattern_read(model->arena, pattern, false, &cut, why, sizeof why))
		cut = (struct pattern){.rest = true};
	return cut;
}

static bool same(const struct pattern_segment *a, const struct pattern_segment *b)
{
	return a->kind == IMAGE_LITERAL && b->kind == IMAGE_LITERAL && text_equal(a->text, b->text);
}

bool import_contains(const struct pattern *wide, const struct pattern *narrow)
{
	if (wide->rest ? narrow->count < wide->count : narrow->rest || narrow->count != wide->count)
		return false;
	for (size_t i = 0; i < wide->count; i++)
		if (wide->segments[i].kind == IMAGE_LITERAL &&
		    !same(&wide->segments[i], &narrow->segments[i]))
			return false;
	return true;
}

bool import_overlaps(const struct pattern *a, const struct pattern *b)
{
	size_t common = a->count < b->count ? a->count : b->count;
	if ((a->count < b->count && !a->rest) || (b->count < a->count && !b->rest))
		return false;
	for (size_t i = 0; i < common; i++)
		if (a->segments[i].kind == IMAGE_LITERAL && b->segments[i].kind == IMAGE_LITERAL &&
		    !same(&a->segments[i], &b->segments[i]))
			return false;
	return true;
}
