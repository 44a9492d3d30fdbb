/* SPDX-License-Identifier: BSD-2-Clause */
/* What is remembered of tokens: one check each, also of bad ones; nothing beyond their time, nothing under other keys, and never more
 * than there is room for. Checks of signatures are counted. */
#include "identity/jwt_cache.h"
#include "tests/identity/jwt_maker.h"
#include "tests/tap.h"

#define SECOND UINT64_C(1000000000)

static char path[64];
static struct maker_key key, other;

static char *numbered(const struct maker_key *by, unsigned number, const char *more)
{
	char payload[128];

	snprintf(payload, sizeof payload, "{\"sub\":\"%u\"%s}", number, more);
	return maker_token(by, "{\"alg\":\"HS256\"}", payload);
}

/* The result, and how many signatures were looked at for it. */
static void try(struct jwt *jwt, const char *token, int64_t wall_s, enum jwt_result result, unsigned checks,
		const char *what)
{
	uint64_t before = jwt_checks(jwt);

	is_str(jwt_result_sentence(maker_verify(jwt, token, wall_s)), jwt_result_sentence(result), what);
	is_u64(jwt_checks(jwt) - before, checks, checks ? "  looked at its signature" : "  remembered");
}

static void test_time(struct jwt *jwt)
{
	char *token = numbered(&key, 1, ",\"nbf\":100,\"exp\":200");

	try(jwt, token, 150, JWT_VALID, 1, "a token");
	try(jwt, token, 199, JWT_VALID, 0, "in its last second");
	try(jwt, token, 200, JWT_EXPIRED, 0, "it expires while it is remembered");
	try(jwt, token, 201, JWT_EXPIRED, 0, "it stays so");
	try(jwt, token, 199, JWT_VALID, 1, "the clock is put back: looked at anew");
	try(jwt, token, 99, JWT_NOT_YET, 0, "put back further: not valid yet");
	try(jwt, token, 100, JWT_VALID, 0, "and then it is");
	free(token);
	token = numbered(&key, 2, ",\"exp\":100");
	try(jwt, token, 150, JWT_EXPIRED, 1, "one that is too old at first sight");
	try(jwt, token, 150, JWT_EXPIRED, 0, "again");
	free(token);
}

static void test_bad(struct jwt *jwt)
{
	char *token = numbered(&other, 3, ""), *good = numbered(&key, 3, "");

	try(jwt, token, 0, JWT_SIGNATURE, 1, "a bad signature");
	for (int i = 0; i < 1000; i++)
		maker_verify(jwt, token, 0);
	try(jwt, token, 0, JWT_SIGNATURE, 0, "a thousand times later");
	try(jwt, good, 0, JWT_VALID, 1, "the good one is another token");
	free(token);
	token = numbered(&key, 4, ",\"aud\":\"x\",\"aud\":\"y\"");
	try(jwt, token, 0, JWT_MALFORMED, 1, "signed, but not a token");
	try(jwt, token, 0, JWT_MALFORMED, 0, "again");
	free(token);
	for (unsigned i = 0; i < 5000; i++) {
		token = numbered(&other, i, "");
		maker_verify(jwt, token, 0);
		free(token);
	}
	try(jwt, good, 0, JWT_VALID, 0, "5,000 invented tokens forget no good one");
	free(good);
}

/* Those that are asked for stay; of many the most are forgotten. */
static void test_bound(struct jwt *jwt)
{
	char *kept = numbered(&key, 0, ",\"kept\":1"), *token;
	uint64_t before;
	unsigned known = 0;

	maker_verify(jwt, kept, 0);
	for (unsigned i = 0; i < 4000; i++) {
		token = numbered(&key, i, ",\"many\":1");
		maker_verify(jwt, token, 0);
		free(token);
		maker_verify(jwt, kept, 0);
	}
	try(jwt, kept, 0, JWT_VALID, 0, "one that is asked for stays among 4,000 others");
	for (unsigned i = 4000; i-- > 0;) {
		before = jwt_checks(jwt);
		token = numbered(&key, i, ",\"many\":1");
		maker_verify(jwt, token, 0);
		free(token);
		known += jwt_checks(jwt) == before;
	}
	note("%u of 4,000 were remembered", known);
	ok(known > 0 && known <= 1024, "at most 1,024 are remembered");
	free(kept);
}

static void test_keys(struct jwt *jwt)
{
	char *token = numbered(&key, 7, ""), *new = numbered(&other, 7, ""), why[256];

	try(jwt, token, 0, JWT_VALID, 1, "under the old secret");
	try(jwt, new, 0, JWT_SIGNATURE, 1, "under one that is not known yet");
	maker_write(path, other.secret, 0600, true);
	try(jwt, token, 0, JWT_VALID, 0, "the file is another, nobody has looked");
	ok(jwt_refresh(jwt, 100 * SECOND, why, sizeof why), "looked");
	try(jwt, token, 0, JWT_SIGNATURE, 1, "what was believed under the old secret is no more");
	try(jwt, new, 0, JWT_VALID, 1, "what was not believed is");
	free(token);
	free(new);
}

/* Bytes, not only entries: claims and tokens of 8 KB each do not add up to more than is allowed. */
static void test_bytes(void)
{
	struct jwt_cache cache;
	static char token[8192];
	uint64_t most = 0;

	ok(jwt_cache_init(&cache, 1024), "a cache of 8,192 entries");
	for (uint64_t i = 0; i < 3000; i++) {
		memcpy(token, &i, sizeof i);
		jwt_cache_put(&cache, i, (struct text){token, sizeof token}, JWT_SIGNATURE, 0, NULL);
		most = cache.bytes > most ? cache.bytes : most;
	}
	is_u64(most, JWT_CACHE_BYTES, "is full at 1,024 tokens of 8,192 bytes");
	ok(jwt_cache_find(&cache, 2999, (struct text){token, sizeof token}) != NULL, "the last one is there");
	ok(!jwt_cache_find(&cache, 2999, (struct text){token, sizeof token - 1}), "a part of it is not");
	token[8000] ^= 1;
	ok(!jwt_cache_find(&cache, 2999, (struct text){token, sizeof token}),
	   "another of the same hash is not it");
	jwt_cache_clear(&cache);
	is_u64(cache.bytes, 0, "forgotten");
	jwt_cache_close(&cache);
}

int main(void)
{
	char folder[] = "/tmp/weir-test-XXXXXX", why[256];
	struct jwt_rules rules = {.algorithms = IMAGE_JWT_HS256, .secret_file = path};
	struct jwt *jwt;

	key = maker_secret(MAKER_SECRET);
	other = maker_secret("another secret of at least 32 by");
	maker_must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/secret", folder);
	maker_write(path, MAKER_SECRET, 0600, false);
	jwt = jwt_new(&rules);
	ok(jwt_refresh(jwt, 0, why, sizeof why) && strstr(why, "/secret: 1 key"), "loaded");
	test_time(jwt);
	test_bad(jwt);
	test_bound(jwt);
	test_keys(jwt);
	test_bytes();
	jwt_free(&jwt);
	unlink(path);
	rmdir(folder);
	return done_testing();
}
