/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8: decoding, strictly. */
#include "policy/utf8.h"

size_t utf8_next(const char *data, size_t size, uint32_t *code)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	if (size == 0)
		return 0;
	uint8_t first = (uint8_t)data[0];
	size_t length = first < 0x80	     ? 1
			: (first >> 5) == 6  ? 2
			: (first >> 4) == 14 ? 3
			: (first >> 3) == 30 ? 4
					     : 0;
	if (length == 0 || length > size)
		return 0;
	uint32_t value = length == 1 ? first : first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		uint8_t next = (uint8_t)data[i];
		if ((next & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (next & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*code = value;
	return length;
}

bool utf8_allowed(uint32_t code)
{
	if (code < 0x20)
		return code == '\t' || code == '\n' || code == '\r';
	return code != 0x7f && !(code >= 0x80 && code < 0xa0) && code != 0xfeff && code != 0xfffe &&
	       code != 0xffff && code != 0x2028 && code != 0x2029 && !(code >= 0x202a && code <= 0x202e) &&
	       !(code >= 0x2066 && code <= 0x2069); /* line separators; overrides of the writing direction */
}

void utf8_show(char *string)
{
	size_t size = strlen(string), out = 0;
	for (size_t at = 0; at < size;) {
		uint32_t code = 0;
		size_t length = utf8_next(string + at, size - at, &code);
		if (length == 0 || !utf8_allowed(code))
			string[out++] = '?';
		else if (code == '\n' || code == '\r')
			string[out++] = ' ';
		else
			for (size_t i = 0; i < length; i++)
				string[out++] = string[at + i];
		at += length ? length : 1;
	}
	string[out] = '\0';
}
