/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys_export: weir keys export: every key, for another machine or a spreadsheet. Never a secret; with --hashes their hashes
 * and the pepper that made them, which together say whether a guessed secret is one: the file is private then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/api_keys.h"
#include "cli/api_keys_csv.h"

struct export
{
	struct api_keys *keys;
	struct ring *ring;
	json_t *array; /* with --json */
};

static json_t *pepper(const struct export *export)
{
	char hex[2 * RING_PEPPER + 1];
	for (size_t i = 0; i < RING_PEPPER; i++)
		snprintf(hex + 2 * i, 3, "%02x", keys_db_pepper(export->keys->db)[i]);
	return json_string(hex);
}

static bool as_json(void *context, const struct keys_key *key)
{
	struct export *export = context;
	json_t *object = api_keys_json(export->keys, key, export->ring, export->keys->hashes);
	if (export->array) {
		json_array_append_new(export->array, object);
		return true;
	}
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(object);
	return true;
}

static void time_field(int64_t when)
{
	char text[32] = "";
	api_keys_csv_write(stdout, when ? api_keys_time(when, text) : "", false);
}

static bool as_csv(void *context, const struct keys_key *key)
{
	const struct export *export = context;
	int64_t now = export->keys->now;
	bool over = key->plan_until && now < key->plan_until;
	char number[16] = "";
	if (key->billing_day)
		snprintf(number, sizeof number, "%d", key->billing_day);
	api_keys_csv_write(stdout, key->name, false);
	api_keys_csv_write(stdout, api_keys_state(key, now), false);
	api_keys_csv_write(stdout, key->owner, false);
	api_keys_csv_write(stdout, key->tenant, false);
	api_keys_csv_write(stdout, keys_plan(key, now), false);
	time_field(over ? key->plan_until : 0);
	api_keys_csv_write(stdout, over ? key->plan : "", false);
	api_keys_csv_write(stdout, number, false);
	time_field(key->expires);
	time_field(key->created);
	time_field(export->ring ? ring_last_used(export->ring, (uint64_t)key->id) : 0);
	time_field(key->revoked);
	api_keys_csv_write(stdout, key->reason, false);
	api_keys_csv_write(stdout, key->notes, true);
	return true;
}

int api_keys_export(struct api_keys *keys)
{
	struct export export = {.keys = keys};
	if (keys->csv && (out_as_json || keys->hashes)) {
		out_error("--csv is a table of its own: without --json and --hashes");
		return STATUS_USAGE;
	}
	int status = api_keys_open(keys, KEYS_READ);
	if (status != STATUS_FINE)
		return status;
	export.ring = api_keys_ring(keys);
	export.array = out_as_json ? json_array() : NULL;
	if (keys->csv)
		puts("name,state,owner,tenant,plan,plan_until,plan_after,billing_day,expires,created,"
		     "last_used,revoked,reason,notes");
	if (keys->hashes && !out_as_json) {
		json_t *head = json_pack("{s:o}", "pepper", pepper(&export));
		json_dumpf(head, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(head);
	}
	if (keys_each(keys->db, keys->csv ? as_csv : as_json, &export, &keys->trouble) != WEIR_OK) {
		json_decref(export.array);
		status = api_keys_failed(keys);
	} else if (out_as_json) {
		json_t *document = json_object();
		if (keys->hashes)
			json_object_set_new(document, "pepper", pepper(&export));
		json_object_set_new(document, "keys", export.array);
		out_document(document);
	}
	ring_close(&export.ring);
	return status;
}
