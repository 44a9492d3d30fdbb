/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_who: who somebody is, from what an operator calls them. */
#include "cli/keys_who.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "identity/jwt_claims.h"

static bool into(struct text value, char *to, size_t room, uint8_t *size)
{
	if (value.size > room)
		return false;
	memcpy(to, value.data, value.size);
	*size = (uint8_t)value.size;
	return true;
}

static bool api_key_part(struct flow_who *who, struct text name, struct text value)
{
	struct ring_key *key = &who->key;

	who->key_said = FLOW_CREDENTIAL_GOOD;
	if (name.size == 0)
		return into(value, key->name, RING_NAME_MAX, &key->name_size);
	if (text_equal(name, TEXT("owner")))
		return into(value, key->owner, RING_OWNER_MAX, &key->owner_size);
	if (text_equal(name, TEXT("tenant")))
		return into(value, key->tenant, RING_TENANT_MAX, &key->tenant_size);
	return into(value, key->plan, RING_PLAN_MAX, &key->plan_size);
}

static bool session_part(struct keys *keys, const struct image *image, struct text value)
{
	const struct image_where *where = image_at(image, image->clients.session.offset);

	if (!image->clients.session.count)
		return false;
	return where->said == IMAGE_SAID_COOKIE
		       ? keys_cookie(keys, image_text(image, where->name), value)
		       : request_add_header(&keys->request, image_text(image, where->name), value);
}

/* Appends "name=value" with all but letters and digits escaped: a form. */
static bool body_part(struct keys *keys, struct text name, struct text value)
{
	size_t used = strlen(keys->body);
	const struct text parts[] = {name, value};

	for (size_t k = 0; k < 2; k++) {
		if (used + 4 > sizeof keys->body)
			return false;
		if (k || used)
			keys->body[used++] = k ? '=' : '&';
		for (size_t i = 0; i < parts[k].size; i++) {
			if (used + 4 > sizeof keys->body)
				return false;
			used += (size_t)snprintf(keys->body + used, 4, "%%%02x",
						 (unsigned char)parts[k].data[i]);
		}
	}
	keys->body[used] = '\0';
	return true;
}

static bool claim_part(struct keys *keys, struct text name, struct text value)
{
	char *key = strndup(name.data, name.size);
	json_t *text = json_stringn(value.data, value.size);

	if (!keys->claims)
		keys->claims = json_object();
	bool good = key && text && json_object_set(keys->claims, key, text) == 0;
	json_decref(text);
	free(key);
	return good;
}

bool keys_who_part(struct keys *keys, const struct image *image, const struct image_key_part *part,
		   struct text value)
{
	struct text name = image_text(image, part->name);

	switch ((enum image_key_kind)part->kind) {
	case IMAGE_KEY_API_KEY:
		return api_key_part(&keys->who, name, value);
	case IMAGE_KEY_USER:
		keys->who.user = value;
		return true;
	case IMAGE_KEY_JWT:
		return claim_part(keys, name, value);
	case IMAGE_KEY_SESSION:
		return session_part(keys, image, value);
	case IMAGE_KEY_BODY:
		return body_part(keys, name, value);
	default:
		return false;
	}
}

bool keys_who_named(const struct image *image, struct text name, int64_t wall_s, struct ring_key *out)
{
	char *database = strndup(image_text(image, image->clients.keys_database).data,
				 image->clients.keys_database.size);
	struct ring *ring = NULL;
	char why[256];
	bool found = false;

	if (database && *database && ring_open(database, &ring, why, sizeof why) == WEIR_OK) {
		enum ring_found how = ring_named(ring, name, wall_s, out);
		found = how == RING_KNOWN || how == RING_EXPIRED;
	}
	ring_close(&ring);
	free(database);
	return found;
}

uint32_t keys_who_plan(const struct image *image, struct text name)
{
	const struct image_plan *plans = image_at(image, image->plans.offset);

	for (uint32_t i = 0; i < image->plans.count; i++)
		if (text_equal(image_text(image, plans[i].name), name))
			return i;
	return IMAGE_PLAN_NONE;
}

bool keys_who_plan_by_key(const struct image *image)
{
	const struct image_where *from = image_at(image, image->clients.plan_from.offset);

	for (uint32_t i = 0; i < image->clients.plan_from.count; i++)
		if (from[i].said == IMAGE_SAID_KEY)
			return true;
	return false;
}

static bool choose_plan(struct flow_who *who, const struct live *live)
{
	const struct image *image = live->image;

	who->plan = IMAGE_PLAN_NONE;
	if (live->plan) {
		who->plan = keys_who_plan(image, text_of(live->plan));
		if (who->plan == IMAGE_PLAN_NONE)
			out_error("no plan '%s' in the policy in force", live->plan);
		return who->plan != IMAGE_PLAN_NONE;
	}
	if (who->key_said == FLOW_CREDENTIAL_GOOD && keys_who_plan_by_key(image))
		who->plan = keys_who_plan(image, (struct text){who->key.plan, who->key.plan_size});
	if (who->plan == IMAGE_PLAN_NONE)
		who->plan = who->identified ? image->clients.plan_unknown : image->clients.plan_none;
	return true;
}

bool keys_who_is(struct keys *keys, const struct live *live)
{
	struct flow_who *who = &keys->who;
	struct text name = {who->key.name, who->key.name_size};
	struct ring_key known;

	if (name.size && keys_who_named(live->image, name, live_wall(live), &known)) {
		struct ring_key said = who->key;
		who->key = known;
		/* what was said stands */
		if (said.owner_size)
			api_key_part(who, TEXT("owner"), (struct text){said.owner, said.owner_size});
	}
	if (name.size == 0 && live->key && who->key_said == FLOW_CREDENTIAL_NONE) {
		who->key = *live->key;
		who->key_said = FLOW_CREDENTIAL_GOOD;
	}
	if (who->user.size == 0 && who->key_said == FLOW_CREDENTIAL_GOOD)
		who->user = (struct text){who->key.owner, who->key.owner_size};
	if (keys->claims) {
		char *payload = json_dumps(keys->claims, JSON_COMPACT);
		static const struct jwt_rules any;
		if (payload && jwt_claims_read(&any, text_of(payload), &who->claims) == JWT_VALID)
			who->token_said = FLOW_CREDENTIAL_GOOD;
		free(payload);
	}
	who->identified = who->key_said == FLOW_CREDENTIAL_GOOD || who->token_said == FLOW_CREDENTIAL_GOOD ||
			  who->user.size;
	if (keys->body[0]) {
		keys->request.flow.body = text_of(keys->body);
		keys->request.flow.has_body = keys->request.flow.body_whole = true;
		if (!request_add_header(&keys->request, TEXT("content-type"),
					TEXT("application/x-www-form-urlencoded")))
			return false;
	}
	return choose_plan(who, live);
}
