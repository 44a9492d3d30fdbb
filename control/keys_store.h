/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_store: keys and their secrets in the database. What changes something stands between keys_change_begin and
 * keys_change_end (control/keys_db.h); what reads can stand anywhere. */
#ifndef WEIR_CONTROL_KEYS_STORE_H
#define WEIR_CONTROL_KEYS_STORE_H

#include "control/keys_db.h"

struct keys_key {
	int64_t id;
	char name[RING_NAME_MAX + 1], owner[RING_OWNER_MAX + 1], tenant[RING_TENANT_MAX + 1],
		plan[RING_PLAN_MAX + 1];
	char plan_over[RING_PLAN_MAX + 1]; /* in place of `plan` until plan_until */
	int64_t plan_until, expires, created, revoked;
	int billing_day; /* 1..31, 0: none */
	char notes[KEYS_NOTES_MAX + 1], reason[KEYS_REASON_MAX + 1];
};

struct keys_secret {
	uint8_t hash[HMAC_SIZE];
	char shown[KEYS_SHOWN_MAX + 1]; /* how it begins */
	int64_t created, ends;
};

/* Is every text what it may be? NULL, or what is wrong, as "the owner is longer than 128 bytes". Names: letters, digits and
 * . _ - @ + : / of ASCII, the first a letter or digit. The others: UTF-8 without control characters. */
const char *keys_wrong(const struct keys_key *key);

/* The plan that holds at that time: the one until plan_until, or the lasting one. */
const char *keys_plan(const struct keys_key *key, int64_t now);

/* WEIR_NOT_FOUND: no key of that name, with the nearest one in the sentence. */
enum weir_error keys_named(struct keys_db *db, struct text name, struct keys_key *out,
			   struct keys_trouble *trouble);
/* Whose secret has this hash? */
enum weir_error keys_with_hash(struct keys_db *db, const uint8_t hash[HMAC_SIZE], struct keys_key *out,
			       struct keys_trouble *trouble);

/* Every key, by name. False from `tell` ends it (not an error). */
enum weir_error keys_each(struct keys_db *db, bool (*tell)(void *context, const struct keys_key *key),
			  void *context, struct keys_trouble *trouble);
/* The key's secrets, oldest first. */
enum weir_error keys_each_secret(struct keys_db *db, int64_t id,
				 bool (*tell)(void *context, const struct keys_secret *secret), void *context,
				 struct keys_trouble *trouble);

/* Sets key->id. WEIR_EXISTS: the name was given before, be it to a key that is revoked. */
enum weir_error keys_add(struct keys_db *db, struct keys_key *key, struct keys_trouble *trouble);
/* WEIR_EXISTS: that secret is somebody's already. */
enum weir_error keys_add_secret(struct keys_db *db, int64_t id, const struct keys_secret *secret,
				struct keys_trouble *trouble);
/* Everything but id, name and created. */
enum weir_error keys_update(struct keys_db *db, const struct keys_key *key, struct keys_trouble *trouble);
/* What the key has of secrets ends then, or when it would have ended before. */
enum weir_error keys_end_secrets(struct keys_db *db, int64_t id, int64_t ends, struct keys_trouble *trouble);
/* The pepper of another database, so that its hashes are ours. WEIR_EXISTS: there are secrets under the old one. */
enum weir_error keys_take_pepper(struct keys_db *db, const uint8_t pepper[RING_PEPPER],
				 struct keys_trouble *trouble);

#endif
