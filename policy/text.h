/* SPDX-License-Identifier: BSD-2-Clause */
/* text: bytes with a length. Not NUL-terminated, not owned. */
#ifndef WEIR_POLICY_TEXT_H
#define WEIR_POLICY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
	const char *data; /* may be NULL if size is 0 */
	size_t size;
};

#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})

static inline struct text text_of(const char *string)
{
	return (struct text){string, string ? strlen(string) : 0};
}

static inline bool text_equal(struct text a, struct text b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline char text_lower(char c)
{
	return (c >= 'A' && c <= 'Z') ? (char)(c + 32) : c;
}

/* ASCII case folded. */
static inline bool text_equal_folded(struct text a, struct text b)
{
	if (a.size != b.size)
		return false;
	for (size_t i = 0; i < a.size; i++)
		if (text_lower(a.data[i]) != text_lower(b.data[i]))
			return false;
	return true;
}

#endif
