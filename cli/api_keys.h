/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys: what the verbs of `weir keys` share. Each verb is handed the command line, read, and opens the database as it needs it. */
#ifndef WEIR_CLI_API_KEYS_H
#define WEIR_CLI_API_KEYS_H

#include <limits.h>

#include "cli/out.h"
#include "control/keys_store.h"
#include "policy/policy.h"

struct api_keys {
	const char *database, *policy; /* as said; NULL: not said */
	const char *owner, *plan, *until, *tenant, *billing_day, *expires, *notes, *prefix, *secret_file,
		*overlap, *reason;
	bool expired, revoked, csv, hashes;
	const char *word; /* the one behind the verb, or NULL */
	int64_t now;
	struct keys_db *db;
	struct keys_trouble trouble;
	struct policy plans; /* the policy at hand; without an image: there is none */
	json_t *odd;	     /* plans that it does not have, and that were told of */
};

/* The verbs: `weir keys NAME …`. Each returns the exit code. */
int api_keys_add(struct api_keys *keys);
int api_keys_list(struct api_keys *keys);
int api_keys_show(struct api_keys *keys);
int api_keys_set(struct api_keys *keys);
int api_keys_rotate(struct api_keys *keys);
int api_keys_revoke(struct api_keys *keys);
int api_keys_whose(struct api_keys *keys);
int api_keys_import(struct api_keys *keys);
int api_keys_export(struct api_keys *keys);

/* Opens the database that the options name, as the owner of its folder from here on; what belongs to the caller is read before.
 * api_keys_command closes it. STATUS_FINE, or said why not. */
int api_keys_open(struct api_keys *keys, enum keys_how how);
/* The same and begins a change; api_keys_end ends it: a `status` that is not STATUS_FINE undoes it. */
int api_keys_begin(struct api_keys *keys, enum keys_how how);
int api_keys_end(struct api_keys *keys, int status);
/* The key that keys->word names. */
int api_keys_find(struct api_keys *keys, struct keys_key *out);
/* The policy whose database this is, if it is at hand (./policy.yaml), for api_keys_plan. */
void api_keys_policy(struct api_keys *keys, const char *database);
/* Warns, once, of a plan that the policy at hand does not have: a key has it all the same, for the plan may come later. */
void api_keys_plan(struct api_keys *keys, const char *plan);
/* Says what stands in keys->trouble. */
int api_keys_failed(const struct api_keys *keys);

/* The options owner to expires, put into the key where they are said. False after saying what is wrong. */
bool api_keys_fields(const struct api_keys *keys, struct keys_key *key);
/* The rule for every text: false if `value` does not fit `size` bytes with its NUL. NULL changes nothing. */
bool api_keys_text(const char *what, const char *value, char *out, size_t size);
/* "never"; "90 s", "15min", "12h", "30d", "2w" from now on; "2026-12-31", "2026-12-31T18:00[:00][Z]" (UTC). */
bool api_keys_when(const char *what, const char *value, int64_t now, bool past_is_fine, int64_t *out);
/* A length of time, in the same units; seconds. */
bool api_keys_length(const char *what, const char *value, int64_t *out);
/* "2026-12-31 18:00:00 UTC"; 0: "never" */
const char *api_keys_time(int64_t when, char out[32]);
/* All of a file, "-": standard input, with a NUL behind; the caller frees it. NULL after saying why. */
char *api_keys_slurp(const char *path, size_t most, size_t *size);

/* A key as the documents have it; what ring says of its use if db is open. hashes: with them. */
json_t *api_keys_json(struct api_keys *keys, const struct keys_key *key, struct ring *ring, bool hashes);
/* "live", "expired", "revoked" */
const char *api_keys_state(const struct keys_key *key, int64_t now);
/* The ring, mended if need be, for when a key was last used; NULL: nobody knows. The caller closes it. */
struct ring *api_keys_ring(struct api_keys *keys);

#endif
