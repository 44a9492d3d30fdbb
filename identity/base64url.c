/* SPDX-License-Identifier: BSD-2-Clause */
/* base64url: six bits a character. A text that could be spelled in two ways would be two tokens of one signature. */
#include "identity/base64url.h"

#include <stdint.h>

#define NONE 64u

static unsigned bits_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (unsigned)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (unsigned)(c - 'a') + 26;
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0') + 52;
	return c == '-' ? 62 : c == '_' ? 63 : NONE;
}

bool base64url_decode(struct text text, void *out, size_t max, size_t *size)
{
	unsigned char *bytes = out;
	uint32_t held = 0;
	unsigned count = 0; /* bits held */

	*size = 0;
	if (text.size % 4 == 1)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		unsigned bits = bits_of(text.data[i]);

		if (bits == NONE)
			return false;
		held = held << 6 | bits;
		count += 6;
		if (count < 8)
			continue;
		if (*size == max)
			return false;
		count -= 8;
		bytes[(*size)++] = (unsigned char)(held >> count);
		held &= (1u << count) - 1;
	}
	return held == 0;
}
