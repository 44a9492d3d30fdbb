/* SPDX-License-Identifier: BSD-2-Clause */
/* media_type: Content-Type and Content-Disposition in their parts. */
#include "identity/media_type.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct text trimmed(struct text text)
{
	while (text.size && is_space(text.data[0])) {
		text.data++;
		text.size--;
	}
	while (text.size && is_space(text.data[text.size - 1]))
		text.size--;
	return text;
}

static struct text behind(struct text text, size_t size)
{
	return (struct text){text.data + size, text.size - size};
}

struct text media_type(struct text value)
{
	const char *end = value.size ? memchr(value.data, ';', value.size) : NULL;

	if (end)
		value.size = (size_t)(end - value.data);
	return trimmed(value);
}

bool media_type_is_json(struct text type)
{
	static const struct text suffix = {"+json", 5};

	return text_equal_folded(type, TEXT("application/json")) ||
	       (type.size > suffix.size && text_equal_folded(behind(type, type.size - suffix.size), suffix));
}

/* Where a quoted string ends whose first byte stands behind the quote; size if nowhere. */
static size_t closing(struct text text, char quote)
{
	size_t at = 0;

	while (at < text.size && text.data[at] != quote)
		at += text.data[at] == '\\' && at + 1 < text.size &&
				      (text.data[at + 1] == quote || text.data[at + 1] == '\\')
			      ? 2
			      : 1;
	return at;
}

bool media_parameter(struct text *rest, struct media_parameter *out, bool *odd)
{
	struct text text = *rest;
	const char *semicolon = text.size ? memchr(text.data, ';', text.size) : NULL;

	if (!semicolon)
		return false;
	text = trimmed(behind(text, (size_t)(semicolon - text.data) + 1));
	while (text.size && text.data[0] == ';')
		text = trimmed(behind(text, 1));
	*rest = (struct text){text.data, 0};
	if (!text.size)
		return false;
	const char *equals = memchr(text.data, '=', text.size);
	semicolon = memchr(text.data, ';', text.size);
	if (!equals || (semicolon && semicolon < equals)) {
		*odd = true;
		return false;
	}
	out->name = trimmed((struct text){text.data, (size_t)(equals - text.data)});
	text = trimmed(behind(text, (size_t)(equals - text.data) + 1));
	out->quoted = text.size && (text.data[0] == '"' || text.data[0] == '\'');
	if (out->quoted) {
		size_t size = closing(behind(text, 1), text.data[0]);
		if (size + 1 >= text.size) {
			*odd = true;
			return false;
		}
		out->value = (struct text){text.data + 1, size};
		text = trimmed(behind(text, size + 2));
		if (text.size && text.data[0] != ';') {
			*odd = true;
			return false;
		}
	} else {
		semicolon = text.size ? memchr(text.data, ';', text.size) : NULL;
		size_t size = semicolon ? (size_t)(semicolon - text.data) : text.size;
		out->value = trimmed((struct text){text.data, size});
		text = behind(text, size);
		*odd |= out->value.size && (memchr(out->value.data, '"', out->value.size) != NULL);
	}
	*rest = text;
	return true;
}

static bool begins(struct text text, struct text with)
{
	return text.size >= with.size && text_equal_folded((struct text){text.data, with.size}, with);
}

static bool says_charset(struct text text)
{
	static const struct text word = {"charset", 7};

	for (; text.size >= word.size; text = behind(text, 1))
		if (begins(text, word))
			return true;
	return false;
}

bool media_is_utf8(struct text value)
{
	struct text rest = value;
	struct media_parameter p;
	bool odd = false, utf8 = true;

	while (media_parameter(&rest, &p, &odd)) {
		if (!begins(p.name, TEXT("charset")))
			continue;
		utf8 &= p.name.size == strlen("charset") && (text_equal_folded(p.value, TEXT("utf-8")) ||
							     text_equal_folded(p.value, TEXT("utf8")) ||
							     text_equal_folded(p.value, TEXT("us-ascii")));
	}
	return utf8 && !(odd && says_charset(value));
}
