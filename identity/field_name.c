/* SPDX-License-Identifier: BSD-2-Clause */
/* field_name: names compared a character at a time, each as its simplest spelling. */
#include "identity/field_name.h"

#define END -1

/* The next byte, folded. */
static int folded(struct text *rest)
{
	if (!rest->size)
		return END;
	size_t size = 1;
	int c = (unsigned char)text_lower(rest->data[0]);
	if (rest->size >= 2 && memcmp(rest->data, "\xc5\xbf", 2) == 0) { /* U+017F, a long s */
		c = 's';
		size = 2;
	} else if (rest->size >= 3 && memcmp(rest->data, "\xe2\x84\xaa", 3) == 0) { /* U+212A, kelvin */
		c = 'k';
		size = 3;
	}
	rest->data += size;
	rest->size -= size;
	return c;
}

static int of_form(struct text *rest)
{
	int c;

	do
		c = folded(rest);
	while (c == ']');
	return c == ' ' || c == '.' || c == '[' ? '_' : c;
}

static bool same(struct text a, struct text b, int (*next)(struct text *))
{
	int c;

	do {
		c = next(&a);
		if (c != next(&b))
			return false;
	} while (c != END);
	return true;
}

/* Without `[]` or `[digits]` at its end. */
static struct text element(struct text name)
{
	size_t size = name.size;

	if (!size || name.data[size - 1] != ']')
		return name;
	size--;
	while (size && name.data[size - 1] >= '0' && name.data[size - 1] <= '9')
		size--;
	if (size > 1 && name.data[size - 1] == '[')
		name.size = size - 1;
	return name;
}

static struct text bare(struct text name)
{
	const char *nul = name.size ? memchr(name.data, 0, name.size) : NULL;

	if (nul)
		name.size = (size_t)(nul - name.data);
	while (name.size && (name.data[0] == ' ' || (name.data[0] >= '\t' && name.data[0] <= '\r'))) {
		name.data++;
		name.size--;
	}
	return element(name);
}

bool field_name_is(struct text said, struct text wanted)
{
	return same(bare(said), element(wanted), of_form);
}

bool field_name_is_inside(struct text said, struct text wanted)
{
	int c;

	said = bare(said);
	wanted = element(wanted);
	while ((c = of_form(&wanted)) != END)
		if (c != of_form(&said))
			return false;
	return of_form(&said) == '_';
}

bool field_name_is_member(struct text said, struct text wanted)
{
	return same(said, wanted, folded);
}
