/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jws: a compact token (RFC 7515 7.1) taken apart, and its signature.
 *
 * Nothing of the payload is looked at here. Of the header only alg and kid are used; keys that a token brings along (jwk, jku, x5c,
 * x5u) are not.
 */
#ifndef WEIR_IDENTITY_JWS_H
#define WEIR_IDENTITY_JWS_H

#include "identity/jwk.h"
#include "identity/jwt.h"

#define JWS_HEADER_MAX 2048u /* bytes of a header, decoded */
#define JWS_DEPTH_MAX  16u   /* of objects and arrays in each other */
#define JWS_KID_MAX    256u  /* bytes; a longer one is no key's */

struct jws {
	struct text signed_part;	/* of the token: what the signature is of */
	struct text payload, signature; /* decoded; in `bytes` */
	uint32_t algorithm;		/* one of IMAGE_JWT_*; 0: none, or none that we know */
	bool has_kid;
	size_t kid_size;
	char kid[JWS_KID_MAX];
	char bytes[JWT_TOKEN_MAX];
};

/* VALID (it has the shape), MALFORMED, TOO_LARGE, EXTENSION. `token` must outlive `out`. */
enum jwt_result jws_split(struct text token, struct jws *out);
/* Could this key have signed it: the kind, and the kid if both have one? */
bool jws_fits(const struct jws *jws, const struct jwk *key);
/* Did it? The key must fit. */
bool jws_signed_by(const struct jws *jws, const struct jwk *key);
/* Is JSON text nested less deep than JWS_DEPTH_MAX? Before a parser that recurses. */
bool jws_is_shallow(struct text json);

#endif
