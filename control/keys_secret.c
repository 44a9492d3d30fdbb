/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_secret: drawing characters, checking them. */
#include "control/keys_secret.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char DIGITS[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
#define BASE 62u

bool keys_prefix_fine(struct text prefix)
{
	for (size_t i = 0; i < prefix.size; i++)
		if (!prefix.data[i] ||
		    (!strchr(DIGITS, prefix.data[i]) && prefix.data[i] != '_' && prefix.data[i] != '-'))
			return false;
	return prefix.size > 0 && prefix.size <= KEYS_PREFIX_MAX;
}

char keys_check_digit(struct text characters)
{
	unsigned sum = 0, factor = 2; /* ISO/IEC 7812-1, Annex B, with 62 for 10 */
	for (size_t i = characters.size; i-- > 0; factor = 3 - factor) {
		const char *digit = characters.data[i] ? strchr(DIGITS, characters.data[i]) : NULL;
		if (!digit)
			return 0;
		unsigned add = (unsigned)(digit - DIGITS) * factor;
		sum += add / BASE + add % BASE;
	}
	return DIGITS[(BASE - sum % BASE) % BASE];
}

const char *keys_secret_wrong(struct text secret)
{
	_Static_assert(KEYS_SECRET_MIN == 8 && RING_SECRET_MAX == 512, "as the sentence says");
	if (secret.size < KEYS_SECRET_MIN || secret.size > RING_SECRET_MAX)
		return "a secret has 8 to 512 characters";
	for (size_t i = 0; i < secret.size; i++)
		if (secret.data[i] < ' ' || secret.data[i] == 0x7f ||
		    (secret.data[i] == ' ' && (i == 0 || i + 1 == secret.size)))
			return "a secret is of visible characters of ASCII, for it is sent in a header";
	return NULL;
}

bool keys_secret_new(struct text prefix, char out[KEYS_TEXT_MAX])
{
	uint8_t bytes[4 * KEYS_RANDOM];
	size_t used = 0, at = prefix.size;
	memcpy(out, prefix.data, prefix.size);
	while (used < KEYS_RANDOM) {
		if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
			return false;
		for (size_t i = 0; i < sizeof bytes && used < KEYS_RANDOM; i++)
			if (bytes[i] < 4 * BASE) /* else some characters would come more often */
				out[at + used++] = DIGITS[bytes[i] % BASE];
	}
	explicit_bzero(bytes, sizeof bytes);
	out[at + used] = keys_check_digit((struct text){out + at, used});
	out[at + used + 1] = '\0';
	return true;
}

void keys_secret_shown(struct text secret, char out[KEYS_SHOWN_MAX + 1])
{
	size_t size = 0;
	for (size_t i = 0; i < secret.size; i++)
		if (secret.data[i] == '_')
			size = i + 1;
	size += KEYS_SHOWN;
	if (size > secret.size / 4 && !(size <= KEYS_PREFIX_MAX + KEYS_SHOWN && secret.size >= size + 28))
		size = secret.size / 4;
	if (size > KEYS_SHOWN_MAX)
		size = KEYS_SHOWN_MAX;
	for (size_t i = 0; i < size; i++)
		out[i] = secret.data[i] > ' ' && secret.data[i] < 0x7f ? secret.data[i] : '?';
	out[size] = '\0';
}
