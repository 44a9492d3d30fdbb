/* SPDX-License-Identifier: BSD-2-Clause */
/* path: however a path is spelt, it is one path (mission B14). */
#include "tests/flow/door.h"

static const struct {
	const char *target, *exact, *folded, *query;
} table[] = {
	/* every spelling of the mission */
	{"/login", "/login", "/login", ""},
	{"//login", "/login", "/login", ""},
	{"/LOGIN", "/LOGIN", "/login", ""},
	{"/login/", "/login/", "/login", ""},
	{"/%6cogin", "/login", "/login", ""},
	{"/%6Cogin", "/login", "/login", ""},
	{"/./login", "/login", "/login", ""},
	{"/login;x", "/login", "/login", ""},
	{"/a/../login", "/login", "/login", ""},
	{"/login?x", "/login", "/login", "x"},
	/* merging */
	{"///login///", "/login/", "/login", ""},
	{"/a//b", "/a/b", "/a/b", ""},
	{"/a//../b", "/b", "/b", ""},
	{"//", "/", "/", ""},
	{"", "/", "/", ""},
	{"/", "/", "/", ""},
	/* dots, plain and encoded */
	{"/.", "/", "/", ""},
	{"/..", "/", "/", ""},
	{"/../../login", "/login", "/login", ""},
	{"/%2e%2e/", "/", "/", ""},
	{"/%2E/login", "/login", "/login", ""},
	{"/a/%2e%2E/login", "/login", "/login", ""},
	{"/a/.%2e/login", "/login", "/login", ""},
	{"/a/b/..", "/a/", "/a", ""},
	{"/a/b/.", "/a/b/", "/a/b", ""},
	{"/a/b/../..", "/", "/", ""},
	{"/a/b/../../", "/", "/", ""},
	{"/...", "/...", "/...", ""},
	{"/.a", "/.a", "/.a", ""},
	{"/..a/b", "/..a/b", "/..a/b", ""},
	{"/a./b.", "/a./b.", "/a./b.", ""},
	/* separators in disguise */
	{"/a%2Flogin", "/a/login", "/a/login", ""},
	{"/x/..%2flogin", "/login", "/login", ""},
	{"/%2flogin", "/login", "/login", ""},
	{"/login%2f", "/login/", "/login", ""},
	{"/a\\..\\login", "/login", "/login", ""},
	{"\\login", "/login", "/login", ""},
	{"/a/..%5clogin", "/login", "/login", ""},
	/* parameters go before dots are resolved */
	{"/login;jsessionid=1/", "/login/", "/login", ""},
	{"/a;x=1/b;y=2", "/a/b", "/a/b", ""},
	{"/a/..;/login", "/login", "/login", ""},
	{"/a/..;x=1/login", "/login", "/login", ""},
	{"/;x/login", "/login", "/login", ""},
	{"/login;/..", "/", "/", ""},
	{"/login%3Bx", "/login", "/login", ""},
	{"/login;a%2Fb", "/login/b", "/login/b", ""},
	/* a NUL ends its segment */
	{"/login%00", "/login", "/login", ""},
	{"/login%00.css", "/login", "/login", ""},
	{"/%00login", "/", "/", ""},
	/* decoded once, invalid escapes kept */
	{"/%256cogin", "/%6cogin", "/%6cogin", ""},
	{"/%zz", "/%zz", "/%zz", ""},
	{"/%", "/%", "/%", ""},
	{"/%6", "/%6", "/%6", ""},
	{"/%6/c", "/%6/c", "/%6/c", ""},
	{"/a%20b", "/a b", "/a b", ""},
	{"/a+b", "/a+b", "/a+b", ""},
	{"/%C3%89", "/\xc3\x89", "/\xc3\x89", ""},
	{"/a%3Fb", "/a?b", "/a?b", ""},
	{"/a%23b", "/a#b", "/a#b", ""},
	/* queries and fragments */
	{"/a?b/../c", "/a", "/a", "b/../c"},
	{"/a?b?c", "/a", "/a", "b?c"},
	{"/a?b#c", "/a", "/a", "b"},
	{"/a#b?c", "/a", "/a", ""},
	{"?x=1", "/", "/", "x=1"},
	{"/?", "/", "/", ""},
	/* absolute form, and what only looks like it */
	{"http://example.com/login", "/login", "/login", ""},
	{"HTTP://example.com:80//LOGIN/?x", "/LOGIN/", "/login", "x"},
	{"http://example.com", "/", "/", ""},
	{"http://example.com?x", "/", "/", "x"},
	{"http://example.com#x", "/", "/", ""},
	{"http://user:a@b/login", "/login", "/login", ""},
	{"h2+x.y-z://b/login", "/login", "/login", ""},
	{"://b/login", "/:/b/login", "/:/b/login", ""},
	{"1http://b/login", "/1http:/b/login", "/1http:/b/login", ""},
	{"/http://b/login", "/http:/b/login", "/http:/b/login", ""},
	{"//example.com/login", "/example.com/login", "/example.com/login", ""},
	{"http:/login", "/http:/login", "/http:/login", ""},
	{"login", "/login", "/login", ""},
	/* the server itself */
	{"*", "/", "/", ""},
	{"/*", "/*", "/*", ""},
	{"example.com:443", "/example.com:443", "/example.com:443", ""},
};

static void tables(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		char exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1], got[4096], expected[4096];
		size_t exact_size, folded_size;
		struct text query;

		flow_path_normalise(text_of(table[i].target), exact, &exact_size, folded, &folded_size,
				    &query);
		snprintf(got, sizeof got, "%s %s %.*s %zu %zu", exact, folded, (int)query.size,
			 query.data ? query.data : "", exact_size, folded_size);
		snprintf(expected, sizeof expected, "%s %s %s %zu %zu", table[i].exact, table[i].folded,
			 table[i].query, strlen(table[i].exact), strlen(table[i].folded));
		is_str(got, expected, table[i].target[0] ? table[i].target : "(empty)");
	}
}

/* Padding past the cut, and the way back. */
static void longer_than_the_cut(void)
{
	static const struct {
		size_t segments, length, back;
		const char *tail, *expect;
	} rows[] = {
		{1, 3000, 1, "login", "/login"},
		{3000, 1, 3000, "login", "/login"},
		{3000, 1, 3001, "login", "/login"},
		{700, 2, 699, "login", "/aa/login"},
		{1, 1022, 1, "x", "/x"},
		{1, 1023, 1, "x", "/x"},
		{1, 1024, 1, "x", "/x"},
		{2, 600, 2, "x", "/x"},
		{300, 3, 300, "", "/"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		static char target[200000];
		char exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1];
		size_t at = 0, exact_size, folded_size;
		struct text query;

		for (size_t s = 0; s < rows[i].segments; s++) {
			target[at++] = '/';
			memset(target + at, 'a', rows[i].length);
			at += rows[i].length;
		}
		for (size_t s = 0; s < rows[i].back; s++)
			at += (size_t)sprintf(target + at, "/..");
		at += (size_t)sprintf(target + at, "/%s", rows[i].tail);
		flow_path_normalise((struct text){target, at}, exact, &exact_size, folded, &folded_size,
				    &query);
		is_str(exact, rows[i].expect, "a way back over more than the longest path");
	}
}

static void cut(void)
{
	static char target[5001];
	char exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1];
	size_t exact_size, folded_size;
	struct text query;

	memset(target, 'A', 5000);
	target[0] = '/';
	flow_path_normalise((struct text){target, 5000}, exact, &exact_size, folded, &folded_size, &query);
	is_u64(exact_size, IMAGE_PATH_MAX, "a long segment is cut");
	is_u64(folded_size, IMAGE_PATH_MAX, "... folded too");
	ok(exact[IMAGE_PATH_MAX] == '\0' && folded[IMAGE_PATH_MAX] == '\0', "... and ends in NUL");
	for (size_t i = 0; i < 5000; i += 2)
		target[i] = '/';
	flow_path_normalise((struct text){target, 5000}, exact, &exact_size, folded, &folded_size, &query);
	is_u64(exact_size, IMAGE_PATH_MAX, "many segments are cut");
	ok(memcmp(folded, "/a/a/a", 6) == 0, "... at the end");
	target[1023] = '/';
	memset(target + 1, 'a', 1022);
	flow_path_normalise((struct text){target, 5000}, exact, &exact_size, folded, &folded_size, &query);
	is_u64(exact_size, IMAGE_PATH_MAX, "a path cut right behind a slash keeps it");
	is_u64(folded_size, IMAGE_PATH_MAX - 1, "... but not when folded");
}

/* Same handler, same bucket: any mixture of spellings of one path comes to the same. */
static void spellings(void)
{
	static const char path[] = "/api/v1/login";
	size_t wrong = 0;
	char worst[2048] = "";

	for (int round = 0; round < 200000; round++) {
		char target[2048], exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1];
		size_t used = 0, exact_size, folded_size;
		struct text query;
		bool absolute = pick(8) == 0; /* its path begins with a plain slash */
		if (absolute)
			used += (size_t)sprintf(target, "http://example.com/");
		for (const char *c = path; *c; c++) {
			static const char *const slashes[] = {"/",	    "//",   "/./",    "/%2e/",
							      "%2f",	    "\\",   "/x/../", "/x/%2E./",
							      "/y;p/..;q/", "/;z/", "/%2F",   "%5c/"};
			if (*c == '/') {
				const char *slash = slashes[c != path || absolute ? pick(12) : 0];
				if (c != path && pick(4) == 0)
					used += (size_t)sprintf(target + used, ";v=%d", round);
				used += (size_t)sprintf(target + used, "%s", slash);
			} else if (pick(4) == 0) {
				used += (size_t)sprintf(target + used, pick(2) ? "%%%02X" : "%%%02x", *c);
			} else {
				target[used++] = pick(2) ? *c : (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
			}
		}
		static const char *const tails[] = {"",	    "/",     "/.",  "//", "?a=b", ";x",
						    "/?/x", "/z/..", "%2f", "#f", "%00",  "/;"};
		used += (size_t)sprintf(target + used, "%s", tails[pick(12)]);
		flow_path_normalise((struct text){target, used}, exact, &exact_size, folded, &folded_size,
				    &query);
		if (strcmp(folded, path) != 0) {
			wrong++;
			snprintf(worst, sizeof worst, "%.*s -> %s", (int)used, target, folded);
		}
	}
	is_u64(wrong, 0, "200,000 random spellings of one path are one path");
	if (wrong)
		note("%s", worst);
}

/* The other reading, and when there is one. */
static const struct {
	const char *target, *literal;
	bool ambiguous;
} readings[] = {
	{"/login", "/login", false},
	{"//LOGIN/", "/LOGIN/", false},
	{"/%6cogin?a/../b", "/login", false},
	{"/a..b/.c", "/a..b/.c", false},
	{"/%zz%", "/%zz%", false},
	{"*", "/", false},
	{"http://a\\b/c", "/\\b/c", true},
	{"/a/../login", "/a/../login", true},
	{"/a/.%2E/login", "/a/../login", true},
	{"/login/.", "/login/.", true},
	{"/search/x%2F..%2F..%2Ffree", "/search/x/../../free", true},
	{"/search/x\\..\\..\\free", "/search/x\\..\\..\\free", true},
	{"/search%5Cx", "/search\\x", true},
	{"/login;x", "/login;x", true},
	{"/login%3Bx", "/login;x", true},
	{"/a/;x/b", "/a/;x/b", true},
	{"/a/..;/b", "/a/..;/b", true},
};

static void two_ways(void)
{
	for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
		char exact[IMAGE_PATH_MAX + 1], folded[IMAGE_PATH_MAX + 1];
		size_t exact_size, folded_size;
		struct text query;

		ok(flow_path_normalise(text_of(readings[i].target), exact, &exact_size, folded, &folded_size,
				       &query) == readings[i].ambiguous,
		   readings[i].ambiguous ? "can be read in two ways" : "can be read in one way only");
		ok(readings[i].ambiguous || strcmp(exact, readings[i].literal) == 0,
		   "... which is then the literal one");
		flow_path_literal(text_of(readings[i].target), exact, &exact_size, folded, &folded_size);
		is_str(exact, readings[i].literal, readings[i].target);
	}
}

int main(void)
{
	tables();
	longer_than_the_cut();
	cut();
	spellings();
	two_ways();
	return done_testing();
}
