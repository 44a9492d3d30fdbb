/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys_change: weir keys add, set, rotate, revoke: one key, one change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/api_keys.h"
#include "control/keys_secret.h"

#define OVERLAP_S (INT64_C(7) * 86400)

struct secret {
	char text[RING_SECRET_MAX + 1];
	bool given; /* by the operator, who knows it */
};

static int given(const char *file, struct secret *secret)
{
	size_t size;
	char *bytes = api_keys_slurp(file, RING_SECRET_MAX + 2, &size);
	int status = STATUS_USAGE;
	if (!bytes)
		return STATUS_SYSTEM;
	while (size && (bytes[size - 1] == '\n' || bytes[size - 1] == '\r'))
		bytes[--size] = '\0';
	size_t plain = 0;
	while (bytes[plain] > ' ' && bytes[plain] < 0x7f)
		plain++;
	const char *wrong = plain < size ? "a secret is one word of ASCII, for it is sent in a header"
					 : keys_secret_wrong((struct text){bytes, size});
	if (wrong)
		out_error("%s: %s", file, wrong);
	else
		status = STATUS_FINE;
	if (status == STATUS_FINE)
		strcpy(secret->text, bytes);
	explicit_bzero(bytes, size);
	free(bytes);
	return status;
}

/* A new one, or the given one; before the database is opened, as who we are. */
static int secret_of(const struct api_keys *keys, struct secret *secret)
{
	struct text prefix = keys->prefix ? text_of(keys->prefix) : TEXT(KEYS_PREFIX);
	secret->given = keys->secret_file != NULL;
	if (secret->given && keys->prefix) {
		out_error("--prefix is for a new secret, --secret-file names a given one");
		return STATUS_USAGE;
	}
	if (secret->given)
		return given(keys->secret_file, secret);
	if (!keys_prefix_fine(prefix)) {
		out_error("--prefix: '%s' is not 1 to %u letters, digits, _ and -", keys->prefix,
			  KEYS_PREFIX_MAX);
		return STATUS_USAGE;
	}
	if (!keys_secret_new(prefix, secret->text))
		return out_failure(WEIR_SYSTEM, "no random numbers from the system");
	return STATUS_FINE;
}

static int add_secret(struct api_keys *keys, int64_t id, const struct secret *secret)
{
	struct keys_secret row = {.created = keys->now};
	keys_db_hash(keys->db, text_of(secret->text), row.hash);
	keys_secret_shown(text_of(secret->text), row.shown);
	if (keys_add_secret(keys->db, id, &row, &keys->trouble) != WEIR_OK)
		return api_keys_failed(keys);
	return STATUS_FINE;
}

/* After all is done: a secret alone on standard output, what is to be said beside it. */
static int tell(struct api_keys *keys, const struct secret *secret, const char *what)
{
	struct keys_key key;
	int status = api_keys_find(keys, &key);
	if (status != STATUS_FINE)
		return status;
	if (out_as_json) {
		json_t *document = api_keys_json(keys, &key, NULL, false);
		if (secret && !secret->given)
			json_object_set_new(document, "secret", json_string(secret->text));
		out_document(document);
		return status;
	}
	fprintf(secret ? stderr : stdout, "%s%s%s", secret ? "weir: " : "", key.name, what);
	if (secret && !secret->given) {
		fputs("; its secret is shown this once:\n", stderr);
		puts(secret->text);
	} else {
		fputc('\n', secret ? stderr : stdout);
	}
	return status;
}

int api_keys_add(struct api_keys *keys)
{
	struct keys_key key = {.created = keys->now};
	struct secret secret = {{0}, false};
	if (!api_keys_text("the name", keys->word, key.name, sizeof key.name) || !api_keys_fields(keys, &key))
		return STATUS_USAGE;
	int status = secret_of(keys, &secret);
	if (status == STATUS_FINE)
		status = api_keys_begin(keys, KEYS_CREATE);
	if (status == STATUS_FINE) {
		if (keys_add(keys->db, &key, &keys->trouble) != WEIR_OK)
			status = api_keys_failed(keys);
		if (status == STATUS_FINE)
			status = add_secret(keys, key.id, &secret);
		status = api_keys_end(keys, status);
	}
	if (status == STATUS_FINE) {
		api_keys_plan(keys, keys->plan);
		status = tell(keys, &secret, " is a key now");
	}
	explicit_bzero(&secret, sizeof secret);
	return status;
}

/* The key of a change, which is begun; nothing but being told about happens to one that is revoked. */
static int begin_with(struct api_keys *keys, struct keys_key *key)
{
	int status = api_keys_begin(keys, KEYS_CHANGE);
	if (status != STATUS_FINE)
		return status;
	status = api_keys_find(keys, key);
	if (status == STATUS_FINE && key->revoked) {
		char when[32];
		out_error("%s was revoked %s: that is for good; `weir keys add` makes another key", key->name,
			  api_keys_time(key->revoked, when));
		status = STATUS_FINDINGS;
	}
	return status == STATUS_FINE ? status : api_keys_end(keys, status);
}

static int update(struct api_keys *keys, const struct keys_key *key)
{
	int status = STATUS_FINE;
	if (keys_update(keys->db, key, &keys->trouble) != WEIR_OK)
		status = api_keys_failed(keys);
	return api_keys_end(keys, status);
}

int api_keys_set(struct api_keys *keys)
{
	struct keys_key key;
	char what[256], when[32];
	if (!keys->owner && !keys->plan && !keys->tenant && !keys->billing_day && !keys->expires &&
	    !keys->notes && !keys->until) {
		out_error("weir keys set: set what? --plan, --owner, --tenant, --billing-day, --expires, "
			  "--notes");
		return STATUS_USAGE;
	}
	int status = begin_with(keys, &key);
	if (status != STATUS_FINE)
		return status;
	if (!api_keys_fields(keys, &key))
		return api_keys_end(keys, STATUS_USAGE);
	status = update(keys, &key);
	if (status != STATUS_FINE)
		return status;
	api_keys_plan(keys, keys->plan);
	if (keys->until)
		snprintf(what, sizeof what, ": plan %s until %s, then %s", key.plan_over,
			 api_keys_time(key.plan_until, when), key.plan[0] ? key.plan : "none");
	else
		snprintf(what, sizeof what, ": set");
	return tell(keys, NULL, what);
}

int api_keys_rotate(struct api_keys *keys)
{
	struct keys_key key;
	struct secret secret = {{0}, false};
	char what[128], when[32];
	int64_t overlap = OVERLAP_S;
	if (keys->overlap && !api_keys_length("--overlap", keys->overlap, &overlap))
		return STATUS_USAGE;
	int status = secret_of(keys, &secret);
	if (status == STATUS_FINE)
		status = begin_with(keys, &key);
	if (status == STATUS_FINE) {
		if (keys_end_secrets(keys->db, key.id, keys->now + overlap, &keys->trouble) != WEIR_OK)
			status = api_keys_failed(keys);
		if (status == STATUS_FINE)
			status = add_secret(keys, key.id, &secret);
		status = api_keys_end(keys, status);
	}
	if (overlap)
		snprintf(what, sizeof what, ": the old secret works until %s",
			 api_keys_time(keys->now + overlap, when));
	else
		snprintf(what, sizeof what, ": the old secret works no longer");
	if (status == STATUS_FINE)
		status = tell(keys, &secret, what);
	explicit_bzero(&secret, sizeof secret);
	return status;
}

int api_keys_revoke(struct api_keys *keys)
{
	struct keys_key key;
	int status = begin_with(keys, &key);
	if (status != STATUS_FINE)
		return status;
	if (!api_keys_text("the reason", keys->reason, key.reason, sizeof key.reason))
		return api_keys_end(keys, STATUS_USAGE);
	const char *wrong = keys_wrong(&key);
	if (wrong) {
		out_error("%s", wrong);
		return api_keys_end(keys, STATUS_USAGE);
	}
	key.revoked = keys->now;
	status = update(keys, &key);
	return status == STATUS_FINE ? tell(keys, NULL, " is revoked") : status;
}
