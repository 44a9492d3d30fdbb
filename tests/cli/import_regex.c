/* SPDX-License-Identifier: BSD-2-Clause */
/* Regular expressions of locations and maps that are a list of texts, and those that are not: nothing is guessed. */
#include "cli/import_model.h"
#include "tests/tap.h"

/* What is read, as one line: ^ and $ where it says how the value begins and ends, / for (/|$), * for a segment, ~ if that is wider. */
static const struct {
	const char *regex, *read; /* NULL: it cannot be said */
} REGEXES[] = {
	{"^GET$", "^GET$"},
	{"^(GET|POST)$", "^GET|POST$"},
	{"^(?:GET|POST)$", "^GET|POST$"},
	{"^GET$|^POST$", "^GET|POST$"},
	{"^curl/", "^curl/"},
	{"/login$", "/login$"},
	{"^/api/v[12]/", "^/api/v1/|/api/v2/"},
	{"^/api/v[0-3]$", "^/api/v0|/api/v1|/api/v2|/api/v3$"},
	{"^/a/?$", "^/a/|/a$"},
	{"^/a(/|$)", "^/a/"},
	{"^/a(?:$|/)", "^/a/"},
	{"^/a(/.*)?$", "^/a/"},
	{"^/a/.*$", "^/a/"},
	{"^/a(/|$)(.*)", "^/a/"},
	{"^/a/(.*)$", "^/a/"},
	{"^/a/(.+)", "^/a/"},
	{"^/a/.*", "^/a/"},
	{"^/(a|b(c|d))/x$", "^/a/x|/bc/x|/bd/x$"},
	{"^/(en|fr)?/x$", "^/en/x|/fr/x|//x$"},
	{"^/users/[^/]+/avatar$", "^/users/*/avatar$"},
	{"^/users/\\d+$", "^/users/*$~"},
	{"^/users/[a-z0-9_-]+/x", "^/users/*/x~"},
	{"^/file\\.php$", "^/file.php$"},
	{"", ""},
	{"^", "^"},
	{"\\.php$", ".php$"},
	{"bot", "bot"},
	{"a.c", NULL},
	{"^/v\\d+/", NULL},
	{"^/v[0-9]+/", NULL},
	{"^/[^/]+x/", NULL},
	{"a*", NULL},
	{"a+", NULL},
	{"a{2}", NULL},
	{"^/a$/b", NULL},
	{"^/a|/b$", NULL},
	{"(?i)a", NULL},
	{"(?<x>a)", NULL},
	{"(?!a)b", NULL},
	{"\\w", NULL},
	{"\\bx", NULL},
	{"\\1", NULL},
	{"[^a]", NULL},
	{"[a", NULL},
	{"(a", NULL},
	{"a)", NULL},
	{"\\", NULL},
	{"(a|b|c)(a|b|c)(a|b|c)(a|b|c)", NULL}, /* 81 texts */
	{"((((((((((a))))))))))", NULL},
	{"^/a/**", NULL},
	{"^/a/.*x", NULL},
};

static void read_aloud(const struct import_regex *regex, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s", regex->begins ? "^" : "");
	for (size_t i = 0; i < regex->texts.count; i++) {
		struct text text = regex->texts.items[i];
		used += (size_t)snprintf(out + used, size - used, "%s", i ? "|" : "");
		for (size_t k = 0; k < text.size; k++)
			out[used++] = text.data[k] == IMPORT_ANY ? '*' : text.data[k];
	}
	snprintf(out + used, size - used, "%s%s%s", regex->below ? "/" : "", regex->ends ? "$" : "",
		 regex->wider ? "~" : "");
}

static void pattern(struct import_model *model, const char *path, const char *tail, const char *expected)
{
	struct text got = import_pattern(model, text_of(path), tail);
	is_str(got.size ? got.data : "", expected, path);
}

int main(void)
{
	struct arena arena = {0};
	struct import_model model = {.arena = &arena};
	if (setjmp(arena.out_of_memory))
		return 1;
	for (size_t i = 0; i < sizeof REGEXES / sizeof *REGEXES; i++) {
		struct import_regex regex;
		char got[1024] = "cannot be said";
		if (import_regex(&model, text_of(REGEXES[i].regex), &regex))
			read_aloud(&regex, got, sizeof got);
		is_str(got, REGEXES[i].read ? REGEXES[i].read : "cannot be said", REGEXES[i].regex);
	}
	pattern(&model, "/a b", "", "/a%20b");
	pattern(&model, "/100%", "/*", "/100%25/*");
	pattern(&model, "/{x}*", "", "/%7Bx%7D%2A");
	pattern(&model, "/a;b", "", "");  /* what follows a ';' is not compared */
	pattern(&model, "/../a", "", ""); /* nor are dots */
	pattern(&model, "a", "", "");
	pattern(&model, "/to/http://", "*", "");
	arena_free(&arena);
	return done_testing();
}
