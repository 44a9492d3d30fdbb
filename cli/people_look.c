/* SPDX-License-Identifier: BSD-2-Clause */
/* people_look: a door lets nobody in by a broken file and says so in its log; whoever edits the policy hears it here. */
#include "cli/people_look.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "identity/jwt_keys.h"
#include "policy/place.h"

#define SECRET_BYTES_MAX 4096u /* as identity/jwt.c */

static const char *string_of(const struct image *image, struct image_text text, char out[PLACE_MAX])
{
	struct text from = image_text(image, text);
	snprintf(out, PLACE_MAX, "%.*s", (int)from.size, from.data);
	return *out ? out : NULL;
}

void people_look_keys(const struct image *image, people_look_say *say, void *context)
{
	char path[PLACE_MAX], ring[PLACE_MAX + 8], why[PLACE_MAX + 96];
	if (!string_of(image, image->clients.keys_database, path))
		return;
	snprintf(ring, sizeof ring, "%s.ring", path);
	if (access(path, F_OK) == 0 || access(ring, F_OK) == 0)
		return;
	snprintf(why, sizeof why, "there is no database of API keys at %s: every key is unknown", path);
	say(context, why, "weir keys add NAME makes it");
}

/* The algorithms that its keys are for; 0: it could not be read, which was said. */
static uint32_t look_at(const char *path, bool is_secret, bool told_if_open, people_look_say *say,
			void *context)
{
	struct jwt_keys keys = {.file = {.path = path, .max = is_secret ? SECRET_BYTES_MAX : JWKS_BYTES_MAX},
				.is_secret = is_secret};
	char why[PLACE_MAX + 512];
	uint32_t algorithms = 0;
	if (!jwt_keys_load(&keys, why, sizeof why) && !(told_if_open && strstr(why, "everybody may read it")))
		say(context, why,
		    is_secret ? "put the secret there, 32 bytes or more, readable by nginx's workers' user "
				"alone (chown, chmod 600)"
			      : "put a set of keys there, as the one who makes the tokens publishes it");
	for (size_t i = 0; i < keys.set.count; i++)
		algorithms |= keys.set.keys[i].algorithm;
	jwks_clear(&keys.set);
	return algorithms;
}

void people_look_tokens(const struct image *image, bool told_if_open, people_look_say *say, void *context)
{
	static const char *const NAMES[] = {"RS256", "ES256", "EdDSA", "HS256"};
	const struct image_clients *clients = &image->clients;
	char paths[2][PLACE_MAX], why[256];
	const char *files[] = {string_of(image, clients->jwks_file, paths[0]),
			       string_of(image, clients->jwt_secret_file, paths[1])};
	uint32_t there = 0;
	bool all = true;
	for (size_t i = 0; clients->jwt_algorithms && i < 2; i++) {
		uint32_t found = files[i] && access(files[i], R_OK) == 0
					 ? look_at(files[i], i == 1, told_if_open, say, context)
					 : 0;
		all = all && (found || !files[i]);
		there |= found;
	}
	if (!all) /* what is missing may be there */
		return;
	for (uint32_t i = 0; i < 4; i++) {
		if (!((clients->jwt_algorithms & ~there) >> i & 1))
			continue;
		snprintf(why, sizeof why,
			 "there is no key for %s, which clients.jwt names: no token signed so is believed",
			 NAMES[i]);
		say(context, why,
		    i == 3 ? "HS256 needs its secret: secret_file, or a key of kind oct in the set; public "
			     "keys are for RS256, ES256 and EdDSA"
			   : "take the algorithm out, or put such a key into the set");
	}
}
