/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt: the verifier. First what was found out before; else the token's shape, its algorithm, a key, the signature, and only then
 * what it says. */
#include "identity/jwt.h"

#include <stdlib.h>
#include <sys/random.h>

#include "identity/jws.h"
#include "identity/jwt_cache.h"
#include "identity/jwt_keys.h"
#include "table/siphash.h"

#define SECOND	     UINT64_C(1000000000)
#define SECRET_MAX   4096u
#define GOOD_SETS    128u /* 1,024 tokens that are believed */
#define BAD_SETS     32u  /* 256 that are not: apart, so that inventing bad ones forgets no good one */
#define SENTENCE_MAX 384u

enum { SET, SECRET, FILES };
struct jwt {
	struct jwt_rules rules;
	struct jwt_keys keys[FILES];
	char untold[FILES][SENTENCE_MAX]; /* what is still to be said of each file */
	bool failed[FILES];		  /* that is that it could not be loaded */
	bool told_failure;		  /* of what was told last */
	uint64_t look_at;		  /* ns: not before */
	struct siphash_key key;
	struct jwt_cache good, bad;
	uint64_t checks;
	struct jws jws; /* of the token that is looked at: large for a stack */
};

const char *jwt_result_sentence(enum jwt_result result)
{
	static const char *const sentences[] = {
#define X(name, sentence) [JWT_##name] = sentence,
		JWT_RESULTS(X)
#undef X
	};

	return (unsigned)result < sizeof sentences / sizeof *sentences ? sentences[result] : "";
}

/* Under other keys nothing that was found out holds any more. */
static void load(struct jwt *jwt, unsigned which)
{
	jwt->failed[which] = !jwt_keys_load(&jwt->keys[which], jwt->untold[which], sizeof jwt->untold[which]);
	if (jwt->failed[which])
		return;
	jwt_cache_clear(&jwt->good);
	jwt_cache_clear(&jwt->bad);
}

struct jwt *jwt_new(const struct jwt_rules *rules)
{
	struct jwt *jwt = calloc(1, sizeof *jwt);

	if (!jwt)
		return NULL;
	jwt->rules = *rules;
	jwt->keys[SET].file = (struct key_file){.path = rules->jwks_file, .max = JWKS_BYTES_MAX};
	jwt->keys[SECRET].file = (struct key_file){.path = rules->secret_file, .max = SECRET_MAX};
	jwt->keys[SECRET].is_secret = true;
	if (!jwt_cache_init(&jwt->good, GOOD_SETS) || !jwt_cache_init(&jwt->bad, BAD_SETS) ||
	    getrandom(&jwt->key, sizeof jwt->key, 0) != sizeof jwt->key) {
		jwt_free(&jwt);
		return NULL;
	}
	for (unsigned i = 0; i < FILES; i++)
		if (jwt->keys[i].file.path)
			load(jwt, i);
	return jwt;
}

void jwt_free(struct jwt **jwt)
{
	if (!*jwt)
		return;
	for (unsigned i = 0; i < FILES; i++)
		jwks_clear(&(*jwt)->keys[i].set);
	jwt_cache_close(&(*jwt)->good);
	jwt_cache_close(&(*jwt)->bad);
	free(*jwt);
	*jwt = NULL;
}

bool jwt_refresh(struct jwt *jwt, uint64_t now, char *why, size_t size)
{
	bool look = now >= jwt->look_at;

	if (look)
		jwt->look_at = now + SECOND;
	for (unsigned i = 0; i < FILES; i++) {
		if (look && jwt->keys[i].file.path && key_file_changed(&jwt->keys[i].file))
			load(jwt, i);
		look |= jwt->untold[i][0] != 0;
	}
	for (unsigned i = 0; look && i < FILES; i++) {
		if (!jwt->untold[i][0])
			continue;
		if (size)
			snprintf(why, size, "%s", jwt->untold[i]);
		jwt->untold[i][0] = 0;
		jwt->told_failure = jwt->failed[i];
		return true;
	}
	return false;
}

bool jwt_trouble(const struct jwt *jwt)
{
	return jwt->told_failure;
}

uint64_t jwt_checks(const struct jwt *jwt)
{
	return jwt->checks;
}

/* VALID, NO_KEY, SIGNATURE */
static enum jwt_result check_signature(struct jwt *jwt)
{
	unsigned tries = 0;

	for (unsigned i = 0; i < FILES; i++) {
		const struct jwks *set = &jwt->keys[i].set;

		for (size_t k = 0; k < set->count && tries < JWT_TRIES_MAX; k++) {
			if (!jws_fits(&jwt->jws, &set->keys[k]))
				continue;
			tries++;
			jwt->checks++;
			if (jws_signed_by(&jwt->jws, &set->keys[k]))
				return JWT_VALID;
		}
	}
	return tries ? JWT_SIGNATURE : JWT_NO_KEY;
}

/* Remembers whatever cost a signature to find out. One reference to *claims for the caller. */
static enum jwt_result find_out(struct jwt *jwt, uint64_t hash, struct text token, int64_t wall_s,
				struct jwt_claims **claims)
{
	enum jwt_result result = jws_split(token, &jwt->jws);

	if (result)
		return result;
	if (!(jwt->jws.algorithm & jwt->rules.algorithms))
		return JWT_ALGORITHM;
	result = check_signature(jwt);
	if (result == JWT_NO_KEY)
		return result;
	if (!result)
		result = jwt_claims_read(&jwt->rules, jwt->jws.payload, claims);
	if (result == JWT_NO_MEMORY)
		return result;
	if (result) {
		jwt_cache_put(&jwt->bad, hash, token, result, 0, NULL);
		return result;
	}
	result = jwt_claims_now(&jwt->rules, (*claims)->expires, (*claims)->not_before, wall_s);
	if (result == JWT_EXPIRED)
		jwt_cache_put(&jwt->bad, hash, token, result, (*claims)->expires, NULL);
	else
		jwt_cache_put(&jwt->good, hash, token, JWT_VALID, 0, *claims);
	return result;
}

/* False: nothing is known of it any more. */
static bool look_up(struct jwt *jwt, uint64_t hash, struct text token, int64_t wall_s,
		    struct jwt_claims **claims, enum jwt_result *result)
{
	struct jwt_cached *entry = jwt_cache_find(&jwt->good, hash, token);
	int64_t expires;

	if (entry) {
		expires = entry->claims->expires;
		*result = jwt_claims_now(&jwt->rules, expires, entry->claims->not_before, wall_s);
		if (*result == JWT_EXPIRED) {
			jwt_cache_drop(&jwt->good, entry);
			jwt_cache_put(&jwt->bad, hash, token, JWT_EXPIRED, expires, NULL);
		} else if (*result == JWT_VALID) {
			*claims = entry->claims;
			(*claims)->references++;
		}
		return true;
	}
	entry = jwt_cache_find(&jwt->bad, hash, token);
	if (!entry)
		return false;
	*result = entry->result;
	if (*result != JWT_EXPIRED || jwt_claims_now(&jwt->rules, entry->expires, INT64_MIN, wall_s))
		return true;
	jwt_cache_drop(&jwt->bad, entry); /* the clock was put back */
	return false;
}

enum jwt_result jwt_verify(struct jwt *jwt, struct text token, int64_t wall_s, struct jwt_claims **claims)
{
	enum jwt_result result;
	uint64_t hash;

	*claims = NULL;
	if (!token.size)
		return JWT_MALFORMED;
	if (token.size > JWT_TOKEN_MAX)
		return JWT_TOO_LARGE;
	hash = siphash_1_3(&jwt->key, token.data, token.size).lo;
	if (!look_up(jwt, hash, token, wall_s, claims, &result))
		result = find_out(jwt, hash, token, wall_s, claims);
	if (result)
		jwt_drop(claims);
	return result;
}
