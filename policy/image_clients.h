/* SPDX-License-Identifier: BSD-2-Clause */
/* image_clients: what an image says about who the clients are: clients.*, and which of its plans holds for whom. */
#ifndef WEIR_POLICY_IMAGE_CLIENTS_H
#define WEIR_POLICY_IMAGE_CLIENTS_H

#include "algo/algo.h"
#include "policy/span.h"

#define IMAGE_AUDIENCES_MAX 16u
#define IMAGE_PLAN_NONE	    UINT32_MAX /* in place of an index into image.plans */

/* Where a credential or a plan is said. HEADER: name, lower case. BEARER: Authorization, scheme Bearer in any case. COOKIE and
 * QUERY: name. KEY: the record of the API key; CLAIM: name, of a verified token. */
enum image_said {
	IMAGE_SAID_HEADER,
	IMAGE_SAID_BEARER,
	IMAGE_SAID_COOKIE,
	IMAGE_SAID_QUERY,
	IMAGE_SAID_KEY,
	IMAGE_SAID_CLAIM
};
struct image_where {
	uint32_t said; /* enum image_said */
	uint32_t pad;
	struct image_text name;
};
enum image_unknown { IMAGE_UNKNOWN_IP, IMAGE_UNKNOWN_DENY }; /* as if there were none; refused with 401 */
#define IMAGE_JWT_RS256 1u
#define IMAGE_JWT_ES256 2u
#define IMAGE_JWT_EDDSA 4u
#define IMAGE_JWT_HS256 8u
struct image_clients {
	struct image_text
		keys_database; /* absolute path; empty: no API keys. The doors read <path>.ring (identity/ring.h) */
	struct image_span keys_from;	   /* struct image_where, in order; the first that is there counts */
	uint32_t keys_unknown;		   /* enum image_unknown: also expired and revoked ones */
	uint32_t jwt_algorithms;	   /* IMAGE_JWT_*; 0: no tokens */
	struct image_text jwks_file;	   /* absolute path; empty: none (HS256 with a secret) */
	struct image_text jwt_secret_file; /* absolute path: HS256's secret; empty: none */
	struct image_text jwt_issuer;	   /* exact; empty: any */
	struct image_span jwt_audiences;   /* struct image_text: one of them must be in aud; empty: any */
	struct image_span jwt_from;	   /* struct image_where; never KEY or CLAIM */
	uint32_t jwt_leeway_s;		   /* of exp and nbf, 0..3600 */
	uint32_t jwt_invalid;		   /* enum image_unknown: what a token that is not believed means */
	struct image_span session;	   /* struct image_where: one cookie or header; empty: none */
	struct image_span
		user_from; /* struct image_where: one HEADER, from trusted peers only; empty: none */
	struct image_span plan_from; /* struct image_where, in order; HEADER: from trusted peers only */
	uint32_t plan_unknown;	     /* plan of who is identified and has none that exists; IMAGE_PLAN_NONE */
	uint32_t plan_none;	     /* plan of who is not identified; IMAGE_PLAN_NONE */
	uint32_t privacy_hash;	     /* 1: nobody's name is kept or shown, only digests */
	uint32_t pad;
	struct image_text
		own_limits;	     /* normalised path at which a client reads its own limits; empty: none */
	uint64_t ban_identity;	     /* of the operator's own bans (flow/ban.h) */
	uint64_t grant_identity;     /* of what the operator has granted on top (flow/grant.h) */
	uint32_t ban_row, grant_row; /* their ledger rows; patched at publication */
	struct algo_numbers ban_numbers, grant_numbers;
};

#endif
