/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_token: words as nginx cuts them. A '#' begins a comment and a quote a string only where a word could begin; a word ends at
 * a blank, a ';' or a '{', but not at the '{' of `${`; a backslash keeps the next byte in the word, and stays unless it is one of
 * the escapes that nginx knows. Source: the language as nginx documents it, and what it accepts.
 */
#include "cli/import_token.h"

static int byte(const struct conf_reader *r, size_t ahead)
{
	return r->at + ahead < r->text.size ? (unsigned char)r->text.data[r->at + ahead] : -1;
}

static void step(struct conf_reader *r)
{
	if (r->text.data[r->at++] == '\n') {
		r->line++;
		r->line_start = r->at;
	}
}

static bool blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip(struct conf_reader *r)
{
	for (;;) {
		while (blank(byte(r, 0)))
			step(r);
		if (byte(r, 0) != '#')
			return;
		while (byte(r, 0) != -1 && byte(r, 0) != '\n')
			step(r);
	}
}

/* What a backslash and this byte stand for; 0: for themselves. */
static char escaped(char c)
{
	switch (c) {
	case '"':
	case '\'':
	case '\\':
		return c;
	case 't':
		return '\t';
	case 'r':
		return '\r';
	case 'n':
		return '\n';
	default:
		return 0;
	}
}

/* The bytes of a word without the backslashes that nginx takes out. */
static struct text unescape(struct conf_reader *r, const char *from, size_t size)
{
	char *out = arena_alloc(r->conf->arena, size + 1);
	size_t used = 0;
	for (size_t i = 0; i < size; i++) {
		char known = from[i] == '\\' && i + 1 < size ? escaped(from[i + 1]) : 0;
		i += known != 0;
		out[used++] = known ? known : from[i];
	}
	return (struct text){out, used};
}

static enum conf_token broken(struct conf_reader *r, const char *what)
{
	conf_wrong(r->conf, r->place, "%s", what);
	return CONF_BROKEN;
}

static enum conf_token quoted(struct conf_reader *r, struct text *word)
{
	int quote = byte(r, 0), after;
	step(r);
	size_t from = r->at;
	while (byte(r, 0) != -1 && byte(r, 0) != quote) {
		if (byte(r, 0) == '\\' && byte(r, 1) != -1)
			step(r);
		step(r);
	}
	if (byte(r, 0) == -1)
		return broken(r, "this string has no end");
	*word = unescape(r, r->text.data + from, r->at - from);
	step(r);
	after = byte(r, 0);
	if (after != -1 && !blank(after) && after != ';' && after != '{' && after != ')') {
		r->place.line = r->line;
		r->place.column = (unsigned)(r->at - r->line_start + 1);
		return broken(r, "a blank or ';' is missing behind the string");
	}
	return CONF_WORD;
}

enum conf_token conf_next(struct conf_reader *r, struct text *word)
{
	skip(r);
	r->place.line = r->line;
	r->place.column = (unsigned)(r->at - r->line_start + 1);
	switch (byte(r, 0)) {
	case -1:
		return CONF_END;
	case ';':
		step(r);
		return CONF_SEMICOLON;
	case '{':
		step(r);
		return CONF_OPEN;
	case '}':
		step(r);
		return CONF_CLOSE;
	case '"':
	case '\'':
		return quoted(r, word);
	default:
		break;
	}
	size_t from = r->at;
	for (int c; (c = byte(r, 0)) != -1 && !blank(c) && c != ';' && c != '{';) {
		if ((c == '\\' && byte(r, 1) != -1) || (c == '$' && byte(r, 1) == '{'))
			step(r);
		step(r);
	}
	*word = unescape(r, r->text.data + from, r->at - from);
	return CONF_WORD;
}

bool conf_skip_lua(struct conf_reader *r)
{
	for (unsigned depth = 1; byte(r, 0) != -1;) {
		int c = byte(r, 0);
		if (c == '"' || c == '\'') {
			step(r);
			while (byte(r, 0) != -1 && byte(r, 0) != c && byte(r, 0) != '\n') {
				if (byte(r, 0) == '\\' && byte(r, 1) != -1)
					step(r);
				step(r);
			}
			if (byte(r, 0) != -1)
				step(r);
			continue;
		}
		if (c == '-' && byte(r, 1) == '-') {
			while (byte(r, 0) != -1 && byte(r, 0) != '\n')
				step(r);
			continue;
		}
		step(r);
		depth += c == '{';
		depth -= c == '}';
		if (depth == 0)
			return true;
	}
	return conf_wrong(r->conf, r->place, "this block has no end");
}
