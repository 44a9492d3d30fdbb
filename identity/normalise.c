/* SPDX-License-Identifier: BSD-2-Clause */
/* normalise: trimming here, the rest by utf8proc, in a buffer on the stack. */
#include <utf8proc.h>

#include "identity/normalise.h"

#define BYTES_MAX                                                                                            \
	4096 /* looked at: more than any name has, and enough that a composed text of BODY_VALUE_MAX is not cut early */
#define CODES_MAX (4 * BYTES_MAX) /* folded and decomposed: four each at most, and a byte makes less */

static bool is_space(utf8proc_int32_t code)
{
	switch (code) {
	case 0x7f:
	case 0x85:
	case 0xa0:
	case 0x1680:
	case 0x180e:
	case 0x2028:
	case 0x2029:
	case 0x202f:
	case 0x205f:
	case 0x2060:
	case 0x3000:
	case 0xfeff:
		return true;
	default:
		return (code >= 0 && code <= 0x20) || (code >= 0x2000 && code <= 0x200d);
	}
}

static struct text trimmed(struct text text)
{
	utf8proc_int32_t code;

	while (text.size) {
		utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)text.data,
							 (utf8proc_ssize_t)text.size, &code);
		if (size <= 0 || !is_space(code))
			break;
		text.data += size;
		text.size -= (size_t)size;
	}
	while (text.size) {
		size_t size = 1;
		while (size < 4 && size < text.size && (text.data[text.size - size] & 0xc0) == 0x80)
			size++;
		if (utf8proc_iterate((const utf8proc_uint8_t *)text.data + text.size - size,
				     (utf8proc_ssize_t)size, &code) != (utf8proc_ssize_t)size ||
		    !is_space(code))
			break;
		text.size -= size;
	}
	return text;
}

/* No longer than `max`, and no part of a character at its end. */
static size_t cut(const char *data, size_t size, size_t max)
{
	if (size <= max)
		return size;
	size = max;
	while (size && max - size < 3 && (data[size] & 0xc0) == 0x80)
		size--;
	return (data[size] & 0xc0) == 0x80 ? max : size;
}

static bool is_ascii(struct text text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.data[i] & 0x80)
			return false;
	return true;
}

/* Returns the size in UTF-8, in the same place; 0: it is not UTF-8. */
static size_t composed(struct text text, utf8proc_int32_t *codes)
{
	const utf8proc_option_t fold = UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_STABLE,
				compose = UTF8PROC_COMPOSE | UTF8PROC_STABLE;
	utf8proc_ssize_t size = utf8proc_decompose((const utf8proc_uint8_t *)text.data,
						   (utf8proc_ssize_t)text.size, codes, CODES_MAX, fold);
	if (size <= 0 || size > CODES_MAX)
		return 0;
	size = utf8proc_reencode(codes, size, compose);
	return size > 0 ? (size_t)size : 0;
}

size_t normalise(struct text text, char *out, size_t max)
{
	utf8proc_int32_t codes[CODES_MAX + 1];
	size_t size;

	text = trimmed(text);
	text.size = cut(text.data, text.size, BYTES_MAX);
	if (!is_ascii(text) && (size = composed(text, codes))) {
		size = cut((const char *)codes, size, max);
		memcpy(out, codes, size);
		return size;
	}
	text.size = cut(text.data, text.size, max);
	for (size_t i = 0; i < text.size; i++)
		out[i] = text_lower(text.data[i]);
	return text.size;
}
