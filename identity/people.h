/* SPDX-License-Identifier: BSD-2-Clause */
/* people: what a door needs to know clients by: the ring of API keys and the verifier of tokens that a policy names. One for each
 * image in use, and thread. */
#ifndef WEIR_IDENTITY_PEOPLE_H
#define WEIR_IDENTITY_PEOPLE_H

#include "identity/jwt.h"
#include "identity/ring.h"
#include "policy/image.h"

#define PEOPLE_AUDIENCES_MAX 16u /* in a policy */

struct people {
	const struct image *image;
	struct ring *ring; /* NULL: there is none, or it cannot be read: keys are unknown then */
	struct jwt *jwt;   /* NULL: no tokens */
	uint64_t retry_at; /* table time */
	bool wrong;	   /* what people_refresh told last is trouble, and no news */
	char trouble[256]; /* why there is no ring although the policy asks for one; "" */
	struct jwt_rules rules;
	struct text audiences[PEOPLE_AUDIENCES_MAX];
	char database[512], jwks[512], secret[512];
};

/* The image must outlive it. False: out of memory. What cannot be opened now is tried again by people_refresh. */
bool people_open(struct people *people, const struct image *image);
void people_close(struct people *people); /* of a zeroed one too */
/* Opens what was replaced or came to be; cheap, once for each request. True: `why` has something for the log. */
bool people_refresh(struct people *people, uint64_t now, char *why, size_t size);

#endif
