/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * negotiate: see the header.
 *
 * Browsers name text/html and take everything else at 0.8; HTTP libraries name application/json or nothing
 * but anything. So precision decides between equals: a library that lists JSON before a wildcard gets JSON
 * where a page is configured.
 */
#include "flow/negotiate.h"
#include "flow/read.h"

/* How precisely a range names a type: 0 not at all, 1 any, 2 its first half, 3 itself. */
static unsigned precision(struct text range, struct text type)
{
	const char *slash = memchr(type.data, '/', type.size);
	size_t half = slash ? (size_t)(slash - type.data) + 1 : type.size;

	if (text_equal(range, TEXT("*/*")) || text_equal(range, TEXT("*")))
		return 1;
	if (text_equal_folded(range, type))
		return 3;
	if (text_equal_folded(type, TEXT("application/problem+json")) &&
	    text_equal_folded(range, TEXT("application/json")))
		return 3;
	if (range.size == half + 1 && range.data[half] == '*' &&
	    text_equal_folded((struct text){range.data, half}, (struct text){type.data, half}))
		return 2;
	return 0;
}

/* Thousandths: 1, 0.25, ... ; what is not a weight counts as the default, 1000 (RFC 9110 12.4.2). */
static unsigned weight(struct text text)
{
	unsigned q, digit = 100;

	if (text.size == 0 || (text.data[0] != '0' && text.data[0] != '1'))
		return 1000;
	q = text.data[0] == '1' ? 1000 : 0;
	for (size_t i = 2; i < text.size && i < 5 && text.data[1] == '.'; i++, digit /= 10) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return 1000;
		q += (unsigned)(text.data[i] - '0') * digit;
	}
	return q < 1000 ? q : 1000;
}

/* Up to the next `separator` outside of quotes; *rest moves behind it. */
static struct text field(struct text *rest, char separator)
{
	bool quoted = false;
	size_t at = 0;
	struct text out;

	for (; at < rest->size && (quoted || rest->data[at] != separator); at++) {
		if (quoted && rest->data[at] == '\\' && at + 1 < rest->size)
			at++;
		else if (rest->data[at] == '"')
			quoted = !quoted;
	}
	out = read_trim((struct text){rest->data, at});
	at += at < rest->size;
	rest->data += at;
	rest->size -= at;
	return out;
}

static struct text media_type(enum negotiate_kind kind, struct text file_type)
{
	switch (kind) {
	case NEGOTIATE_JSON:
		return TEXT("application/json");
	case NEGOTIATE_PROBLEM:
		return TEXT("application/problem+json");
	case NEGOTIATE_TEXT:
		return TEXT("text/plain");
	case NEGOTIATE_HTML:
		return TEXT("text/html");
	default:
		return field(&file_type, ';');
	}
}

enum negotiate_kind negotiate(struct text accept, enum negotiate_kind configured, struct text file_type)
{
	struct {
		unsigned precision, q;
	} offers[NEGOTIATE_COUNT] = {{0, 0}};
	struct text types[NEGOTIATE_COUNT];
	enum negotiate_kind best = configured;
	/* a page of the operator's own answers for HTML; without one there is nothing to offer as a file */
	unsigned without = configured == NEGOTIATE_FILE ? NEGOTIATE_COUNT : NEGOTIATE_FILE;

	for (unsigned kind = 0; kind < NEGOTIATE_COUNT; kind++)
		types[kind] = media_type((enum negotiate_kind)kind, file_type);
	if (configured == NEGOTIATE_FILE && text_equal_folded(types[NEGOTIATE_FILE], TEXT("text/html")))
		without = NEGOTIATE_HTML;

	while (accept.size) {
		struct text element = field(&accept, ','), range = field(&element, ';');
		unsigned q = 1000;

		while (element.size) {
			struct text parameter = field(&element, ';');
			if (parameter.size >= 2 && text_lower(parameter.data[0]) == 'q' &&
			    parameter.data[1] == '=')
				q = weight((struct text){parameter.data + 2, parameter.size - 2});
		}
		for (unsigned kind = 0; kind < NEGOTIATE_COUNT; kind++) {
			unsigned p = kind == without ? 0 : precision(range, types[kind]);
			if (p > offers[kind].precision) {
				offers[kind].precision = p;
				offers[kind].q = q;
			}
		}
	}
	for (unsigned kind = 0; kind < NEGOTIATE_COUNT; kind++)
		if (offers[kind].q > offers[best].q || (offers[kind].q && offers[kind].q == offers[best].q &&
							offers[kind].precision > offers[best].precision))
			best = (enum negotiate_kind)kind;
	return best;
}
