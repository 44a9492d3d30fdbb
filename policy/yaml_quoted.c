/* SPDX-License-Identifier: BSD-2-Clause */
/* yaml_quoted: single quotes, read here because libfyaml 0.7.12 loses memory, and text, when '' stands in
 * them many times. (YAML 1.2, 7.3.2.) */
#include "policy/yaml.h"

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool line_end(char c)
{
	return c == '\n' || c == '\r';
}

struct text yaml_single_quoted(struct arena *arena, struct text inside)
{
	char *out = arena_alloc(arena, inside.size + 1);
	size_t used = 0;

	for (size_t at = 0; at < inside.size;) {
		char c = inside.data[at];
		if (!line_end(c)) {
			out[used++] = c;
			at += c == '\'' && at + 1 < inside.size ? 2 : 1;
			continue;
		}
		size_t lines = 0;
		while (used && blank(out[used - 1]))
			used--;
		for (; at < inside.size && (blank(inside.data[at]) || line_end(inside.data[at])); at++) {
			bool pair = inside.data[at] == '\r' && at + 1 < inside.size &&
				    inside.data[at + 1] == '\n';
			lines += line_end(inside.data[at]) && !pair;
		}
		if (lines == 1)
			out[used++] = ' ';
		for (size_t i = 1; i < lines; i++)
			out[used++] = '\n';
	}
	return (struct text){out, used};
}
