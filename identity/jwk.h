/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jwk: one key (RFC 7517), for one algorithm.
 *
 * RSA of 2048 to 8192 bits (RS256), EC P-256 (ES256), OKP Ed25519 (EdDSA), oct of 32 bytes or more (HS256). The kind of a key says
 * what it is used for, never the token.
 */
#ifndef WEIR_IDENTITY_JWK_H
#define WEIR_IDENTITY_JWK_H

#include <jansson.h>
#include <openssl/types.h>
#include <stdint.h>

#include "policy/text.h"

#define JWK_SECRET_MIN 32u /* bytes of HS256's secret: RFC 7518 3.2 */

struct jwk {
	uint32_t algorithm; /* one of IMAGE_JWT_* */
	EVP_PKEY *key;	    /* of HS256: NULL */
	unsigned char *secret;
	size_t secret_size;
	char *kid; /* NULL: it has none, and fits every token's */
	size_t kid_size;
};

enum jwk_read {
	JWK_TAKEN,
	JWK_LEFT_OUT, /* not for verifying, of a kind that is not known, too weak or damaged: `why` */
	JWK_NO_MEMORY,
};
/* Honours use, key_ops and alg. The key is the caller's: jwk_clear. */
enum jwk_read jwk_read(const json_t *object, struct jwk *out, char *why, size_t size);
/* HS256's secret, at least JWK_SECRET_MIN bytes; copied. False: out of memory. */
bool jwk_secret(struct text bytes, struct jwk *out);
/* Does it hold what must be kept secret: oct, or a private key? */
bool jwk_is_secret(const json_t *object);
void jwk_clear(struct jwk *key); /* of a zeroed one too */

/* "RS256" and so on; "EdDSA" and RFC 9864's "Ed25519" are one. 0: none that we know. */
uint32_t jwk_algorithm(struct text name);

#endif
