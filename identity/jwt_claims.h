/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jwt_claims: what a token says, kept for as long as someone asks.
 *
 * One piece of memory: every member of every object of the payload, outer ones first, with the text of its value. Only payloads whose
 * signature is right come here.
 */
#ifndef WEIR_IDENTITY_JWT_CLAIMS_H
#define WEIR_IDENTITY_JWT_CLAIMS_H

#include "identity/jwt.h"

#define JWT_NEVER INT64_MAX

struct jwt_claim {
	uint32_t parent; /* the object that it stands in: its place in claims[] + 1; 0: the payload itself */
	uint32_t name, name_size, value,
		value_size; /* in bytes from the beginning; size 0: no value to count by */
};
struct jwt_claims {
	uint32_t references, count;
	size_t bytes; /* all of it */
	int64_t expires,
		not_before; /* s; no exp: JWT_NEVER; no nbf: INT64_MIN. A fraction is rounded up, which is exact */
	struct jwt_claim claims[];
};

/* VALID, MALFORMED, ISSUER, AUDIENCE, NO_MEMORY. *out with one reference for VALID, else NULL. Time is not looked at. */
enum jwt_result jwt_claims_read(const struct jwt_rules *rules, struct text payload, struct jwt_claims **out);
/* VALID, EXPIRED, NOT_YET, with the rules' leeway. */
enum jwt_result jwt_claims_now(const struct jwt_rules *rules, int64_t expires, int64_t not_before,
			       int64_t wall_s);

#endif
