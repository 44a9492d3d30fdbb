/* SPDX-License-Identifier: BSD-2-Clause */
/* match_scalar: "METHODS PATTERN", and its two halves, which stand alone in the long form. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/pattern.h"
#include "policy/sections.h"
#include "policy/suggest.h"
#include "policy/value.h"

static const struct {
	const char *name;
	uint32_t bit;
} methods[] = {
#define X(name) {#name, IMAGE_METHOD_BIT(name)},
	IMAGE_METHODS(X)
#undef X
};

static bool add_method(struct load *load, const struct node *node, struct text word, uint32_t *mask)
{
	const uint32_t both = IMAGE_METHOD_BIT(GET) | IMAGE_METHOD_BIT(HEAD);
	struct suggest suggest = suggest_begin(word);

	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		if (text_equal(word, text_of(methods[i].name))) {
			*mask |= methods[i].bit & both ? both : methods[i].bit; /* HEAD counts as GET */
			return true;
		}
		suggest_offer(&suggest, text_of(methods[i].name));
	}
	if (suggest.best.size)
		diag_error(load, yaml_mark_part(node, word), "unknown method '%.*s'; did you mean '%.*s'?",
			   SHOW(word), SHOW(suggest.best));
	else
		diag_error(load, yaml_mark_part(node, word),
			   "unknown method '%.*s'; a match is METHODS PATTERN, like GET,POST /api/*",
			   SHOW(word));
	return false;
}

bool match_methods_read(struct load *load, const struct node *node, struct text text, uint32_t *mask)
{
	bool good = true;
	*mask = 0;
	for (size_t at = 0; good && at < text.size;) {
		size_t size = 0;
		while (at + size < text.size && !strchr(", |\t", text.data[at + size]))
			size++;
		if (size)
			good = add_method(load, node, (struct text){text.data + at, size}, mask);
		at += size + 1;
	}
	if (!good || !*mask)
		*mask = IMAGE_METHOD_ANY;
	return good;
}

bool match_path_read(struct load *load, const struct node *node, struct text path, bool exact,
		     struct text *out)
{
	struct pattern pattern;
	char why[320];

	for (size_t i = 0; i < path.size; i++)
		if ((unsigned char)path.data[i] <= ' ') {
			diag_error(load, yaml_mark_part(node, path),
				   "a blank inside the pattern '%.*s'; in a URL it is %%20", SHOW(path));
			return false;
		}
	if (path.size > 8 && (memmem(path.data, path.size, "://", 3))) {
		diag_error(load, node->mark,
			   "a pattern is a path; the host is said as {host: example.com, path: /x}");
		return false;
	}
	if (path.size > 1000) {
		diag_error(load, node->mark, "a pattern has at most 1000 bytes");
		return false;
	}
	if (!pattern_read(&load->arena, path, exact, &pattern, why, sizeof why)) {
		diag_error(load, yaml_mark_part(node, path), "%s", why);
		return false;
	}
	*out = path;
	return true;
}

bool match_scalar_read(struct load *load, const struct node *node, bool exact, struct model_clause *clause)
{
	struct text text, before, path;

	if (!value_line(load, node, "match", &text))
		return false;
	if (text_equal(text, TEXT("called"))) {
		diag_error(load, node->mark, "'called' is not built yet");
		return false;
	}
	/* The path is the first word that begins with '/'; a '*' in its place is every path. */
	size_t at = 0;
	while (at < text.size && !((text.data[at] == '/' || text.data[at] == '*') &&
				   (at == 0 || text.data[at - 1] == ' ' || text.data[at - 1] == '\t')))
		at++;
	before = value_trim((struct text){text.data, at});
	path = (struct text){text.data + at, text.size - at};
	if (!path.size && memchr(text.data, '/', text.size)) {
		if (memmem(text.data, text.size, "://", 3))
			diag_error(load, node->mark,
				   "a pattern is a path; the host is said as {host: example.com, path: /x}");
		else
			diag_error(load, node->mark, "a pattern begins with '/': '/%.*s'", SHOW(text));
		return false;
	}
	if (path.size == 1 && path.data[0] == '*')
		path.size = 0;
	bool good = !before.size || match_methods_read(load, node, before, &clause->methods);
	good = (!path.size || match_path_read(load, node, path, exact, &clause->path)) && good;
	clause->mark = node->mark;
	clause->text = text;
	return good;
}
