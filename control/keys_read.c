/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_read: keys and secrets as the database has them. */
#include <stdio.h>
#include <string.h>

#include "control/keys_inside.h"
#include "control/keys_store.h"
#include "policy/suggest.h"

#define COLUMNS                                                                                              \
	"SELECT k.id, k.name, k.owner, k.plan, k.tenant, k.billing_day, k.expires, k.plan_over, "            \
	"k.plan_until, k.notes, k.created, k.revoked, k.reason FROM keys k "

const char *keys_wrong(const struct keys_key *key)
{
	static const char ALSO[] = "._-@+:/";
	static const char *const WRONG[] = {
		"the owner has a control character",  "the tenant has a control character",
		"the plan has a control character",   "the plan has a control character",
		"the notes have a control character", "the reason has a control character"};
	const char *texts[] = {key->owner, key->tenant, key->plan, key->plan_over, key->notes, key->reason};
	for (size_t i = 0; key->name[i]; i++) {
		char c = key->name[i], low = text_lower(c);
		bool plain = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9');
		if (!plain && (i == 0 || !strchr(ALSO, c)))
			return "a name is letters, digits and . _ - @ + : / and begins with a letter or "
			       "digit";
	}
	if (!key->name[0])
		return "a key needs a name";
	if (key->billing_day < 0 || key->billing_day > 31)
		return "a billing day is 1 to 31";
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (const char *c = texts[i]; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				return WRONG[i];
	return NULL;
}

const char *keys_plan(const struct keys_key *key, int64_t now)
{
	return key->plan_until && now < key->plan_until ? key->plan_over : key->plan;
}

static void copy(sqlite3_stmt *statement, int column, char *out, size_t size)
{
	struct text text = keys_sql_text(statement, column);
	snprintf(out, size, "%.*s", (int)(text.size < size ? text.size : size - 1),
		 text.data ? text.data : "");
}

static void key_of(sqlite3_stmt *statement, struct keys_key *key)
{
	*key = (struct keys_key){.id = sqlite3_column_int64(statement, 0),
				 .billing_day = sqlite3_column_int(statement, 5),
				 .expires = sqlite3_column_int64(statement, 6),
				 .plan_until = sqlite3_column_int64(statement, 8),
				 .created = sqlite3_column_int64(statement, 10),
				 .revoked = sqlite3_column_int64(statement, 11)};
	copy(statement, 1, key->name, sizeof key->name);
	copy(statement, 2, key->owner, sizeof key->owner);
	copy(statement, 3, key->plan, sizeof key->plan);
	copy(statement, 4, key->tenant, sizeof key->tenant);
	copy(statement, 7, key->plan_over, sizeof key->plan_over);
	copy(statement, 9, key->notes, sizeof key->notes);
	copy(statement, 12, key->reason, sizeof key->reason);
}

/* The one row of a statement, which is finalized. */
static enum weir_error one(struct keys_db *db, sqlite3_stmt *statement, struct keys_key *out,
			   struct keys_trouble *trouble)
{
	enum weir_error error;
	if (!statement)
		return trouble->error;
	if (keys_sql_next(db, trouble, statement, &error))
		key_of(statement, out);
	else if (error == WEIR_OK)
		error = WEIR_NOT_FOUND;
	sqlite3_finalize(statement);
	return error;
}

struct near {
	struct suggest suggest;
	char name[RING_NAME_MAX + 1]; /* the best so far */
};

static bool offer(void *context, const struct keys_key *key)
{
	struct near *near = context;
	suggest_offer(&near->suggest, text_of(key->name));
	if (near->suggest.best.data == key->name) {
		snprintf(near->name, sizeof near->name, "%s", key->name);
		near->suggest.best.data = near->name;
	}
	return true;
}

enum weir_error keys_named(struct keys_db *db, struct text name, struct keys_key *out,
			   struct keys_trouble *trouble)
{
	enum weir_error error = one(db, keys_sql(db, trouble, COLUMNS "WHERE name = ?1", "t", name), out,
				    trouble);
	if (error != WEIR_NOT_FOUND)
		return error;
	struct near near = {.suggest = suggest_begin(name)};
	error = keys_each(db, offer, &near, trouble);
	if (error != WEIR_OK)
		return error;
	return keys_trouble(trouble, WEIR_NOT_FOUND, "`weir keys list` names them all",
			    near.name[0] ? "no key is named '%.*s'; did you mean '%s'?"
					 : "no key is named '%.*s'",
			    (int)name.size, name.data, near.name);
}

enum weir_error keys_with_hash(struct keys_db *db, const uint8_t hash[HMAC_SIZE], struct keys_key *out,
			       struct keys_trouble *trouble)
{
	enum weir_error error = one(
		db,
		keys_sql(db, trouble, COLUMNS "JOIN secrets s ON s.key = k.id WHERE s.hash = ?1", "b", hash),
		out, trouble);
	return error == WEIR_NOT_FOUND
		       ? keys_trouble(trouble, error, "`weir keys list` names the keys that there are",
				      "this secret is no key's")
		       : error;
}

enum weir_error keys_each(struct keys_db *db, bool (*tell)(void *context, const struct keys_key *key),
			  void *context, struct keys_trouble *trouble)
{
	struct keys_key key;
	enum weir_error error;
	sqlite3_stmt *statement = keys_sql(db, trouble, COLUMNS "ORDER BY name", "");
	if (!statement)
		return trouble->error;
	while (keys_sql_next(db, trouble, statement, &error)) {
		key_of(statement, &key);
		if (!tell(context, &key))
			break;
	}
	sqlite3_finalize(statement);
	return error;
}

enum weir_error keys_each_secret(struct keys_db *db, int64_t id,
				 bool (*tell)(void *context, const struct keys_secret *secret), void *context,
				 struct keys_trouble *trouble)
{
	struct keys_secret secret;
	enum weir_error error;
	sqlite3_stmt *statement = keys_sql(
		db, trouble,
		"SELECT hash, shown, created, ends FROM secrets WHERE key = ?1 ORDER BY created, hash", "i",
		id);
	if (!statement)
		return trouble->error;
	while (keys_sql_next(db, trouble, statement, &error)) {
		memset(&secret, 0, sizeof secret);
		if (sqlite3_column_bytes(statement, 0) == HMAC_SIZE)
			memcpy(secret.hash, sqlite3_column_blob(statement, 0), HMAC_SIZE);
		copy(statement, 1, secret.shown, sizeof secret.shown);
		secret.created = sqlite3_column_int64(statement, 2);
		secret.ends = sqlite3_column_int64(statement, 3);
		if (!tell(context, &secret))
			break;
	}
	sqlite3_finalize(statement);
	return error;
}
