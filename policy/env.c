/* SPDX-License-Identifier: BSD-2-Clause */
/* env: filling in the environment. */
#include "policy/env.h"

#include <stdlib.h>

#include "policy/load.h"
#include "policy/utf8.h"

#define VALUE_MAX 65536

static bool name_byte(char c, bool first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

struct buffer {
	char *data;
	size_t size, capacity;
};

static void put(struct load *load, struct buffer *out, struct text text)
{
	for (size_t i = 0; i < text.size; i++) {
		out->data = arena_grow(&load->arena, out->data, out->size, &out->capacity, 1);
		out->data[out->size++] = text.data[i];
	}
}

/* Is the value text that a policy may hold? */
static bool acceptable(struct text value)
{
	for (size_t at = 0; at < value.size;) {
		uint32_t code;
		size_t length = utf8_next(value.data + at, value.size - at, &code);
		if (length == 0 || !utf8_allowed(code))
			return false;
		at += length;
	}
	return value.size <= VALUE_MAX;
}

/* One reference, `inside` the braces. */
static bool expand_one(struct load *load, struct buffer *out, struct text inside, struct model_mark mark)
{
	size_t size = 0;
	while (size < inside.size && name_byte(inside.data[size], size == 0))
		size++;
	struct text rest = {inside.data + size, inside.size - size};
	bool fallback = rest.size >= 2 && rest.data[0] == ':' && rest.data[1] == '-';
	if (size == 0 || (rest.size && !fallback)) {
		diag_error(load, mark,
			   "'${%.*s}' is neither ${NAME} nor ${NAME:-default}; a literal ${ is written $${",
			   SHOW(inside));
		return false;
	}
	const char *name = arena_text(&load->arena, inside.data, size).data;
	struct text value = text_of(getenv(name));
	if (!value.data && !fallback) {
		diag_error(load, mark,
			   "the environment variable %.60s is not set; set it, or write ${%.60s:-default}",
			   name, name);
		return false;
	}
	if (value.size == 0 && fallback)
		value = (struct text){rest.data + 2, rest.size - 2};
	if (!acceptable(value)) {
		diag_error(load, mark,
			   "the environment variable %.60s holds bytes that are not text, or too many", name);
		return false;
	}
	load_hash(load, value);
	put(load, out, value);
	return true;
}

bool env_expand(struct load *load, struct text *text, struct model_mark mark)
{
	struct buffer out = {0};

	if (!text->size || !memmem(text->data, text->size, "${", 2))
		return true;
	for (size_t at = 0; at < text->size;) {
		struct text rest = {text->data + at, text->size - at};
		if (rest.size >= 3 && memcmp(rest.data, "$${", 3) == 0) {
			put(load, &out, TEXT("${"));
			at += 3;
		} else if (rest.size >= 2 && memcmp(rest.data, "${", 2) == 0) {
			const char *close = memchr(rest.data, '}', rest.size);
			if (!close) {
				diag_error(load, mark, "'${' is never closed; a literal ${ is written $${");
				return false;
			}
			struct text inside = {rest.data + 2, (size_t)(close - rest.data) - 2};
			if (!expand_one(load, &out, inside, mark))
				return false;
			at += inside.size + 3;
		} else {
			put(load, &out, (struct text){rest.data, 1});
			at++;
		}
		if (out.size > VALUE_MAX) {
			diag_error(load, mark, "with the environment filled in, this value is too long");
			return false;
		}
	}
	*text = arena_text(&load->arena, out.data, out.size);
	return true;
}
