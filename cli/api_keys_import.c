/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_keys_import: weir keys import: keys from elsewhere, all of them or none.
 *
 * JSON: one key an object, in lines, in an array, or in the document that `weir keys export` writes. CSV: the same names in its
 * first line (cli/api_keys_csv.c). A key's secret stands there plainly (`secret`), or as hashes made by another database of
 * weir's, whose pepper comes with them; a key without one gets its secret by `weir keys rotate`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/api_keys.h"
#include "cli/api_keys_csv.h"
#include "control/keys_secret.h"
#include "policy/suggest.h"

#define FILE_MAX (UINT64_C(2) << 30)

struct import {
	struct api_keys *keys;
	uint64_t count, secrets;
};

static const char *const FIELDS[] = {
	"name",	   "owner", "tenant",  "plan",	 "plan_until", "plan_after", "billing_day", "expires",
	"created", "notes", "revoked", "reason", "secret",     "secrets",    "state",	    "last_used"};

static bool known(const char *field)
{
	struct suggest suggest = suggest_begin(text_of(field));
	for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++) {
		if (strcmp(FIELDS[i], field) == 0)
			return true;
		suggest_offer(&suggest, text_of(FIELDS[i]));
	}
	if (suggest.best.size)
		out_error("a key has no field '%s'; did you mean '%s'?", field, suggest.best.data);
	else
		out_error("a key has no field '%s'", field);
	return false;
}

/* A text that may be missing. */
static bool text(json_t *key, const char *name, char *out, size_t size)
{
	json_t *value = json_object_get(key, name);
	if (!value || json_is_null(value))
		return true;
	if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value))
		return api_keys_text(name, json_string_value(value), out, size);
	out_error("%s: not a text", name);
	return false;
}

/* A number of seconds, or a time as people say it. */
static bool when(struct import *import, json_t *key, const char *name, int64_t *out)
{
	json_t *value = json_object_get(key, name);
	if (!value || json_is_null(value))
		return true;
	if (json_is_string(value))
		return api_keys_when(name, json_string_value(value), import->keys->now, true, out);
	*out = json_integer_value(value);
	if (json_is_integer(value) && *out >= 0)
		return true;
	out_error("%s: no time", name);
	return false;
}

static bool day(json_t *key, int *out)
{
	json_t *value = json_object_get(key, "billing_day");
	char *end = NULL;
	long number = json_is_string(value) ? strtol(json_string_value(value), &end, 10)
					    : (long)json_integer_value(value);
	bool good = !value || json_is_null(value) || json_is_integer(value) || (end && !*end);
	*out = (int)number;
	if (!good || number < 0 || number > 31)
		out_error("billing_day: 1 to 31");
	return good && number >= 0 && number <= 31;
}

static bool fields(struct import *import, json_t *json, struct keys_key *key)
{
	const char *name;
	json_t *value;
	char after[RING_PLAN_MAX + 1] = "";
	json_object_foreach(json, name, value) if (!known(name)) return false;
	if (!text(json, "name", key->name, sizeof key->name) ||
	    !text(json, "owner", key->owner, sizeof key->owner) ||
	    !text(json, "tenant", key->tenant, sizeof key->tenant) ||
	    !text(json, "plan", key->plan, sizeof key->plan) ||
	    !text(json, "plan_after", after, sizeof after) ||
	    !text(json, "notes", key->notes, sizeof key->notes) ||
	    !text(json, "reason", key->reason, sizeof key->reason) || !day(json, &key->billing_day) ||
	    !when(import, json, "plan_until", &key->plan_until) ||
	    !when(import, json, "expires", &key->expires) || !when(import, json, "created", &key->created) ||
	    !when(import, json, "revoked", &key->revoked))
		return false;
	if (key->plan_until) {
		strcpy(key->plan_over, key->plan);
		strcpy(key->plan, after);
	}
	const char *wrong = keys_wrong(key);
	if (wrong)
		out_error("%s%s%s", key->name, key->name[0] ? ": " : "", wrong);
	return !wrong;
}

static bool hex(json_t *value, uint8_t *out, size_t size)
{
	const char *digits = json_string_value(value);
	if (!digits || strlen(digits) != 2 * size || strspn(digits, "0123456789abcdefABCDEF") != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++) {
		char byte[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
		out[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return true;
}

static bool put(struct import *import, int64_t id, const struct keys_secret *secret)
{
	struct api_keys *keys = import->keys;
	import->secrets++;
	if (keys_add_secret(keys->db, id, secret, &keys->trouble) == WEIR_OK)
		return true;
	api_keys_failed(keys);
	return false;
}

static bool plain(struct import *import, int64_t id, json_t *json)
{
	struct keys_secret secret = {.created = import->keys->now};
	struct text value = {json_string_value(json), json_string_length(json)};
	if (!json || json_is_null(json))
		return true;
	const char *wrong = json_is_string(json) ? keys_secret_wrong(value) : "a secret is a text";
	if (wrong) {
		out_error("secret: %s", wrong);
		return false;
	}
	keys_db_hash(import->keys->db, value, secret.hash);
	keys_secret_shown(value, secret.shown);
	return put(import, id, &secret);
}

/* Those without a hash, as export writes them without --hashes, say nothing. */
static bool hashed(struct import *import, int64_t id, json_t *array)
{
	json_t *one;
	size_t i;
	json_array_foreach(array, i, one)
	{
		struct keys_secret secret = {.created = import->keys->now};
		if (!json_object_get(one, "hash"))
			continue;
		if (!hex(json_object_get(one, "hash"), secret.hash, HMAC_SIZE)) {
			out_error("hash: not %u hexadecimal digits", 2 * HMAC_SIZE);
			return false;
		}
		if (!text(one, "begins", secret.shown, sizeof secret.shown) ||
		    !when(import, one, "created", &secret.created) ||
		    !when(import, one, "ends", &secret.ends) || !put(import, id, &secret))
			return false;
	}
	return true;
}

static bool one_key(struct import *import, json_t *json)
{
	struct api_keys *keys = import->keys;
	struct keys_key key = {.created = keys->now};
	if (!json_is_object(json)) {
		out_error("a key is an object");
		return false;
	}
	if (!fields(import, json, &key))
		return false;
	if (keys_add(keys->db, &key, &keys->trouble) != WEIR_OK) {
		api_keys_failed(keys);
		return false;
	}
	import->count++;
	api_keys_plan(keys, key.plan);
	api_keys_plan(keys, key.plan_over);
	return plain(import, key.id, json_object_get(json, "secret")) &&
	       hashed(import, key.id, json_object_get(json, "secrets"));
}

static bool pepper(struct import *import, json_t *json)
{
	uint8_t bytes[RING_PEPPER];
	struct api_keys *keys = import->keys;
	if (!json)
		return true;
	if (!hex(json, bytes, sizeof bytes)) {
		out_error("pepper: not %u hexadecimal digits", 2 * RING_PEPPER);
		return false;
	}
	if (keys_take_pepper(keys->db, bytes, &keys->trouble) == WEIR_OK)
		return true;
	api_keys_failed(keys);
	return false;
}

/* A key, several, or a document with several. */
static bool value_of(struct import *import, json_t *json)
{
	json_t *one, *list = json_is_array(json) ? json : json_object_get(json, "keys");
	size_t i;
	if (json_is_object(json) && !json_object_get(json, "name")) {
		if (!pepper(import, json_object_get(json, "pepper")))
			return false;
		if (!list && json_object_get(json, "pepper"))
			return true;
	}
	if (!list)
		return one_key(import, json);
	json_array_foreach(list, i, one) if (!one_key(import, one)) return false;
	return true;
}

static bool of_json(struct import *import, const char *path, const char *bytes, size_t size)
{
	size_t at = 0, line = 1;
	while (at < size) {
		if (strchr(" \t\r\n", bytes[at])) {
			line += bytes[at++] == '\n';
			continue;
		}
		json_error_t error;
		json_t *json = json_loadb(bytes + at, size - at,
					  JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
		if (!json) {
			out_error("%s:%zu: %s", path, line + (size_t)error.line - 1, error.text);
			return false;
		}
		bool good = value_of(import, json);
		json_decref(json);
		if (!good) {
			fprintf(stderr, "weir: at %s:%zu\n", path, line);
			return false;
		}
		for (size_t end = at + (size_t)error.position; at < end; at++)
			line += bytes[at] == '\n';
	}
	return true;
}

static bool csv_row(void *context, json_t *row)
{
	return one_key(context, row);
}

static int report(const struct import *import)
{
	char keys[32], secrets[32];
	if (out_as_json)
		out_document(json_pack("{s:I, s:I}", "keys", (json_int_t)import->count, "secrets",
				       (json_int_t)import->secrets));
	else
		printf("%s %s and %s %s imported\n", out_number(import->count, keys, sizeof keys),
		       import->count == 1 ? "key" : "keys",
		       out_number(import->secrets, secrets, sizeof secrets),
		       import->secrets == 1 ? "secret" : "secrets");
	return STATUS_FINE;
}

int api_keys_import(struct api_keys *keys)
{
	struct import import = {.keys = keys};
	size_t size, first = 0;
	char *bytes = api_keys_slurp(keys->word, FILE_MAX, &size);
	if (!bytes)
		return STATUS_SYSTEM;
	while (bytes[first] == ' ' || bytes[first] == '\n' || bytes[first] == '\r' || bytes[first] == '\t')
		first++;
	int status = api_keys_begin(keys, KEYS_CREATE);
	if (status == STATUS_FINE) {
		bool json = bytes[first] == '{' || bytes[first] == '[' || first == size;
		bool good = json ? of_json(&import, keys->word, bytes, size)
				 : api_keys_csv(keys->word, bytes, size, csv_row, &import);
		status = api_keys_end(keys, good ? STATUS_FINE : STATUS_FINDINGS);
		if (!good)
			fprintf(stderr, "weir: nothing was imported\n");
	}
	explicit_bzero(bytes, size);
	free(bytes);
	return status == STATUS_FINE ? report(&import) : status;
}
