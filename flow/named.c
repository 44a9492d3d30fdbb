/* SPDX-License-Identifier: BSD-2-Clause */
/* named: headers, cookies and query parameters, decoded once and never cut. */
#include "flow/named.h"
#include "flow/read.h"

size_t named_read(const struct named *value, size_t *at, char *out, size_t max)
{
	struct text raw = value->raw;
	size_t used = 0;

	while (*at < raw.size && used < max) {
		char c = raw.data[(*at)++];
		if (value->coding != NAMED_PLAIN && c == '%' && raw.size - *at >= 2) {
			int high = read_hex(raw.data[*at]), low = read_hex(raw.data[*at + 1]);
			if (high >= 0 && low >= 0) {
				c = (char)(high << 4 | low);
				*at += 2;
			}
		} else if (value->coding == NAMED_FORM && c == '+') {
			c = ' ';
		}
		out[used++] = c;
	}
	return used;
}

size_t named_size(const struct named *value)
{
	char chunk[256];
	size_t at = 0, size = 0, got;

	if (value->coding == NAMED_PLAIN)
		return value->raw.size;
	while ((got = named_read(value, &at, chunk, sizeof chunk)))
		size += got;
	return size;
}

static bool named_equal(struct text raw, enum named_coding coding, struct text text)
{
	struct named value = {raw, coding};
	size_t at = 0;
	char c;

	if (raw.size < text.size)
		return false;
	for (size_t i = 0; i < text.size; i++)
		if (!named_read(&value, &at, &c, 1) || c != text.data[i])
			return false;
	return at == raw.size;
}

/* Takes `name=value` off the front of a list. */
static bool pair(struct text *list, char separator, struct text *name, struct text *value)
{
	const char *end, *equals;
	size_t size;

	if (list->size == 0)
		return false;
	end = memchr(list->data, separator, list->size);
	size = end ? (size_t)(end - list->data) : list->size;
	equals = memchr(list->data, '=', size);
	*name = (struct text){list->data, equals ? (size_t)(equals - list->data) : size};
	*value = (struct text){list->data + name->size + (equals ? 1 : 0),
			       size - name->size - (equals ? 1 : 0)};
	list->data += size + (end ? 1 : 0);
	list->size -= size + (end ? 1 : 0);
	return true;
}

bool named_header(const struct flow_request *request, struct text name, struct named *out)
{
	out->coding = NAMED_PLAIN;
	for (unsigned nth = 0; read_header(request, name, nth, &out->raw); nth++)
		if (out->raw.size)
			return true;
	return false;
}

bool named_cookie(const struct flow_request *request, struct text name, struct named *out)
{
	struct text line, key, text;

	out->coding = NAMED_PERCENT;
	for (unsigned nth = 0; read_header(request, TEXT("cookie"), nth, &line); nth++) {
		while (pair(&line, ';', &key, &text)) {
			if (!text_equal(read_trim(key), name))
				continue;
			text = read_trim(text);
			if (text.size >= 2 && text.data[0] == '"' && text.data[text.size - 1] == '"')
				text = (struct text){text.data + 1, text.size - 2};
			out->raw = text;
			if (text.size)
				return true;
		}
	}
	return false;
}

bool named_query(struct text query, struct text name, struct named *out)
{
	struct text key;

	out->coding = NAMED_FORM;
	while (pair(&query, '&', &key, &out->raw))
		if (out->raw.size && named_equal(key, NAMED_FORM, name))
			return true;
	return false;
}
