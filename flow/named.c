/* SPDX-License-Identifier: BSD-2-Clause */
/* named: headers, cookies and query parameters, decoded once and never cut. */
#include "identity/field_name.h"
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

static bool same(struct text raw_a, struct text raw_b, enum named_coding coding)
{
	struct named a = {raw_a, coding}, b = {raw_b, coding};
	size_t at_a = 0, at_b = 0, got;
	char chunk_a[64], chunk_b[64];

	do {
		got = named_read(&a, &at_a, chunk_a, sizeof chunk_a);
		if (got != named_read(&b, &at_b, chunk_b, sizeof chunk_b) ||
		    memcmp(chunk_a, chunk_b, got) != 0)
			return false;
	} while (got);
	return true;
}

/* One more value under the name. */
static void add(enum named_said *said, struct named *out, struct text value)
{
	if (!value.size)
		return;
	if (*said == NAMED_NONE) {
		out->raw = value;
		*said = NAMED_FOUND;
	} else if (*said == NAMED_FOUND && !same(out->raw, value, out->coding)) {
		*said = NAMED_DOUBTFUL;
	}
}

/* Of a query: names as in a form. A longer one is none that is asked for. */
static bool is_named(struct text raw, struct text name)
{
	struct named said = {raw, NAMED_FORM};
	char decoded[512] = "";
	size_t at = 0, size = named_read(&said, &at, decoded, sizeof decoded);

	return field_name_is((struct text){decoded, size}, name);
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

enum named_said named_header(const struct flow_request *request, struct text name, struct named *out)
{
	enum named_said said = NAMED_NONE;
	struct text value;

	*out = (struct named){.coding = NAMED_PLAIN};
	for (unsigned nth = 0; read_header(request, name, nth, &value); nth++) {
		add(&said, out, value);
		if (nth == NAMED_VALUES_MAX)
			return NAMED_DOUBTFUL;
	}
	return said;
}

enum named_said named_cookie(const struct flow_request *request, struct text name, struct named *out)
{
	enum named_said said = NAMED_NONE;
	struct text line, key, text;

	*out = (struct named){.coding = NAMED_PERCENT};
	for (unsigned nth = 0; read_header(request, TEXT("cookie"), nth, &line); nth++) {
		if (nth == NAMED_VALUES_MAX)
			return NAMED_DOUBTFUL;
		while (pair(&line, ';', &key, &text)) {
			if (!text_equal(read_trim(key), name))
				continue;
			text = read_trim(text);
			if (text.size >= 2 && text.data[0] == '"' && text.data[text.size - 1] == '"')
				text = (struct text){text.data + 1, text.size - 2};
			add(&said, out, text);
		}
	}
	return said;
}

enum named_said named_query(struct text query, struct text name, struct named *out)
{
	enum named_said said = NAMED_NONE;
	struct text key, value;

	*out = (struct named){.coding = NAMED_FORM};
	while (pair(&query, '&', &key, &value))
		if (value.size && is_named(key, name))
			add(&said, out, value);
	return said;
}
