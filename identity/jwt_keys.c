/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt_keys: a file that is damaged, or that everybody may read though there are secrets in it, leaves the keys as they were. */
#include "identity/jwt_keys.h"

#include <stdio.h>

static bool read_set(struct jwt_keys *keys, struct jwks *set, char *why, size_t size)
{
	struct text bytes;
	bool good;

	if (!key_file_read(&keys->file, &bytes, why, size))
		return false;
	good = keys->is_secret ? jwks_of_secret(bytes, set, why, size) : jwks_parse(bytes, set, why, size);
	key_file_free(&bytes);
	if (!good || !set->is_secret || !key_file_is_open(&keys->file))
		return good;
	jwks_clear(set);
	snprintf(why, size, "it holds a secret and everybody may read it (chmod o-r)");
	return false;
}

bool jwt_keys_load(struct jwt_keys *keys, char *why, size_t size)
{
	const char *path = keys->file.path;
	char reason[192] = "", left_out[128] = "";
	struct jwks set = {0};

	if (!read_set(keys, &set, reason, sizeof reason)) {
		snprintf(why, size, "%s: %s; %s", path, reason,
			 keys->set.count ? "the keys read before stay"
					 : "tokens that need it are not believed");
		return false;
	}
	if (set.left_out)
		snprintf(left_out, sizeof left_out, ", %zu left out: %s", set.left_out, set.left_out_why);
	snprintf(why, size, "%s: %zu key%s%s", path, set.count, set.count == 1 ? "" : "s", left_out);
	jwks_clear(&keys->set);
	keys->set = set;
	return true;
}
