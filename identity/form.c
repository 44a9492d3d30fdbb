/* SPDX-License-Identifier: BSD-2-Clause */
/* form: a field at a time. */
#include "identity/field_name.h"
#include "identity/form.h"

static int hex(char c)
{
	c = text_lower(c);
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `out` has room for it all. What is no escape stays as it is. */
static struct text decoded(struct text text, char *out)
{
	size_t size = 0;

	for (size_t i = 0; i < text.size; i++) {
		char c = text.data[i];
		if (c == '+') {
			c = ' ';
		} else if (c == '%' && text.size - i > 2 && hex(text.data[i + 1]) >= 0 &&
			   hex(text.data[i + 2]) >= 0) {
			c = (char)(hex(text.data[i + 1]) << 4 | hex(text.data[i + 2]));
			i += 2;
		}
		out[size++] = c;
	}
	return (struct text){out, size};
}

/* %uXXXX: a character to ASP and old servlets, four others to all else. */
static bool has_wide(struct text text)
{
	for (size_t i = 0; i + 5 < text.size; i++)
		if (text.data[i] == '%' && text_lower(text.data[i + 1]) == 'u' &&
		    hex(text.data[i + 2]) >= 0 && hex(text.data[i + 3]) >= 0 && hex(text.data[i + 4]) >= 0 &&
		    hex(text.data[i + 5]) >= 0)
			return true;
	return false;
}

bool form_looks(struct text body)
{
	return body.size && memchr(body.data, '=', body.size);
}

/* Older readers (Perl's CGI, Go before 1.17, Python before 3.9) also separate by `;`, which browsers never write. */
void form_read(struct text body, bool whole, struct reading *reading)
{
	char raw[BODY_MAX], said_raw[BODY_MAX];
	char before = '&', after;

	for (size_t at = 0; at < body.size; before = after) {
		size_t end = at;
		while (end < body.size && body.data[end] != '&' && body.data[end] != ';')
			end++;
		if (end == body.size && !whole)
			return;
		after = end < body.size ? body.data[end] : '&';
		struct text field = {body.data + at, end - at}, value = {NULL, 0};
		const char *equals = field.size ? memchr(field.data, '=', field.size) : NULL;
		if (equals) {
			value = (struct text){equals + 1, field.size - (size_t)(equals + 1 - field.data)};
			field.size = (size_t)(equals - field.data);
		}
		reading->doubtful |= has_wide(field);
		field = decoded(field, raw);
		for (size_t i = 0; i < reading->count; i++) {
			struct said *said = &reading->said[i];
			if (!said_is_named(said, field))
				continue;
			said->doubtful |= before == ';' || after == ';' || has_wide(value);
			said_value(reading, said, decoded(value, said_raw));
		}
		at = end + 1;
	}
}
