/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_who: parts of a key that say who the client is (api-key=acme, user=ann, session=…, jwt.sub=…, body.name=…), put where the
 * flow looks for them: a request cannot be made up that says so, but what it would have come to can. */
#ifndef WEIR_CLI_KEYS_WHO_H
#define WEIR_CLI_KEYS_WHO_H

#include "cli/keys.h"
#include "identity/ring.h"

/* Puts the value there. False: it is too long, or cannot be one. Not for other kinds. */
bool keys_who_part(struct keys *keys, const struct image *image, const struct image_key_part *part,
		   struct text value);
/* When all parts are there: who that is, and by which plan: --plan (live->plan), the API key's, or what the policy says. False
 * after saying why. */
bool keys_who_is(struct keys *keys, const struct live *live);
/* The API key of that name as the doors know it. False: it is not there, or the ring cannot be read. */
bool keys_who_named(const struct image *image, struct text name, int64_t wall_s, struct ring_key *out);
/* Does the policy let an API key say its plan? */
bool keys_who_plan_by_key(const struct image *image);
/* Index of a plan; IMAGE_PLAN_NONE. */
uint32_t keys_who_plan(const struct image *image, struct text name);

#endif
