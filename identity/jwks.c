/* SPDX-License-Identifier: BSD-2-Clause */
/* jwks: what is in a set, and what of it is left out. */
#include "identity/jwks.h"

#include <stdlib.h>

static bool refuse(struct jwks *set, const char *reason, char *why, size_t size)
{
	jwks_clear(set);
	if (size)
		snprintf(why, size, "%s", reason);
	return false;
}

static bool take(struct jwks *set, const json_t *keys, char *why, size_t size)
{
	char reason[sizeof set->left_out_why];
	const json_t *key;
	size_t i;

	json_array_foreach(keys, i, key)
	{
		set->is_secret |= jwk_is_secret(key);
		switch (jwk_read(key, &set->keys[set->count], reason, sizeof reason)) {
		case JWK_TAKEN:
			set->count++;
			break;
		case JWK_LEFT_OUT:
			if (!set->left_out++)
				snprintf(set->left_out_why, sizeof set->left_out_why, "%s", reason);
			break;
		case JWK_NO_MEMORY:
			return refuse(set, "out of memory", why, size);
		}
	}
	return true;
}

static bool read_set(const json_t *root, struct jwks *out, char *why, size_t size)
{
	const json_t *keys = json_object_get(root, "keys");
	char reason[96];

	if (!json_is_array(keys))
		return refuse(out, "it is not a set of keys: {\"keys\": [ ... ]}", why, size);
	if (json_array_size(keys) > JWKS_KEYS_MAX)
		return refuse(out, "it has more than 256 keys", why, size);
	out->keys = calloc(json_array_size(keys) + 1, sizeof *out->keys);
	if (!out->keys)
		return refuse(out, "out of memory", why, size);
	if (!take(out, keys, why, size))
		return false;
	if (out->count)
		return true;
	snprintf(reason, sizeof reason, "no key in it can be used%s%s", out->left_out ? ": " : "",
		 out->left_out_why);
	return refuse(out, reason, why, size);
}

bool jwks_parse(struct text bytes, struct jwks *out, char *why, size_t size)
{
	json_error_t error;
	json_t *root;
	bool good;

	memset(out, 0, sizeof *out);
	if (bytes.size > JWKS_BYTES_MAX)
		return refuse(out, "it is larger than 1 MiB", why, size);
	root = json_loadb(bytes.data ? bytes.data : "", bytes.size, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		if (size)
			snprintf(why, size, "line %d is not JSON: %s", error.line, error.text);
		return false;
	}
	good = read_set(root, out, why, size);
	json_decref(root);
	return good;
}

bool jwks_of_secret(struct text bytes, struct jwks *out, char *why, size_t size)
{
	memset(out, 0, sizeof *out);
	if (bytes.size && bytes.data[bytes.size - 1] == '\n')
		bytes.size--;
	if (bytes.size < JWK_SECRET_MIN)
		return refuse(out, "the secret is shorter than 32 bytes", why, size);
	out->keys = calloc(1, sizeof *out->keys);
	if (!out->keys || !jwk_secret(bytes, out->keys))
		return refuse(out, "out of memory", why, size);
	out->count = 1;
	out->is_secret = true;
	return true;
}

void jwks_clear(struct jwks *set)
{
	for (size_t i = 0; i < set->count; i++)
		jwk_clear(&set->keys[i]);
	free(set->keys);
	memset(set, 0, sizeof *set);
}
