/* SPDX-License-Identifier: BSD-2-Clause */
/* match: every form of a match, as a table: one limit, a request, whether it meets. Then whole policies. */
#include "tests/policy/subjects.h"
#include "tests/tap.h"

static const struct {
	const char *clause, *request;
	bool exact, expect;
} forms[] = {
	/* no condition */
	{"", "GET /", false, true},
	{"", "BREW /pot", false, true},
	/* whole paths */
	{"/login", "GET /login", false, true},
	{"/login", "POST /login/", false, true},
	{"/login", "GET /LOGIN", false, true},
	{"/LogIn", "GET /login", false, true},
	{"/login/", "GET /login", false, true},
	{"/login", "GET /loginx", false, false},
	{"/login", "GET /logi", false, false},
	{"/login", "GET /login/x", false, false},
	{"/login", "GET /", false, false},
	{"/", "GET /", false, true},
	{"/", "GET /x", false, false},
	{"//a///b", "GET /a/b", false, true},
	{"/%6Cogin", "GET /login", false, true},
	{"/%4Cogin", "GET /login", false, true},
	{"/100%", "GET /100%", false, true}, /* no escape: stays */
	{"/%zz", "GET /%ZZ", false, true},
	{"/a%2Ab", "GET /a*b", false, true},
	{"/a%2Ab", "GET /aab", false, false},
	{"/%7Bid%7D", "GET /{id}", false, true},
	{"/%7Bid%7D", "GET /7", false, false},
	{"/\xc3\xa4/\xd8\xb3", "GET /\xc3\xa4/\xd8\xb3", false, true},
	{"/%C3%A4", "GET /\xc3\xa4", false, true},
	/* exact paths */
	{"/login", "GET /login", true, true},
	{"/login", "GET /Login", true, false},
	{"/login", "GET /login/", true, false},
	{"/login/", "GET /login/", true, true},
	{"/login/", "GET /login", true, false},
	{"/Login", "GET /Login", true, true},
	{"/", "GET /", true, true},
	/* everything below, and the bare prefix */
	{"/*", "GET /", false, true},
	{"/*", "GET /a/b/c", false, true},
	{"/**", "GET /", false, true},
	{"/api/*", "GET /api", false, true},
	{"/api/*", "GET /api/", false, true},
	{"/api/*", "GET /api/a", false, true},
	{"/api/*", "GET /API/a/b/c/d", false, true},
	{"/api/**", "GET /api/a/b", false, true},
	{"/api/**", "GET /api", false, true},
	{"/api/*", "GET /apis", false, false},
	{"/api/*", "GET /", false, false},
	{"/api/*", "GET /x/api/a", false, false},
	{"/api/*", "GET /api/", true, true},
	{"/api/*", "GET /api", true, true},
	{"/api/*", "GET /API", true, false},
	{"/api/*/", "GET /api/a/b", false, true}, /* the trailing slash means nothing */
	{"/api/**/", "GET /api", false, true},
	{"/api/*/", "GET /api/a/", true, true}, /* here it does: one segment and a slash */
	{"/api/*/", "GET /api/a", true, false},
	/* one segment */
	{"/users/*/posts", "GET /users/7/posts", false, true},
	{"/users/{id}/posts", "GET /users/7/posts/", false, true},
	{"/users/*/posts", "GET /users/posts", false, false},
	{"/users/*/posts", "GET /users/7/8/posts", false, false},
	{"/users/{id}", "GET /users/7", false, true},
	{"/users/{id}", "GET /users", false, false},
	{"/users/{id}", "GET /users/7/posts", false, false},
	{"/users/{id}", "GET /users/", true, false}, /* an empty segment is none */
	{"/users/{id}/", "GET /users/7/", true, true},
	{"/users/{id}/", "GET /users/7", true, false},
	{"/{a}/{b}", "GET /x/y", false, true},
	{"/{a}/{b}", "GET /x", false, false},
	{"/{a}/{b}/*", "GET /x/y", false, true},
	{"/{a}/{b}/*", "GET /x/y/z/z", false, true},
	{"/{a}/{b}/*", "GET /x", false, false},
	{"/*/admin/*", "GET /x/admin/y/z", false, true},
	{"/*/admin/*", "GET /admin/y", false, false},
	/* methods */
	{"GET", "GET /x", false, true},
	{"GET", "HEAD /x", false, true},
	{"HEAD", "GET /x", false, true},
	{"GET", "POST /x", false, false},
	{"GET", "get /x", false, false},
	{"GET,POST /a", "POST /a", false, true},
	{"GET,POST /a", "PUT /a", false, false},
	{"POST /login", "POST /login", false, true},
	{"POST /login", "GET /login", false, false},
	{"PURGE", "PURGE /", false, true},
	{"PURGE", "BREW /", false, false},
	/* hosts */
	{"host=example.com", "GET / host=example.com", false, true},
	{"host=example.com", "GET / host=www.example.com", false, false},
	{"host=example.com", "GET /", false, false},
	{"host=*.example.com", "GET / host=www.example.com", false, true},
	{"host=*.example.com", "GET / host=a.b.example.com", false, true},
	{"host=*.example.com", "GET / host=example.com", false, false},
	{"host=*.example.com", "GET / host=badexample.com", false, false},
	{"host=*.example.com", "GET / host=.example.com", false, false},
	{"host=*.example.com", "GET /", false, false},
	{"host=*", "GET / host=x", false, true},
	{"host=*", "GET /", false, false},
	{"/a host=example.com", "GET /a host=example.com", false, true},
	{"/a host=example.com", "GET /a host=example.org", false, false},
	{"/a host=example.com", "GET /a", false, false},
	{"/a host=*.example.com", "GET /a host=www.example.com", false, true},
	/* addresses */
	{"ip=10.0.0.0/8", "GET / ip=10.1.2.3", false, true},
	{"ip=10.0.0.0/8", "GET / ip=::ffff:10.1.2.3", false, true},
	{"ip=10.0.0.0/8", "GET / ip=11.1.2.3", false, false},
	{"ip=10.0.0.0/8", "GET /", false, false},
	{"ip=10.0.0.0/8,2001:db8::/32", "GET / ip=2001:db8::7", false, true},
	/* header values */
	{"header.x-a=*", "GET / header.x-a=1", false, true},
	{"header.x-a=*", "GET / header.x-a=", false, false}, /* empty is missing */
	{"header.x-a=*", "GET / header.x-a= header.x-a=2", false, true},
	{"header.x-a=*", "GET / header.x-b=1", false, false},
	{"header.x-a=one", "GET / header.x-a=one", false, true},
	{"header.x-a=one", "GET / header.x-a=One", false, false},
	{"header.x-a=one", "GET / header.x-a=two header.x-a=one", false, true},
	{"header.x-a=on*", "GET / header.x-a=one", false, true},
	{"header.x-a=on*", "GET / header.x-a=on", false, true},
	{"header.x-a=on*", "GET / header.x-a=o", false, false},
	{"header.x-a=*ne", "GET / header.x-a=one", false, true},
	{"header.x-a=*ne", "GET / header.x-a=e", false, false},
	{"header.x-a=* header.x-b=*", "GET / header.x-a=1 header.x-b=1", false, true},
	{"header.x-a=* header.x-b=*", "GET / header.x-a=1", false, false},
	/* not */
	{"!header.x-api-key=*", "GET /", false, true},
	{"!header.x-api-key=*", "GET / header.x-api-key=k", false, false},
	{"!header.x-api-key=*", "GET / header.x-api-key=", false, true},
	{"!POST", "POST /", false, false},
	{"!GET", "HEAD /", false, false},
	{"!POST", "GET /", false, true},
	{"/api/* !/api/health", "GET /api/x", false, true},
	{"/api/* !/api/health", "GET /api/health", false, false},
	{"/api/* !/API/{x}", "GET /api/Health/", false, false},
	{"/Api/* !/Api/health", "GET /Api/Health", true, true},
	{"!ip=10.0.0.0/8", "GET / ip=10.1.1.1", false, false},
	{"!ip=10.0.0.0/8", "GET / ip=11.1.1.1", false, true},
	{"!ip=10.0.0.0/8", "GET /", false, true},
	{"!host=*.example.com", "GET / host=www.example.com", false, false},
	{"!header.a=* !header.b=*", "GET / header.b=1", false, false},
	{"!header.a=* !header.b=*", "GET /", false, true},
	/* all at once */
	{"POST /a/*/b host=example.com ip=10.0.0.0/8 header.k=v !header.x=*",
	 "POST /a/1/b host=example.com ip=10.0.0.1 header.k=v", false, true},
	{"POST /a/*/b host=example.com ip=10.0.0.0/8 header.k=v !header.x=*",
	 "POST /a/1/b host=example.com ip=10.0.0.1 header.k=v header.x=1", false, false},
};

static void test_forms(struct arena *arena)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct limit_spec spec = {.name = "l", .clauses = {forms[i].clause}, .exact = forms[i].exact};
		struct image *image = models_compile(models_model(arena, &spec, 1));
		struct subject_store store;
		struct image_hit hit[4];
		char what[200];
		size_t count;

		snprintf(what, sizeof what, "'%s'%s %s '%s'", forms[i].clause,
			 forms[i].exact ? " exactly" : "", forms[i].expect ? "meets" : "does not meet",
			 forms[i].request);
		if (!ok(image != NULL, what))
			continue;
		subjects_read(&store, forms[i].request);
		count = image_match(image, &store.subject, hit, 4);
		is_u64(count, forms[i].expect, what);
		is_u64(image_clause_holds(image, image_clause_at(image, 0), &store.subject), forms[i].expect,
		       "the clause alone says the same");
		free(image);
	}
}

static const struct limit_spec site[] = {
	{.name = "everything"},
	{.name = "login", .clauses = {"POST /login", "POST /api/login"}},
	{.name = "api", .clauses = {"/api/*"}},
	{.name = "search", .clauses = {"GET /api/search", "POST /api/search"}},
	{.name = "off", .clauses = {"/api/*"}, .mode = IMAGE_DISABLED},
	{.name = "watched", .clauses = {"/api/*"}, .mode = IMAGE_SHADOW},
	{.name = "tenant", .clauses = {"host=a.example.com", "host=b.example.com /b/*"}},
	{.name = "tenants", .clauses = {"host=*.example.com"}},
	{.name = "keyless", .clauses = {"!header.x-key=*"}},
	{.name = "users", .clauses = {"/api/users/{id}", "/api/{what}/7", "/api/users/*"}},
	{.name = "exact", .clauses = {"/api/Users/*"}, .exact = true},
};
/* request; limits with the clause that held, "-" for those without any */
static const struct {
	const char *request, *expect;
} requests[] = {
	{"GET / header.x-key=1", "everything/-"},
	{"GET /", "everything/- keyless/0"},
	{"POST /login header.x-key=1", "everything/- login/0"},
	{"POST /api/login header.x-key=1", "everything/- login/1 api/0 watched/0"},
	{"GET /api/search header.x-key=1", "everything/- api/0 search/0 watched/0"},
	{"POST /api/search", "everything/- api/0 search/1 watched/0 keyless/0"},
	{"GET /x host=a.example.com header.x-key=1", "everything/- tenant/0 tenants/0"},
	{"GET /b host=b.example.com header.x-key=1", "everything/- tenant/1 tenants/0"},
	{"GET /b/c host=b.example.com header.x-key=1", "everything/- tenant/1 tenants/0"},
	{"GET /b host=c.example.com header.x-key=1", "everything/- tenants/0"},
	{"GET /c host=b.example.com header.x-key=1", "everything/- tenants/0"},
	/* of several clauses the first in file order, whichever the index meets first */
	{"GET /api/users/7 header.x-key=1", "everything/- api/0 watched/0 users/0"},
	{"GET /api/users header.x-key=1", "everything/- api/0 watched/0 users/2"},
	{"GET /api/users/8/x header.x-key=1", "everything/- api/0 watched/0 users/2"},
	{"GET /api/items/7 header.x-key=1", "everything/- api/0 watched/0 users/1"},
	{"GET /api/Users/7 header.x-key=1", "everything/- api/0 watched/0 users/0 exact/0"},
};

static void test_site(struct arena *arena)
{
	struct image *image = models_compile(models_model(arena, site, sizeof site / sizeof *site));

	if (!ok(image != NULL, "a whole policy compiles"))
		return;
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		struct subject_store store;
		struct image_hit hits[16];
		char got[256] = "";
		size_t count, used = 0;

		subjects_read(&store, requests[i].request);
		count = image_match(image, &store.subject, hits, 16);
		ok(count <= image->hits_max, "not more than hits_max says");
		for (size_t k = 0; k < count; k++) {
			const struct image_limit *limit = image_limit_at(image, hits[k].limit);
			struct text name = image_text(image, limit->name);
			uint32_t first = (limit->clauses.offset - image->clauses.offset) /
					 (uint32_t)sizeof(struct image_clause);

			used += (size_t)snprintf(got + used, sizeof got - used, "%s%.*s/", k ? " " : "",
						 (int)name.size, name.data);
			used += hits[k].clause == UINT32_MAX
					? (size_t)snprintf(got + used, sizeof got - used, "-")
					: (size_t)snprintf(got + used, sizeof got - used, "%u",
							   hits[k].clause - first);
		}
		is_str(got, requests[i].expect, requests[i].request);
	}
	{
		struct subject_store store;
		struct image_hit hits[2];

		subjects_read(&store, "POST /api/search");
		is_u64(image_match(image, &store.subject, hits, 2), 2,
		       "no more are written than there is room for");
		is_u64(image_match(image, &store.subject, hits, 0), 0, "none if there is none");
		subjects_read(&store, "GET /api/users");
		store.subject.path_folded = store.subject.path_exact = (struct text){"", 0};
		ok(image_match(image, &store.subject, hits, 2) > 0, "an empty path is the root");
	}
	free(image);
}

int main(void)
{
	struct arena arena = {0};

	if (setjmp(arena.out_of_memory))
		return 1;
	test_forms(&arena);
	test_site(&arena);
	arena_free(&arena);
	return done_testing();
}
