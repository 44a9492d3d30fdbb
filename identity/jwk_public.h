/* SPDX-License-Identifier: BSD-2-Clause */
/* jwk_public: a public key from its numbers (RFC 7518 6, RFC 8037 2), in base64url. NULL: `*reason` says why it is not used. The
 * caller's: EVP_PKEY_free. */
#ifndef WEIR_IDENTITY_JWK_PUBLIC_H
#define WEIR_IDENTITY_JWK_PUBLIC_H

#include <openssl/types.h>

#include "policy/text.h"

/* 2048 to 8192 bits; an exponent that is odd, 3 or more, of at most 64 bits: beyond, verifying costs more than it should. */
EVP_PKEY *jwk_public_rsa(struct text n, struct text e, const char **reason);
EVP_PKEY *jwk_public_p256(struct text x, struct text y, const char **reason); /* a point of the curve */
EVP_PKEY *jwk_public_ed25519(struct text x, const char **reason);

#endif
