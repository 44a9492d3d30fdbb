/* SPDX-License-Identifier: BSD-2-Clause */
/* compile: what is refused, who a counter is, how many a request can meet, and that the same policy gives the
 * same bytes. */
#include "table/table.h"
#include "tests/policy/subjects.h"
#include "tests/tap.h"

static const struct {
	const char *pattern;
	bool exact;
	const char *why;
} patterns[] = {
	{"/a?b=c", false, "the path pattern '/a?b=c' has a '?' or '#'; only the path is compared"},
	{"/a#b", false, "the path pattern '/a#b' has a '?' or '#'; only the path is compared"},
	{"/a/**/b", false,
	 "the path pattern '/a/**/b' has ** in the middle; it stands only at the end (one segment is *)"},
	{"/a/**/", true,
	 "the path pattern '/a/**/' has ** in the middle; it stands only at the end (one segment is *)"},
	{"/*.php", false,
	 "the path pattern '/*.php' has a * inside a segment; it stands for a whole one (a literal star is "
	 "%2A)"},
	{"/a***", false,
	 "the path pattern '/a***' has a * inside a segment; it stands for a whole one (a literal star is "
	 "%2A)"},
	{"/{a}{b}", false,
	 "the path pattern '/{a}{b}' has a { or } inside a segment; {name} stands for a whole one (a literal "
	 "brace is %7B "
	 "or %7D)"},
	{"/{}", false,
	 "the path pattern '/{}' has a { or } inside a segment; {name} stands for a whole one (a literal "
	 "brace is %7B or "
	 "%7D)"},
	{"/a/../b", false,
	 "the path pattern '/a/../b' has a dot segment; paths are compared after those are resolved"},
	{"/a/%2e/b", false,
	 "the path pattern '/a/%2e/b' has a dot segment; paths are compared after those are resolved"},
	{"/a;v=1/b", false,
	 "the path pattern '/a;v=1/b' has a ';'; what follows one in a segment is dropped before comparing"},
	{"/a%3Bv", false,
	 "the path pattern '/a%3Bv' has a ';'; what follows one in a segment is dropped before comparing"},
	{"/a%2Fb", false,
	 "the path pattern '/a%2Fb' has an encoded slash or a backslash; paths are compared with / in their "
	 "place"},
	{"/a\\b", false,
	 "the path pattern '/a\\b' has an encoded slash or a backslash; paths are compared with / in their "
	 "place"},
};

static const char *refusal(const struct model *model, unsigned *line)
{
	static char why[512];
	struct model_mark mark = {0};
	struct image *image;

	snprintf(why, sizeof why, "(not refused)");
	image = model_compile(model, "policy", 0, &mark, why, sizeof why);
	*line = mark.line;
	free(image);
	return why;
}

static void test_refusals(struct arena *arena)
{
	static const struct limit_spec twins[] = {{.name = "a"}, {.name = "b"}, {.name = "c", .was = "a"}};
	static const struct limit_spec nested = {.name = "a", .clauses = {"/x !/y"}};
	static const struct limit_spec units = {.name = "a", .rates = {1, 2}};
	static char long_pattern[1100];
	struct limit_spec spec = {.name = "a", .clauses = {long_pattern}};
	struct model *model;
	unsigned line;

	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct limit_spec one = {
			.name = "a", .clauses = {patterns[i].pattern}, .exact = patterns[i].exact};

		model = models_model(arena, &one, 1);
		model->limits[0].clauses[0].mark.line = 7;
		is_str(refusal(model, &line), patterns[i].why, patterns[i].pattern);
		is_u64(line, 7, "at its place");
	}
	memset(long_pattern, 'a', sizeof long_pattern - 1);
	for (size_t i = 0; i < sizeof long_pattern - 1; i += 100)
		long_pattern[i] = '/';
	model = models_model(arena, &spec, 1);
	ok(strstr(refusal(model, &line), "is too long; a pattern has at most 1000 bytes") != NULL,
	   "a pattern longer than any path");
	long_pattern[1000] = 0;
	model = models_model(arena, &spec, 1);
	is_str(refusal(model, &line), "(not refused)", "one as long as the longest");

	model = models_model(arena, twins, 3);
	model->limits[2].mark.line = 9;
	is_str(refusal(model, &line),
	       "limit 'c' would share its counters with limit 'a'; they have the same name (or former name) "
	       "and key",
	       "a rename to what still exists");
	is_u64(line, 9, "at the later one");

	model = models_model(arena, &units, 1);
	model->limits[0].rates[1].unit = model->limits[0].rates[0].unit;
	model->limits[0].rates[1].mark.line = 4;
	is_str(refusal(model, &line), "limit 'a' has two rates with the unit 'min'; one of them is enough",
	       "two rates of one unit");
	is_u64(line, 4, "at the second");

	model = models_model(arena, &nested, 1);
	model->limits[0].clauses[0].nots[0].nots = model->limits[0].clauses[0].nots;
	model->limits[0].clauses[0].nots[0].not_count = 0;
	is_str(refusal(model, &line), "(not refused)", "a not is fine");
	{
		struct model_clause inner = models_clause(arena, "/z");

		model->limits[0].clauses[0].nots[0].nots = &inner;
		model->limits[0].clauses[0].nots[0].not_count = 1;
		is_str(refusal(model, &line),
		       "a 'not' inside a 'not' is not understood; say what it means without",
		       "one inside another is not");
	}
}

/* A policy of `count` limits made by a pattern with a number in it; hits_max, or 0 where it is refused. */
static uint32_t most_hits(struct arena *arena, unsigned count, const char *format, const char *also)
{
	struct limit_spec *specs = arena_alloc(arena, count * sizeof *specs);
	struct image *image;
	uint32_t most;

	for (unsigned i = 0; i < count; i++) {
		specs[i].name = arena_format(arena, "l%u", i).data;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		specs[i].clauses[0] = arena_format(arena, format, i).data;
#pragma GCC diagnostic pop
		specs[i].clauses[1] = also;
	}
	image = models_compile(models_model(arena, specs, count));
	most = image ? image->hits_max : 0;
	free(image);
	return most;
}

static void test_most(struct arena *arena)
{
	static const struct limit_spec mixed[] = {
		{.name = "all", .rates = {1, 2, 3}},
		{.name = "a", .clauses = {"/a/*"}},
		{.name = "a-b", .clauses = {"/a/b", "POST /a/b"}},
		{.name = "a-c", .clauses = {"/a/c"}},
		{.name = "a-one", .clauses = {"/a/{x}"}, .rates = {1, 1}},
		{.name = "z", .clauses = {"/z"}},
		{.name = "off", .clauses = {"/a/*"}, .mode = IMAGE_DISABLED},
		{.name = "exact", .clauses = {"/A/b"}, .exact = true},
		{.name = "host", .clauses = {"host=h"}},
		{.name = "host2", .clauses = {"host=g"}},
	};
	struct image *image = models_compile(models_model(arena, mixed, sizeof mixed / sizeof *mixed));

	/* all 3, a 1, a-b or a-c 1, a-one 2, exact 1, one host 1 */
	ok(image && image->hits_max == 9, "the most is counted along the worst path");
	free(image);
	is_u64(most_hits(arena, 5000, "/p%u", NULL), 1, "5,000 distinct paths: one at a time");
	is_u64(most_hits(arena, 5000, "/{x}/p%u/*", NULL), 1, "below a variable too");
	is_u64(most_hits(arena, 5000, "host=h%u", NULL), 1, "5,000 hosts: one at a time");
	is_u64(most_hits(arena, 5000, "host=h%u /login", NULL), 1, "on the same path: one host at a time");
	is_u64(most_hits(arena, 5000, "host=h%u /login", "/health"), 0, "but not if they meet elsewhere");
	is_u64(most_hits(arena, 1024, "header.k=v%u", NULL), 1024, "1,024 that nothing tells apart");
	is_u64(most_hits(arena, 1025, "header.k=v%u", NULL), 0, "one more is refused");
}

static uint64_t identity_of(struct arena *arena, const struct limit_spec *spec, const char *name_space,
			    uint32_t rate)
{
	struct model_mark mark;
	struct image *image = model_compile(models_model(arena, spec, 1), name_space, 0, &mark, NULL, 0);
	uint64_t identity = image ? image_counter_at(image, rate)->identity : 0;

	free(image);
	return identity;
}

static void test_identity(struct arena *arena)
{
	static const struct limit_spec base = {.name = "a", .rates = {5}};
	static const struct {
		struct limit_spec spec;
		const char *name_space, *what;
		bool same;
	} others[] = {
		{{.name = "a", .rates = {500}}, "policy", "other numbers", true},
		{{.name = "a", .rates = {0, 5}}, "policy", "another unit of its only rate", true},
		{{.name = "a", .rates = {5}, .clauses = {"/x"}}, "policy", "another match", true},
		{{.name = "a", .rates = {5}, .mode = IMAGE_DISABLED}, "policy", "another mode", true},
		{{.name = "b", .was = "a", .rates = {5}}, "policy", "a rename that says so", true},
		{{.name = "b", .rates = {5}}, "policy", "a rename that does not", false},
		{{.name = "a", .rates = {5}, .key = "site"}, "policy", "another key", false},
		{{.name = "a", .rates = {5, 6}}, "policy", "one of several rates", false},
		{{.name = "a", .rates = {5}}, "nginx:x", "another name space", false},
		{{.name = "ai", .rates = {5}, .key = "p"},
		 "policy",
		 "the border between name and key",
		 false},
	};
	uint64_t identity = identity_of(arena, &base, "policy", 0);
	static const struct limit_spec several = {.name = "a", .rates = {5, 6, 7}};
	struct image *image = models_compile(models_model(arena, &several, 1));

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ok((identity_of(arena, &others[i].spec, others[i].name_space, 0) == identity) ==
			   others[i].same,
		   others[i].what);
	is_u64(identity, UINT64_C(3559399072516295320),
	       "identities are the same in every build: tables outlive programs");
	if (!ok(image != NULL, "several rates"))
		return;
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const names[] = {"a/min", "a/hour", "a/day"};
		struct text name = image_text(image, image_counter_at(image, i)->name);
		char text[32];

		snprintf(text, sizeof text, "%.*s", (int)name.size, name.data);
		is_str(text, names[i], "are told apart by their unit");
		is_u64(image_counter_at(image, i)->capacity, 5 + i, "what passes at once");
		is_u64(image_counter_at(image, i)->limit, 0, "belong to their limit");
		is_u64(image_counter_at(image, i)->row, TABLE_ROW_NONE, "have no row yet");
	}
	is_u64(image_counter_at(image, 0)->window_ns / 1000, 60000000, "w of a bucket");
	is_u64(image_counter_at(image, 2)->window_ns, UINT64_C(86400000000000), "w of a window");
	free(image);
}

static void test_same_bytes(struct arena *arena)
{
	static const struct limit_spec specs[] = {
		{.name = "a",
		 .clauses = {"GET /a/{x}/* host=h", "ip=10.0.0.0/8 header.k=v !/b"},
		 .rates = {1, 2, 3}},
		{.name = "b", .exact = true, .clauses = {"/B/"}},
		{.name = "c"},
	};
	struct image *first = models_compile(models_model(arena, specs, 3));
	struct image *second;

	/* memory that is not zero must not show through */
	for (int i = 0; i < 64; i++)
		free(memset(malloc((size_t)512 << (i % 10)), 0xa5, (size_t)512 << (i % 10)));
	second = models_compile(models_model(arena, specs, 3));
	ok(first && second && first->size == second->size && memcmp(first, second, first->size) == 0,
	   "the same policy compiles to the same bytes");
	ok(first && image_checksum(first) == image_checksum(second), "and the same checksum");
	ok(first && first->responds.count == 1, "equal answers are kept once");
	free(first);
	free(second);
}

static const struct {
	const char *clauses[2], *networks, *request;
	int64_t until, wall;
	bool applies;
} exceptions[] = {
	{{NULL}, "10.0.0.0/8", "GET / ip=10.1.1.1", 0, 0, true},
	{{NULL}, "10.0.0.0/8", "GET / ip=11.1.1.1", 0, 0, false},
	{{NULL}, "10.0.0.0/8", "GET /", 0, 0, false},
	{{"GET /health"}, "", "HEAD /health", 0, 0, true},
	{{"GET /health"}, "", "POST /health", 0, 0, false},
	{{"GET /health", "/ping"}, "", "POST /ping", 0, 0, true},
	{{"GET /health"}, "10.0.0.0/8", "GET /health ip=10.1.1.1", 0, 0, true},
	{{"GET /health"}, "10.0.0.0/8", "GET /health ip=11.1.1.1", 0, 0, false},
	{{"GET /health"}, "10.0.0.0/8", "GET / ip=10.1.1.1", 0, 0, false},
	{{NULL}, "10.0.0.0/8", "GET / ip=10.1.1.1", 1000, 999, true},
	{{NULL}, "10.0.0.0/8", "GET / ip=10.1.1.1", 1000, 1000, false},
	{{NULL}, "10.0.0.0/8", "GET / ip=10.1.1.1", 1000, 1001, false},
};

static void test_exceptions(struct arena *arena)
{
	for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
		struct limit_spec spec = {.name = "a"};
		struct model *model = models_model(arena, &spec, 1);
		struct model_exception list[2] = {{.until = 1, .reason = TEXT("over")},
						  {.until = exceptions[i].until}};
		struct model_clause clauses[2];
		const struct image_exception *found;
		struct subject_store store;
		struct image *image;

		list[1].reason = TEXT("ours");
		list[1].clauses = clauses;
		while (list[1].clause_count < 2 && exceptions[i].clauses[list[1].clause_count]) {
			clauses[list[1].clause_count] = models_clause(
				arena, exceptions[i].clauses[list[1].clause_count]);
			list[1].clause_count++;
		}
		models_networks(arena, text_of(exceptions[i].networks), &list[1].networks,
				&list[1].network_count);
		model->exempt = list;
		model->exempt_count = 2;
		model->limits[0].exempt = model->deny = &list[1];
		model->limits[0].exempt_count = model->deny_count = 1;
		image = models_compile(model);
		if (!ok(image != NULL, "exceptions compile"))
			continue;
		subjects_read(&store, exceptions[i].request);
		found = image_exception(image, image->exempt, &store.subject, exceptions[i].wall + 10);
		is_u64(found != NULL, exceptions[i].applies && exceptions[i].until == 0, "ten seconds later");
		found = image_exception(image, image->exempt, &store.subject,
					exceptions[i].wall ? exceptions[i].wall : 1);
		is_u64(found != NULL, exceptions[i].applies, exceptions[i].request);
		if (found)
			ok(text_equal(image_text(image, found->reason), TEXT("ours")),
			   "the one that applies");
		found = image_exception(image, image_limit_at(image, 0)->exempt, &store.subject,
					exceptions[i].wall);
		is_u64(found != NULL, exceptions[i].applies, "the same inside a limit");
		free(image);
	}
}

int main(void)
{
	struct arena arena = {0};

	if (setjmp(arena.out_of_memory))
		return 1;
	test_refusals(&arena);
	test_most(&arena);
	test_identity(&arena);
	test_same_bytes(&arena);
	test_exceptions(&arena);
	arena_free(&arena);
	return done_testing();
}
