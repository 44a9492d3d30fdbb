/* SPDX-License-Identifier: BSD-2-Clause */
/* yaml: single quotes, which are read by our own hand. Found by fuzzing: the library lost 1 KiB for twenty ''
 * in a row. */
#include "policy/yaml.h"

#include <stdlib.h>

#include "tests/tap.h"

static const struct {
	const char *inside, *meant;
} cases[] = {
	{"", ""},
	{"plain", "plain"},
	{"it''s", "it's"},
	{"''", "'"},
	{"x''''y", "x''y"},
	{"''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''''y",
	 "''''''''''''''''''''''''''''''''y"},
	{"a\n b", "a b"},
	{"a \t\n\t b", "a b"},
	{"a\r\n b", "a b"},
	{"a\r b", "a b"},
	{"a\n\n b", "a\nb"},
	{"a\n \n\t\n b", "a\n\nb"},
	{"a\r\n\r\n b", "a\nb"},
	{"  a\n b  ", "  a b  "},
	{"\n a", " a"},
	{"a\n", "a "},
	{"''\n''", "' '"},
	{"\\n\"", "\\n\""}, /* no escapes */
};

int main(void)
{
	struct arena arena = {0};
	if (setjmp(arena.out_of_memory))
		abort();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct text got = yaml_single_quoted(&arena, text_of(cases[i].inside));
		is_str(got.data, cases[i].meant, "between single quotes");
		is_u64(got.size, strlen(cases[i].meant), "of that size");
	}
	arena_free(&arena);
	return done_testing();
}
