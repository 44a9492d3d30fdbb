/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_store: what changes. Each statement marks the key as changed, which is how the ring learns of it. */
#include "control/keys_store.h"

#include <string.h>

#include "control/keys_inside.h"

enum weir_error keys_add(struct keys_db *db, struct keys_key *key, struct keys_trouble *trouble)
{
	enum weir_error error = keys_sql_run(
		db, trouble,
		"INSERT INTO keys(name, owner, plan, tenant, billing_day, expires, plan_over, plan_until, "
		"notes, "
		"created, revoked, reason, change) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
		"?13)",
		"ttttiititiiti", text_of(key->name), text_of(key->owner), text_of(key->plan),
		text_of(key->tenant), (int64_t)key->billing_day, key->expires, text_of(key->plan_over),
		key->plan_until, text_of(key->notes), key->created, key->revoked, text_of(key->reason),
		(int64_t)db->change);
	if (error != WEIR_OK && sqlite3_extended_errcode(db->sql) == SQLITE_CONSTRAINT_UNIQUE)
		return keys_trouble(trouble, WEIR_EXISTS,
				    "a name is never given twice, for counters and usage are kept under it: "
				    "choose another, "
				    "or `weir keys rotate` for a new secret",
				    "there is, or was, a key named %s", key->name);
	key->id = sqlite3_last_insert_rowid(db->sql);
	return error;
}

static enum weir_error touch(struct keys_db *db, int64_t id, struct keys_trouble *trouble)
{
	return keys_sql_run(db, trouble, "UPDATE keys SET change = ?1 WHERE id = ?2", "ii",
			    (int64_t)db->change, id);
}

enum weir_error keys_add_secret(struct keys_db *db, int64_t id, const struct keys_secret *secret,
				struct keys_trouble *trouble)
{
	enum weir_error error = keys_sql_run(
		db, trouble,
		"INSERT INTO secrets(hash, key, shown, created, ends) VALUES(?1, ?2, ?3, ?4, ?5)", "bitii",
		secret->hash, id, text_of(secret->shown), secret->created, secret->ends);
	if (error != WEIR_OK && (sqlite3_extended_errcode(db->sql) == SQLITE_CONSTRAINT_PRIMARYKEY ||
				 sqlite3_extended_errcode(db->sql) == SQLITE_CONSTRAINT_UNIQUE))
		return keys_trouble(trouble, WEIR_EXISTS,
				    "a secret belongs to one key: give this one another",
				    "a secret that begins with %s is a key's already", secret->shown);
	return error != WEIR_OK ? error : touch(db, id, trouble);
}

enum weir_error keys_update(struct keys_db *db, const struct keys_key *key, struct keys_trouble *trouble)
{
	return keys_sql_run(db, trouble,
			    "UPDATE keys SET owner = ?1, plan = ?2, tenant = ?3, billing_day = ?4, expires = "
			    "?5, plan_over = ?6, plan_until = ?7, notes = ?8, revoked = ?9, reason = ?10, "
			    "change = ?11 WHERE id = ?12",
			    "tttiititi"
			    "tii",
			    text_of(key->owner), text_of(key->plan), text_of(key->tenant),
			    (int64_t)key->billing_day, key->expires, text_of(key->plan_over), key->plan_until,
			    text_of(key->notes), key->revoked, text_of(key->reason), (int64_t)db->change,
			    key->id);
}

enum weir_error keys_end_secrets(struct keys_db *db, int64_t id, int64_t ends, struct keys_trouble *trouble)
{
	enum weir_error error = keys_sql_run(
		db, trouble, "UPDATE secrets SET ends = ?1 WHERE key = ?2 AND (ends = 0 OR ends > ?1)", "ii",
		ends, id);
	return error != WEIR_OK ? error : touch(db, id, trouble);
}

enum weir_error keys_take_pepper(struct keys_db *db, const uint8_t pepper[RING_PEPPER],
				 struct keys_trouble *trouble)
{
	uint64_t secrets;
	struct ring_state state;
	if (memcmp(pepper, db->pepper, RING_PEPPER) == 0)
		return WEIR_OK;
	enum weir_error error = keys_sql_number(db, trouble, "SELECT count(*) FROM secrets", &secrets);
	if (error != WEIR_OK)
		return error;
	if (secrets)
		return keys_trouble(trouble, WEIR_EXISTS,
				    "import the hashes into a new database, or import the secrets themselves",
				    "the hashes were made with another database's key, and %s has secrets of "
				    "its own",
				    db->path);
	error = keys_sql_run(db, trouble, "UPDATE meta SET pepper = ?1", "b", pepper);
	return error != WEIR_OK ? error : keys_state(db, &state, trouble);
}
