/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jwt: tokens (RFC 7519), verified before anything in them is believed.
 *
 * Only the algorithms that the policy names; a key is used only for the algorithm of its kind (an RSA key never for HS256), `none`
 * never. What is too large or not exactly a compact JWS of JSON objects is malformed. A token without exp never expires.
 *
 * Files: others must not be able to write them, nor to read one with a secret or a private key in it.
 */
#ifndef WEIR_IDENTITY_JWT_H
#define WEIR_IDENTITY_JWT_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

#define JWT_TOKEN_MAX 8192u /* bytes of a token */
#define JWT_TRIES_MAX 8u    /* keys that one token is tried with: those of its kind and kid */

struct jwt_rules {		 /* what it points at lives as long as the verifier */
	uint32_t algorithms;	 /* IMAGE_JWT_* */
	const char *jwks_file;	 /* NULL: none */
	const char *secret_file; /* HS256: its bytes, 32 or more, one trailing newline cut off; NULL: none */
	struct text issuer;	 /* exact; size 0: any */
	const struct text *audiences; /* aud must hold one of them */
	size_t audience_count;	      /* 0: any */
	uint32_t leeway_s;
};

/* name, sentence for explain and logs */
#define JWT_RESULTS(X)                                                                                       \
	X(VALID, "verified")                                                                                 \
	X(MALFORMED, "not a token")                                                                          \
	X(TOO_LARGE, "longer than 8,192 bytes, or its header than 2,048")                                    \
	X(EXTENSION, "it needs an extension (crit) that is not known here")                                  \
	X(ALGORITHM, "its algorithm is not one that the policy names")                                       \
	X(NO_KEY, "there is no key of its kind and kid")                                                     \
	X(SIGNATURE, "its signature is wrong")                                                               \
	X(EXPIRED, "it has expired")                                                                         \
	X(NOT_YET, "it is not valid yet")                                                                    \
	X(ISSUER, "another issuer")                                                                          \
	X(AUDIENCE, "for another audience")                                                                  \
	X(NO_MEMORY, "out of memory")
enum jwt_result {
#define X(name, sentence) JWT_##name,
	JWT_RESULTS(X)
#undef X
};
const char *jwt_result_sentence(enum jwt_result result);

struct jwt;	   /* a verifier: keys, and a cache of what was verified; one thread's */
struct jwt_claims; /* of one verified token; counted */

/* NULL: out of memory. Files that cannot be read leave it without their keys; jwt_refresh tries again and says so. */
struct jwt *jwt_new(const struct jwt_rules *rules);
void jwt_free(struct jwt **jwt); /* NULL-safe */
/* Looks once a second of `now` (ns) whether a file has changed, and loads it: whole, or not at all (the old keys stay). True: there is
 * something to be told, in `why`: what was loaded, or why not. Once for each change. */
bool jwt_refresh(struct jwt *jwt, uint64_t now, char *why, size_t size);
/* Was what jwt_refresh told last that a file could not be loaded? */
bool jwt_trouble(const struct jwt *jwt);
/* Verifies a token as sent (without the scheme). wall_s judges exp and nbf, also of cached ones. *claims: one reference, VALID
 * only; else NULL. A token that was verified lately costs a hash and a compare. */
enum jwt_result jwt_verify(struct jwt *jwt, struct text token, int64_t wall_s, struct jwt_claims **claims);
/* Signatures that were looked at since it was made, not remembered: for tests and figures. */
uint64_t jwt_checks(const struct jwt *jwt);
void jwt_drop(struct jwt_claims **claims); /* NULL-safe */
/* A claim's value: strings as they are, numbers and booleans as JSON writes them; false: not there, or an object, array, null, or
 * empty. "a.b" is b in the object a, if there is no claim "a.b". Lives as long as `claims`. */
bool jwt_claim(const struct jwt_claims *claims, struct text name, struct text *value);

#endif
