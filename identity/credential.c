/* SPDX-License-Identifier: BSD-2-Clause */
/* credential: the bearer's token. Byte by byte; what is not exactly that is nobody's. */
#include "identity/credential.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '.' || c == '_' || c == '~' || c == '+' || c == '/';
}

static bool is_token68(struct text text)
{
	size_t at = 0;

	while (at < text.size && is_token(text.data[at]))
		at++;
	if (at == 0)
		return false;
	while (at < text.size && text.data[at] == '=')
		at++;
	return at == text.size;
}

static void cut_front(struct text *text, size_t size)
{
	text->data += size;
	text->size -= size;
}

bool credential_bearer(struct text authorization, struct text *token)
{
	static const struct text scheme = {"bearer", 6};
	struct text rest = authorization;

	*token = (struct text){NULL, 0};
	while (rest.size && is_space(rest.data[0]))
		cut_front(&rest, 1);
	while (rest.size && is_space(rest.data[rest.size - 1]))
		rest.size--;
	if (rest.size <= scheme.size || !text_equal_folded((struct text){rest.data, scheme.size}, scheme))
		return false;
	cut_front(&rest, scheme.size);
	if (!is_space(rest.data[0]))
		return false;
	while (is_space(rest.data[0])) /* ends: the last byte is none */
		cut_front(&rest, 1);
	if (!is_token68(rest))
		return false;
	*token = rest;
	return true;
}
