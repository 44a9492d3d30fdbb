/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jwt_cache: what was found out about tokens seen lately.
 *
 * Bounded in entries and bytes; sets of eight, in which the one that was not asked for the longest goes. Found by a SipHash under a
 * random secret, so that nobody can aim at a set, and by comparing every byte.
 */
#ifndef WEIR_IDENTITY_JWT_CACHE_H
#define WEIR_IDENTITY_JWT_CACHE_H

#include "identity/jwt_claims.h"

#define JWT_CACHE_WAYS	8u
#define JWT_CACHE_BYTES (UINT64_C(8) << 20) /* of tokens and claims in one cache */

struct jwt_cached {
	char *token; /* NULL: nothing */
	size_t size;
	uint64_t used;		/* when it was asked for: a count */
	enum jwt_result result; /* VALID: `claims`; EXPIRED: since `expires`; else: whatever the time */
	int64_t expires;
	struct jwt_claims *claims;
};
struct jwt_cache {
	struct jwt_cache_set *sets;
	uint64_t mask;	/* sets - 1 */
	uint64_t count; /* of questions */
	uint64_t bytes, hand;
};

/* `sets`: a power of two. False: out of memory. */
bool jwt_cache_init(struct jwt_cache *cache, size_t sets);
void jwt_cache_clear(struct jwt_cache *cache); /* forgets all */
void jwt_cache_close(struct jwt_cache *cache); /* of a zeroed one too */
/* NULL: not there. Lives until the next put, drop or clear. */
struct jwt_cached *jwt_cache_find(struct jwt_cache *cache, uint64_t hash, struct text token);
/* One that is not there yet. Takes a reference of its own to `claims` (NULL: none). Without memory it is forgotten. */
void jwt_cache_put(struct jwt_cache *cache, uint64_t hash, struct text token, enum jwt_result result,
		   int64_t expires, struct jwt_claims *claims);
void jwt_cache_drop(struct jwt_cache *cache, struct jwt_cached *entry);

#endif
