/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern: reading path patterns.
 *
 * A pattern goes through what a request's path goes through (B14): decoded once, empty segments merged,
 * folded. What could not survive that in a path is refused here, since a rule that never matches is worse
 * than an error.
 */
#include "policy/pattern.h"

#include <stdio.h>

static bool refuse(char *why, size_t size, struct text text, const char *what)
{
	if (size > 0)
		snprintf(why, size, "the path pattern '%.*s' %s", (int)(text.size < 80 ? text.size : 80),
			 text.data ? text.data : "", what);
	return false;
}

static int hex_value(char c)
{
	c = text_lower(c);
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX once and folds; escapes that are none stay as they are, as in a request. */
static struct text decode(struct arena *arena, struct text raw, bool exact)
{
	char *out = arena_alloc(arena, raw.size + 1);
	size_t used = 0;

	for (size_t i = 0; i < raw.size; i++) {
		char c = raw.data[i];

		if (c == '%' && raw.size - i > 2) {
			int high = hex_value(raw.data[i + 1]), low = hex_value(raw.data[i + 2]);

			if (high >= 0 && low >= 0) {
				c = (char)(high << 4 | low);
				i += 2;
			}
		}
		out[used++] = exact ? c : text_lower(c);
	}
	return (struct text){out, used};
}

static bool is_stars(struct text raw, size_t count)
{
	return raw.size == count && memcmp(raw.data, "**", count) == 0;
}

static const char *read_segment(struct arena *arena, struct text raw, bool last, struct pattern *out)
{
	struct pattern_segment *segment = &out->segments[out->count];

	if (is_stars(raw, 1) || is_stars(raw, 2)) {
		if (last)
			out->rest = true;
		else if (raw.size == 2)
			return "has ** in the middle; it stands only at the end (one segment is *)";
		else {
			segment->kind = IMAGE_ONE;
			out->count++;
		}
		return NULL;
	}
	if (raw.data[0] == '{' && raw.data[raw.size - 1] == '}' && raw.size > 2 &&
	    !memchr(raw.data + 1, '{', raw.size - 1) && !memchr(raw.data, '}', raw.size - 1)) {
		segment->kind = IMAGE_ONE;
		out->count++;
		return NULL;
	}
	if (memchr(raw.data, '*', raw.size))
		return "has a * inside a segment; it stands for a whole one (a literal star is %2A)";
	if (memchr(raw.data, '{', raw.size) || memchr(raw.data, '}', raw.size))
		return "has a { or } inside a segment; {name} stands for a whole one (a literal brace is %7B "
		       "or %7D)";

	segment->kind = IMAGE_LITERAL;
	segment->text = decode(arena, raw, out->exact);
	out->count++;
	if (text_equal(segment->text, TEXT(".")) || text_equal(segment->text, TEXT("..")))
		return "has a dot segment; paths are compared after those are resolved";
	if (memchr(segment->text.data, ';', segment->text.size))
		return "has a ';'; what follows one in a segment is dropped before comparing";
	if (memchr(segment->text.data, '/', segment->text.size) ||
	    memchr(segment->text.data, '\\', segment->text.size))
		return "has an encoded slash or a backslash; paths are compared with / in their place";
	if (segment->text.size >= IMAGE_SEGMENT_MAX) /* longer ones would be cut to the same */
		return "has a segment of more than 254 bytes; no more of one is compared";
	return NULL;
}

bool pattern_read(struct arena *arena, struct text text, bool exact, struct pattern *out, char *why,
		  size_t size)
{
	size_t at = 0, end_at = text.size, most = 0;

	memset(out, 0, sizeof *out);
	out->exact = exact;
	if (text.size == 0 || text.data[0] != '/')
		return refuse(why, size, text, "does not begin with '/'");
	if (text.size > 1000)
		return refuse(why, size, text, "is too long; a pattern has at most 1000 bytes");
	if (memchr(text.data, '?', text.size) || memchr(text.data, '#', text.size))
		return refuse(why, size, text, "has a '?' or '#'; only the path is compared");

	/* where a trailing slash means nothing, a star before it is at the end */
	while (!exact && end_at > 1 && text.data[end_at - 1] == '/')
		end_at--;
	out->segments = arena_alloc(arena, (text.size / 2 + 2) * sizeof *out->segments);
	while (at < text.size) {
		const char *start = text.data + at + 1, *end = memchr(start, '/', text.size - at - 1);
		struct text raw = {start, end ? (size_t)(end - start) : text.size - at - 1};
		const char *wrong;

		at += 1 + raw.size;
		if (raw.size == 0)
			continue;
		wrong = read_segment(arena, raw, at == end_at, out);
		if (wrong)
			return refuse(why, size, text, wrong);
	}
	/* A path is compared as far as it is kept: what a client writes for the stars must not push the rest
	 * of the pattern out. */
	for (size_t i = 0; i < out->count; i++)
		most += 1 +
			(out->segments[i].kind == IMAGE_ONE ? IMAGE_SEGMENT_MAX : out->segments[i].text.size);
	if (most >= IMAGE_PATH_MAX)
		return refuse(why, size, text, "has too many * or {name}; at most seven can be compared");
	/* "/a/" is not "/a" where paths are exact; "/" alone is both */
	if (exact && text.data[text.size - 1] == '/' && out->count > 0)
		out->segments[out->count++] = (struct pattern_segment){IMAGE_LITERAL, {"", 0}};
	return true;
}
