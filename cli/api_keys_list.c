/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys_list: weir keys list, show, whose: keys as people and programs read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/api_keys.h"

const char *api_keys_state(const struct keys_key *key, int64_t now)
{
	return key->revoked ? "revoked" : key->expires && now >= key->expires ? "expired" : "live";
}

static json_t *text_json(const char *text)
{
	return *text ? out_own(text_of(text)) : json_null();
}

static json_t *time_json(int64_t when)
{
	return when ? json_integer(when) : json_null();
}

struct secrets {
	json_t *array;
	bool hashes;
};

static bool add_secret(void *context, const struct keys_secret *secret)
{
	struct secrets *secrets = context;
	char hex[2 * HMAC_SIZE + 1];
	json_t *object = json_pack("{s:o, s:o, s:o}", "begins", out_own(text_of(secret->shown)), "created",
				   time_json(secret->created), "ends", time_json(secret->ends));
	for (size_t i = 0; secrets->hashes && i < HMAC_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", secret->hash[i]);
	if (secrets->hashes)
		json_object_set_new(object, "hash", json_string(hex));
	json_array_append_new(secrets->array, object);
	return true;
}

json_t *api_keys_json(struct api_keys *keys, const struct keys_key *key, struct ring *ring, bool hashes)
{
	struct secrets secrets = {json_array(), hashes};
	bool over = key->plan_until && keys->now < key->plan_until;
	json_t *object = json_pack(
		"{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
		out_own(text_of(key->name)), "state", api_keys_state(key, keys->now), "owner",
		text_json(key->owner), "tenant", text_json(key->tenant), "plan",
		text_json(keys_plan(key, keys->now)), "plan_until", time_json(over ? key->plan_until : 0),
		"plan_after", over ? text_json(key->plan) : json_null(), "billing_day",
		key->billing_day ? json_integer(key->billing_day) : json_null(), "expires",
		time_json(key->expires), "created", time_json(key->created), "notes", text_json(key->notes));
	if (ring)
		json_object_set_new(object, "last_used", time_json(ring_last_used(ring, (uint64_t)key->id)));
	json_object_set_new(object, "revoked", time_json(key->revoked));
	json_object_set_new(object, "reason", text_json(key->reason));
	keys_each_secret(keys->db, key->id, add_secret, &secrets, &keys->trouble);
	json_object_set_new(object, "secrets", secrets.array);
	return object;
}

struct list {
	struct api_keys *keys;
	struct ring *ring;
	json_t *array;
	uint64_t count;
};

/* With --expired or --revoked those; else everything. */
static bool wanted(const struct api_keys *keys, const struct keys_key *key)
{
	const char *state = api_keys_state(key, keys->now);
	return (!keys->plan || strcmp(keys_plan(key, keys->now), keys->plan) == 0) &&
	       (!keys->owner || strcmp(key->owner, keys->owner) == 0) &&
	       (!keys->tenant || strcmp(key->tenant, keys->tenant) == 0) &&
	       ((!keys->expired && !keys->revoked) || (keys->expired && strcmp(state, "expired") == 0) ||
		(keys->revoked && strcmp(state, "revoked") == 0));
}

static bool list_one(void *context, const struct keys_key *key)
{
	struct list *list = context;
	struct api_keys *keys = list->keys;
	char owner[RING_OWNER_MAX * 4 + 4], plan[RING_PLAN_MAX * 4 + 4], used[32] = "-", until[32] = "";
	if (!wanted(keys, key))
		return true;
	list->count++;
	if (out_as_json) {
		json_array_append_new(list->array, api_keys_json(keys, key, list->ring, false));
		return true;
	}
	if (list->count == 1)
		printf("%-24s %-8s %-12s %-20s %-24s %s\n", "NAME", "STATE", "PLAN", "OWNER", "LAST USED",
		       "EXPIRES");
	int64_t last = list->ring ? ring_last_used(list->ring, (uint64_t)key->id) : 0;
	if (last)
		out_when(last, keys->now, used, sizeof used);
	if (key->expires)
		api_keys_time(key->expires, until);
	out_escape(text_of(key->owner), owner, sizeof owner);
	out_escape(text_of(keys_plan(key, keys->now)), plan, sizeof plan);
	printf("%-24s %-8s %-12s %-20s %-24s %s\n", key->name, api_keys_state(key, keys->now),
	       *plan ? plan : "-", *owner ? owner : "-", used, *until ? until : "-");
	return true;
}

int api_keys_list(struct api_keys *keys)
{
	struct list list = {.keys = keys, .array = NULL};
	char number[32];
	int status = api_keys_open(keys, KEYS_READ);
	if (status != STATUS_FINE)
		return status;
	list.ring = api_keys_ring(keys);
	list.array = json_array();
	if (keys_each(keys->db, list_one, &list, &keys->trouble) != WEIR_OK) {
		json_decref(list.array);
		status = api_keys_failed(keys);
	} else if (out_as_json) {
		out_document(json_pack("{s:o, s:I, s:o}", "database",
				       out_own(text_of(keys_db_path(keys->db))), "count",
				       (json_int_t)list.count, "keys", list.array));
	} else {
		json_decref(list.array);
		printf("%s %s in %s\n", out_number(list.count, number, sizeof number),
		       list.count == 1 ? "key" : "keys", keys_db_path(keys->db));
	}
	ring_close(&list.ring);
	return status;
}

static void line(const char *what, const char *text)
{
	char escaped[4 * KEYS_NOTES_MAX + 4];
	if (!*text)
		return;
	out_escape(text_of(text), escaped, sizeof escaped);
	printf("  %-12s %s\n", what, escaped);
}

static bool print_secret(void *context, const struct keys_secret *secret)
{
	const struct api_keys *keys = context;
	char created[32], ends[32];
	printf("  secret       %s…, since %s%s%s\n", secret->shown, api_keys_time(secret->created, created),
	       !secret->ends		   ? ""
	       : keys->now >= secret->ends ? ", ended "
					   : ", until ",
	       secret->ends ? api_keys_time(secret->ends, ends) : "");
	return true;
}

static int print(struct api_keys *keys, const struct keys_key *key, struct ring *ring)
{
	char text[256], when[32];
	printf("%s: %s\n", key->name, api_keys_state(key, keys->now));
	line("owner", key->owner);
	line("tenant", key->tenant);
	line("plan", keys_plan(key, keys->now));
	if (key->plan_until && keys->now < key->plan_until) {
		snprintf(text, sizeof text, "%s, then %s", api_keys_time(key->plan_until, when),
			 key->plan[0] ? key->plan : "none");
		line("until", text);
	}
	snprintf(text, sizeof text, "%d", key->billing_day);
	line("billing day", key->billing_day ? text : "");
	line("created", api_keys_time(key->created, when));
	line("expires", api_keys_time(key->expires, when));
	if (ring)
		line("last used", api_keys_time(ring_last_used(ring, (uint64_t)key->id), when));
	line("revoked", key->revoked ? api_keys_time(key->revoked, when) : "");
	line("reason", key->reason);
	line("notes", key->notes);
	if (keys_each_secret(keys->db, key->id, print_secret, keys, &keys->trouble) != WEIR_OK)
		return api_keys_failed(keys);
	return STATUS_FINE;
}

static int show(struct api_keys *keys, const struct keys_key *key)
{
	struct ring *ring = api_keys_ring(keys);
	int status = STATUS_FINE;
	if (out_as_json)
		out_document(api_keys_json(keys, key, ring, false));
	else
		status = print(keys, key, ring);
	ring_close(&ring);
	return status;
}

int api_keys_show(struct api_keys *keys)
{
	struct keys_key key;
	int status = api_keys_open(keys, KEYS_READ);
	if (status == STATUS_FINE)
		status = api_keys_find(keys, &key);
	return status == STATUS_FINE ? show(keys, &key) : status;
}

int api_keys_whose(struct api_keys *keys)
{
	struct keys_key key;
	uint8_t hash[HMAC_SIZE];
	size_t size;
	char *secret = api_keys_slurp(keys->secret_file ? keys->secret_file : "-", RING_SECRET_MAX + 2,
				      &size);
	if (!secret)
		return STATUS_SYSTEM;
	while (size && (secret[size - 1] == '\n' || secret[size - 1] == '\r'))
		secret[--size] = '\0';
	int status = api_keys_open(keys, KEYS_READ);
	if (status == STATUS_FINE) {
		keys_db_hash(keys->db, (struct text){secret, size}, hash);
		if (keys_with_hash(keys->db, hash, &key, &keys->trouble) != WEIR_OK)
			status = api_keys_failed(keys);
		if (status != STATUS_FINE && keys->trouble.error == WEIR_NOT_FOUND)
			status = STATUS_FINDINGS;
	}
	explicit_bzero(secret, size);
	free(secret);
	return status == STATUS_FINE ? show(keys, &key) : status;
}
