/* SPDX-License-Identifier: BSD-2-Clause */
/* match, by chance: random policies and requests in a small world; the index must find exactly what trying
 * every clause of every limit in file order finds, never more than hits_max, and a second reading of path
 * patterns agrees. */
#include "tests/policy/subjects.h"
#include "tests/tap.h"

#define LIMITS 24

static uint64_t state = 20240229;

static unsigned pick(unsigned of)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 20) % of;
}

static void random_pattern(char *out, size_t size)
{
	static const char *const segments[] = {"a", "b", "A", "bb", "*", "{x}"};
	unsigned count = pick(4);
	size_t used = 0;

	for (unsigned i = 0; i < count; i++)
		used += (size_t)snprintf(out + used, size - used, "/%s", segments[pick(6)]);
	if (used > 0 && out[used - 1] == '*')
		used -= 2; /* a star at the end is another thing: below */
	used += (size_t)snprintf(out + used, size - used, "%s", pick(3) ? "" : pick(2) ? "/*" : "/**");
	if (used == 0 || (pick(8) == 0 && out[used - 1] != '*'))
		snprintf(out + used, size - used, "/");
}

static void random_clause(char *out, size_t size)
{
	static const char *const methods[] = {"GET", "POST", "HEAD,POST", "DELETE"};
	static const char *const hosts[] = {"a.x", "b.x", "*.x", "*.a.x", "c"};
	static const char *const others[] = {"header.k=*",  "header.k=v", "ip=10.0.0.0/9",
					     "!header.k=*", "!POST",	  "!/a/*"};
	size_t used = 0;

	if (pick(3) == 0)
		used += (size_t)snprintf(out + used, size - used, " %s", methods[pick(4)]);
	if (pick(5)) {
		out[used++] = ' ';
		random_pattern(out + used, size - used);
		used += strlen(out + used);
	}
	if (pick(3) == 0)
		used += (size_t)snprintf(out + used, size - used, " host=%s", hosts[pick(5)]);
	while (pick(4) == 0)
		used += (size_t)snprintf(out + used, size - used, " %s", others[pick(6)]);
	if (used == 0)
		snprintf(out, size, " POST");
	memmove(out, out + 1, strlen(out));
}

static void random_request(char *out, size_t size)
{
	static const char *const methods[] = {"GET", "POST", "HEAD", "DELETE", "BREW"};
	static const char *const segments[] = {"a", "b", "A", "bb", "c"};
	static const char *const hosts[] = {"", " host=a.x", " host=b.x", " host=q.a.x", " host=c"};
	static const char *const others[] = {"", " header.k=v", " header.k=w", " header.k="};
	static const char *const clients[] = {"", " ip=10.1.1.1", " ip=10.200.1.1"};
	size_t used = (size_t)snprintf(out, size, "%s ", methods[pick(5)]);
	unsigned count = pick(5);

	for (unsigned i = 0; i < count; i++)
		used += (size_t)snprintf(out + used, size - used, "/%s", segments[pick(5)]);
	if (count == 0 || pick(4) == 0)
		used += (size_t)snprintf(out + used, size - used, "/");
	snprintf(out + used, size - used, "%s%s%s", hosts[pick(5)], others[pick(4)], clients[pick(3)]);
}

/* The pattern as text against the path as text: no segments, no decoding, the definition read literally. */
static bool pattern_matches(const char *pattern, const char *path, bool fold)
{
	while (*pattern == '/' || *path == '/') {
		bool one = pattern[1] == '{' || (pattern[1] == '*' && pattern[2] == '/');

		if (strcmp(pattern, "/*") == 0 || strcmp(pattern, "/**") == 0)
			return true;
		if (*pattern != *path)
			return false;
		pattern++, path++;
		if (one) {
			if (*path == '/' || *path == 0)
				return false;
			pattern += strcspn(pattern, "/");
			path += strcspn(path, "/");
			continue;
		}
		for (; *pattern && *pattern != '/'; pattern++, path++)
			if (fold ? text_lower(*pattern) != text_lower(*path) : *pattern != *path)
				return false;
		if (*path && *path != '/')
			return false;
	}
	return true;
}

static bool path_expected(struct text pattern, struct text path, bool exact)
{
	char a[64], b[64];

	snprintf(a, sizeof a, "%.*s", (int)pattern.size, pattern.data);
	snprintf(b, sizeof b, "%.*s", (int)path.size, path.data);
	for (size_t i = 0; i < 2;
	     i++) { /* "/" is no segment; without exact a trailing slash is none either */
		char *text = i ? b : a;
		size_t size = strlen(text);

		if (size > 0 && text[size - 1] == '/' && (size == 1 || !exact))
			text[size - 1] = 0;
	}
	return pattern_matches(a, b, !exact);
}

static size_t scan(const struct image *image, const struct image_subject *subject, struct image_hit *out)
{
	size_t count = 0;

	for (uint32_t i = 0; i < image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		uint32_t first = (limit->clauses.offset - image->clauses.offset) /
				 (uint32_t)sizeof(struct image_clause);

		if (limit->mode == IMAGE_DISABLED)
			continue;
		if (limit->clauses.count == 0)
			out[count++] = (struct image_hit){i, UINT32_MAX};
		for (uint32_t k = first; k < first + limit->clauses.count; k++)
			if (image_clause_holds(image, image_clause_at(image, k), subject)) {
				out[count++] = (struct image_hit){i, k};
				break;
			}
	}
	return count;
}

static struct image *random_policy(struct arena *arena)
{
	static char texts[LIMITS][4][160], names[LIMITS][16];
	struct limit_spec specs[LIMITS];
	unsigned count = pick(LIMITS + 1);

	memset(specs, 0, sizeof specs);
	for (unsigned i = 0; i < count; i++) {
		unsigned clauses = pick(4);

		snprintf(names[i], sizeof names[i], "l%u", i);
		specs[i].name = names[i];
		specs[i].exact = pick(4) == 0;
		specs[i].mode = pick(10) ? IMAGE_ENFORCE : IMAGE_DISABLED;
		for (unsigned k = 0; k < clauses; k++) {
			random_clause(texts[i][k], sizeof texts[i][k]);
			specs[i].clauses[k] = texts[i][k];
		}
	}
	return models_compile(models_model(arena, specs, count));
}

static void test_policies(struct arena *arena)
{
	uint64_t differ = 0, beyond = 0, found = 0, refused = 0;

	for (unsigned round = 0; round < 3000; round++) {
		struct image *image = random_policy(arena);

		refused += image == NULL;
		for (unsigned r = 0; r < 60 && image; r++) {
			struct subject_store store;
			struct image_hit got[LIMITS], expect[LIMITS];
			char request[160];
			size_t hits, wanted;

			random_request(request, sizeof request);
			subjects_read(&store, request);
			hits = image_match(image, &store.subject, got, LIMITS);
			wanted = scan(image, &store.subject, expect);
			found += wanted;
			beyond += hits > image->hits_max;
			if (hits != wanted || memcmp(got, expect, hits * sizeof *got) != 0) {
				if (differ++ < 5)
					note("differs on '%s'", request);
			}
		}
		free(image);
		arena_free(arena);
	}
	is_u64(refused, 0, "every random policy compiles");
	is_u64(differ, 0, "180,000 requests meet what a scan of all clauses finds");
	is_u64(beyond, 0, "never more than hits_max");
	ok(found > 100000, "and enough of them meet something");
}

static void test_patterns(struct arena *arena)
{
	uint64_t misread = 0, held = 0;

	for (unsigned round = 0; round < 100000; round++) {
		char pattern[64], request[160];
		struct limit_spec spec = {.name = "l", .clauses = {pattern}, .exact = round % 2};
		struct subject_store store;
		struct image_hit hit;
		struct image *image;
		bool expect;

		random_pattern(pattern, sizeof pattern);
		random_request(request, sizeof request);
		subjects_read(&store, request);
		image = models_compile(models_model(arena, &spec, 1));
		expect = path_expected(text_of(pattern), store.subject.path_exact, spec.exact);
		held += expect;
		if (!image || (image_match(image, &store.subject, &hit, 1) == 1) != expect) {
			if (misread++ < 5)
				note("'%s'%s on '%s'", pattern, spec.exact ? " exactly" : "", request);
		}
		free(image);
		arena_free(arena);
	}
	is_u64(misread, 0, "100,000 patterns mean what a literal reading of them means");
	ok(held > 10000, "and enough of them match");
}

int main(void)
{
	struct arena arena = {0};

	if (setjmp(arena.out_of_memory))
		return 1;
	test_policies(&arena);
	test_patterns(&arena);
	return done_testing();
}
