/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sound: spans, texts and networks of an image that is not believed yet.
 *
 * A budget of a few times the image's size is spent on every record and byte visited, so overlapping spans
 * cannot make the check itself, or a match, quadratic.
 */
#include "policy/sound.h"

#include <stdarg.h>
#include <stdio.h>

bool sound_refuse(struct sound *r, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (r->why_size > 0)
		vsnprintf(r->why, r->why_size, format, arguments);
	va_end(arguments);
	return false;
}

bool sound_spend(struct sound *r, uint64_t bytes)
{
	if (bytes > r->budget)
		return sound_refuse(r, "its parts overlap");
	r->budget -= bytes;
	return true;
}

bool sound_span(struct sound *r, struct image_span span, size_t record, const char *what)
{
	uint64_t end = span.offset + (uint64_t)span.count * record;

	if (span.offset % 8 != 0 || end > r->image->size)
		return sound_refuse(r, "its %s lie outside of it", what);
	return sound_spend(r, (uint64_t)span.count * record);
}

bool sound_within(struct sound *r, struct image_span span, struct image_span whole, size_t record,
		  const char *what)
{
	uint64_t end = span.offset + (uint64_t)span.count * record;

	if (span.count == 0 && span.offset <= r->image->size)
		return true;
	if (span.offset < whole.offset || (span.offset - whole.offset) % record != 0 ||
	    end > whole.offset + (uint64_t)whole.count * record)
		return sound_refuse(r, "some %s lie outside of theirs", what);
	return sound_spend(r, (uint64_t)span.count * record);
}

bool sound_text(struct sound *r, struct image_text text)
{
	if ((uint64_t)text.offset + text.size > r->image->size)
		return sound_refuse(r, "a text lies outside of it");
	return sound_spend(r, text.size);
}

bool sound_shown(struct sound *r, struct image_text shown)
{
	struct text text;

	if (!sound_text(r, shown))
		return false;
	text = image_text(r->image, shown);
	for (size_t i = 0; i < text.size; i++)
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			return sound_refuse(r, "a text to be shown has control characters");
	return true;
}

bool sound_networks(struct sound *r, struct image_span span)
{
	const struct network *networks;

	if (!sound_span(r, span, sizeof *networks, "networks"))
		return false;
	networks = image_at(r->image, span.offset);
	for (uint32_t i = 0; i < span.count; i++)
		if (memcmp(networks[i].first, networks[i].last, 16) > 0 ||
		    (i > 0 && memcmp(networks[i - 1].last, networks[i].first, 16) >= 0))
			return sound_refuse(r, "networks are not in order");
	return true;
}
