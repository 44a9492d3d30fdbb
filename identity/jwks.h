/* SPDX-License-Identifier: BSD-2-Clause */
/* jwks: a set of keys (RFC 7517 5), from the bytes of a file. */
#ifndef WEIR_IDENTITY_JWKS_H
#define WEIR_IDENTITY_JWKS_H

#include "identity/jwk.h"

#define JWKS_BYTES_MAX (1u << 20)
#define JWKS_KEYS_MAX  256u

struct jwks {
	struct jwk *keys;
	size_t count, left_out;
	bool is_secret;	       /* it holds what others must not read */
	char left_out_why[64]; /* of the first one; "" */
};

/* Keys that cannot be used are left out, as the RFC wants it. False: it is no such set at all, has more than JWKS_KEYS_MAX keys or
 * none that can be used: `why` (a sentence without the file's name), and *out is empty. The set is the caller's: jwks_clear. */
bool jwks_parse(struct text bytes, struct jwks *out, char *why, size_t size);
/* A set of one: HS256's secret. One newline at its end is cut off. False: `why`. */
bool jwks_of_secret(struct text bytes, struct jwks *out, char *why, size_t size);
void jwks_clear(struct jwks *set); /* of a zeroed one too */

#endif
