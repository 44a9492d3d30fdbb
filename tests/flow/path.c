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
		static struct flow_path path;
		char got[8192], expected[8192];
		struct text query;

		flow_path_read(text_of(table[i].target), FLOW_PATH_WIDEST, &path, &query);
		snprintf(got, sizeof got, "%s %s %.*s %zu %zu", path.exact, path.folded, (int)query.size,
			 query.data ? query.data : "", path.exact_size, path.folded_size);
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
		static struct flow_path path;
		size_t at = 0;
		struct text query;

		for (size_t s = 0; s < rows[i].segments; s++) {
			target[at++] = '/';
			memset(target + at, 'a', rows[i].length);
			at += rows[i].length;
		}
		for (size_t s = 0; s < rows[i].back; s++)
			at += (size_t)sprintf(target + at, "/..");
		at += (size_t)sprintf(target + at, "/%s", rows[i].tail);
		flow_path_read((struct text){target, at}, FLOW_PATH_WIDEST, &path, &query);
		is_str(path.exact, rows[i].expect, "a way back over more than the longest path");
	}
}

static void cut(void)
{
	static char target[5001];
	static struct flow_path path;
	struct text query;

	memset(target, 'A', 5000);
	target[0] = '/';
	flow_path_read((struct text){target, 5000}, FLOW_PATH_WIDEST, &path, &query);
	is_u64(path.exact_size, 1 + IMAGE_SEGMENT_MAX, "a long segment is cut");
	is_u64(path.folded_size, 1 + IMAGE_SEGMENT_MAX, "... folded too");
	ok(path.exact[path.exact_size] == '\0' && path.folded[path.folded_size] == '\0',
	   "... and ends in NUL");
	memcpy(target + 4996, "/otp", 4);
	flow_path_read((struct text){target, 5000}, FLOW_PATH_WIDEST, &path, &query);
	is_str(path.exact + 1 + IMAGE_SEGMENT_MAX, "/otp", "what follows it is not");
	for (size_t i = 0; i < 5000; i++)
		target[i] = i % 2 ? 'A' : '/';
	flow_path_read((struct text){target, 5000}, FLOW_PATH_WIDEST, &path, &query);
	is_u64(path.exact_size, IMAGE_PATH_MAX, "many segments are cut");
	ok(memcmp(path.folded, "/a/a/a", 6) == 0, "... at the end");
	memcpy(target + IMAGE_PATH_MAX - 2, "b/", 2);
	memcpy(target + IMAGE_PATH_MAX - 4, "/b", 2);
	target[IMAGE_PATH_MAX - 3] = 'b';
	flow_path_read((struct text){target, 5000}, FLOW_PATH_WIDEST, &path, &query);
	is_u64(path.exact_size, IMAGE_PATH_MAX, "a path cut right behind a slash keeps it");
	is_u64(path.folded_size, IMAGE_PATH_MAX - 1, "... but not when folded");
}

/* Same handler, same bucket: any mixture of spellings of one path comes to the same. */
static void spellings(void)
{
	static const char path[] = "/api/v1/login";
	size_t wrong = 0;
	char worst[8192] = "";

	for (int round = 0; round < 200000; round++) {
		static struct flow_path read;
		char target[2048];
		size_t used = 0;
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
		flow_path_read((struct text){target, used}, FLOW_PATH_WIDEST, &read, &query);
		if (strcmp(read.folded, path) != 0) {
			wrong++;
			snprintf(worst, sizeof worst, "%.*s -> %s", (int)used, target, read.folded);
		}
	}
	is_u64(wrong, 0, "200,000 random spellings of one path are one path");
	if (wrong)
		note("%s", worst);
}

/* The other readings, and when there are any. */
static const struct {
	const char *target, *others; /* exact, in any order, joined by a space */
	bool ambiguous;
} readings[] = {
	{"/login", "", false},
	{"//LOGIN/", "", false},
	{"/%6cogin?a/../b", "", false},
	{"/a..b/.c", "", false},
	{"/%zz%", "", false},
	{"*", "", false},
	{"http://a\\b/c", "/\\b/c", true},
	{"/a/../login", "/a/../login", true},
	{"/a//../login", "/a/login /a/../login", true},
	{"/a%5Cb/../login", "/login /a\\b/../login", true},
	{"/a\\b/../login", "/login /a\\b/../login", true},
	{"/api/;/../login", "/api/login /api/;/../login", true},
	{"/static/a%5Cb/../../search", "/search /static/a\\b/../../search", true},
	{"/search%5Cx", "/search\\x", true},
	{"/search%2Fx", "", true},
	{"/login;x", "/login;x", true},
	{"/a/..;/b", "/a/..;/b", true},
};

static void several_ways(void)
{
	for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
		static struct flow_path widest, others[FLOW_PATH_OTHERS + 1];
		struct text query;
		char got[1024] = " ", want[1024];

		ok(flow_path_read(text_of(readings[i].target), FLOW_PATH_WIDEST, &widest, &query) ==
			   readings[i].ambiguous,
		   readings[i].ambiguous ? "may be read in several ways" : "can be read in one way only");
		size_t count = flow_path_others(text_of(readings[i].target), &widest, others), missing = 0;
		for (size_t k = 0; k < count; k++)
			snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", others[k].exact);
		snprintf(want, sizeof want, "%s", readings[i].others);
		for (char *word = strtok(want, " "); word; word = strtok(NULL, " ")) {
			char spaced[256];
			snprintf(spaced, sizeof spaced, " %s ", word);
			missing += strstr(got, spaced) == NULL;
		}
		is_u64(missing, 0, readings[i].target);
		ok(readings[i].ambiguous || count == 0, "... and no other where it says so");
		if (missing)
			note("%s", got);
	}
}

int main(void)
{
	tables();
	longer_than_the_cut();
	cut();
	spellings();
	several_ways();
	return done_testing();
}
