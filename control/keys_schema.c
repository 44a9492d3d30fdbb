/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_schema: the tables. A change that another program's eyes must know of gets a new KEYS_VERSION and a step here. */
#include <string.h>
#include <sys/random.h>

#include "control/keys_inside.h"

#define APPLICATION 0x77656972 /* "weir" */
#define TEXT_OF(x)  #x
#define NUMBER(x)   TEXT_OF(x)

/* `change` of a key: the database's when the key, or a secret of it, was changed last. `usage`: what was charged in periods that
 * are over, by limit; "limit" is the limit's name. */
static const char SCHEMA[] =
	"CREATE TABLE meta(one INTEGER PRIMARY KEY CHECK(one = 1), pepper BLOB NOT NULL CHECK(length(pepper) "
	"= 32),"
	" change INTEGER NOT NULL, token INTEGER NOT NULL, live INTEGER NOT NULL) STRICT;"
	"CREATE TABLE keys(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
	" owner TEXT NOT NULL DEFAULT '', plan TEXT NOT NULL DEFAULT '', tenant TEXT NOT NULL DEFAULT '',"
	" billing_day INTEGER NOT NULL DEFAULT 0 CHECK(billing_day BETWEEN 0 AND 31),"
	" expires INTEGER NOT NULL DEFAULT 0, plan_over TEXT NOT NULL DEFAULT '',"
	" plan_until INTEGER NOT NULL DEFAULT 0, notes TEXT NOT NULL DEFAULT '', created INTEGER NOT NULL,"
	" revoked INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '', change INTEGER NOT NULL) "
	"STRICT;"
	"CREATE INDEX keys_change ON keys(change);"
	"CREATE TABLE secrets(hash BLOB PRIMARY KEY CHECK(length(hash) = 32), key INTEGER NOT NULL "
	"REFERENCES keys(id),"
	" shown TEXT NOT NULL, created INTEGER NOT NULL, ends INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT "
	"ROWID;"
	"CREATE INDEX secrets_key ON secrets(key);"
	"CREATE TABLE usage(\"limit\" TEXT NOT NULL, key INTEGER NOT NULL REFERENCES keys(id),"
	" period_start INTEGER NOT NULL, period_end INTEGER NOT NULL, units INTEGER NOT NULL,"
	" PRIMARY KEY(\"limit\", key, period_start)) STRICT, WITHOUT ROWID;"
	"CREATE TRIGGER keys_more AFTER INSERT ON keys BEGIN UPDATE meta SET live = live + (new.revoked = "
	"0); END;"
	"CREATE TRIGGER keys_less AFTER UPDATE OF revoked ON keys BEGIN"
	" UPDATE meta SET live = live - (old.revoked = 0) + (new.revoked = 0); END;"
	"PRAGMA application_id = " NUMBER(APPLICATION) ";"
						       "PRAGMA user_version = " NUMBER(KEYS_VERSION) ";";

static enum weir_error create(struct keys_db *db, struct keys_trouble *trouble)
{
	uint8_t pepper[RING_PEPPER];
	uint64_t token;
	if (getrandom(pepper, sizeof pepper, 0) != sizeof pepper ||
	    getrandom(&token, sizeof token, 0) != sizeof token)
		return keys_trouble(trouble, WEIR_SYSTEM, "", "no random numbers from the system");
	int code = sqlite3_exec(db->sql, SCHEMA, NULL, NULL, NULL);
	if (code != SQLITE_OK)
		return keys_trouble_sql(trouble, db->sql, code, db->path);
	return keys_sql_run(db, trouble, "INSERT INTO meta VALUES(1, ?1, 1, ?2, 0)", "bi", pepper,
			    (int64_t)(token >> 1));
}

static enum weir_error version(struct keys_db *db, uint64_t *application, uint64_t *number,
			       struct keys_trouble *trouble)
{
	enum weir_error error = keys_sql_number(db, trouble, "PRAGMA application_id", application);
	return error != WEIR_OK ? error : keys_sql_number(db, trouble, "PRAGMA user_version", number);
}

/* In a transaction: another process may be making it, too. */
static enum weir_error make(struct keys_db *db, struct keys_trouble *trouble)
{
	uint64_t application = 0, number = 0, tables = 0;
	enum weir_error error = keys_sql_run(db, trouble, "BEGIN IMMEDIATE", "");
	if (error == WEIR_OK)
		error = version(db, &application, &number, trouble);
	if (error == WEIR_OK)
		error = keys_sql_number(db, trouble, "SELECT count(*) FROM sqlite_schema", &tables);
	if (error == WEIR_OK && number == 0 && application == 0 && tables == 0)
		error = create(db, trouble);
	if (error == WEIR_OK)
		error = keys_sql_run(db, trouble, "COMMIT", "");
	if (error != WEIR_OK)
		sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

enum weir_error keys_schema(struct keys_db *db, bool create_it, struct keys_trouble *trouble)
{
	uint64_t application, number;
	enum weir_error error = version(db, &application, &number, trouble);
	if (error == WEIR_OK && number == 0 && create_it) {
		error = make(db, trouble);
		if (error == WEIR_OK)
			error = version(db, &application, &number, trouble);
	}
	if (error != WEIR_OK)
		return error;
	if (application != APPLICATION || number == 0)
		return keys_trouble(trouble, WEIR_FOREIGN, "name another path",
				    "%s: is not a database of weir's keys", db->path);
	if (number > KEYS_VERSION)
		return keys_trouble(trouble, WEIR_VERSION, "use that weir, or a newer one",
				    "%s: was written by a newer weir (schema %llu, this one knows %d)",
				    db->path, (unsigned long long)number, KEYS_VERSION);
	return WEIR_OK;
}

enum weir_error keys_state(struct keys_db *db, struct ring_state *state, struct keys_trouble *trouble)
{
	enum weir_error error;
	sqlite3_stmt *statement = keys_sql(db, trouble,
					   "SELECT pepper, change, token, live FROM meta WHERE one = 1", "");
	if (!statement)
		return trouble->error;
	if (!keys_sql_next(db, trouble, statement, &error)) {
		if (error == WEIR_OK)
			error = keys_trouble_sql(trouble, NULL, SQLITE_CORRUPT, db->path);
	} else if (sqlite3_column_bytes(statement, 0) != RING_PEPPER) {
		error = keys_trouble_sql(trouble, NULL, SQLITE_CORRUPT, db->path);
	} else {
		memcpy(db->pepper, sqlite3_column_blob(statement, 0), RING_PEPPER);
		hmac_key_init(&db->hash, db->pepper, sizeof db->pepper);
		*state = (struct ring_state){.change = (uint64_t)sqlite3_column_int64(statement, 1),
					     .token = (uint64_t)sqlite3_column_int64(statement, 2),
					     .pepper = db->pepper,
					     .keys = (uint64_t)sqlite3_column_int64(statement, 3)};
	}
	sqlite3_finalize(statement);
	return error;
}
