/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys_change: one change of the database, brought to the ring.
 *
 * The lock is taken before the transaction and given back after the ring has the change, so that the ring sees changes in their
 * order. What the ring needs of the disk it gets before the commit: a full disk undoes all of it. Who is killed between the
 * commit and the ring leaves a ring that is behind, which the next one sees (keys_ring_mend).
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "control/keys_inside.h"

/* What a record of the ring is made of: secrets with their keys. */
#define ROWS                                                                                                 \
	"SELECT s.hash, k.id, k.expires, s.ends, k.plan_until, k.billing_day, k.revoked, k.name, k.owner, "  \
	"k.tenant, k.plan, k.plan_over FROM secrets s JOIN keys k ON k.id = s.key "

static bool row_of(sqlite3_stmt *statement, struct ring_row *row)
{
	bool over = sqlite3_column_int64(statement, 4) != 0;
	if (sqlite3_column_bytes(statement, 0) != HMAC_SIZE)
		return false;
	memcpy(row->hash, sqlite3_column_blob(statement, 0), HMAC_SIZE);
	row->id = (uint64_t)sqlite3_column_int64(statement, 1);
	row->expires = sqlite3_column_int64(statement, 2);
	row->ends = sqlite3_column_int64(statement, 3);
	row->plan_until = sqlite3_column_int64(statement, 4);
	row->billing_day = (uint8_t)sqlite3_column_int(statement, 5);
	row->revoked = sqlite3_column_int64(statement, 6) != 0;
	row->name = keys_sql_text(statement, 7);
	row->owner = keys_sql_text(statement, 8);
	row->tenant = keys_sql_text(statement, 9);
	row->plan = keys_sql_text(statement, over ? 11 : 10);
	row->after = over ? keys_sql_text(statement, 10) : TEXT("");
	return true;
}

/* Hands every row of the statement to the ring, or to a new one; finalizes it. */
static enum weir_error hand_over(struct keys_db *db, struct ring_build *build, sqlite3_stmt *statement,
				 struct keys_trouble *trouble)
{
	struct ring_row row;
	enum weir_error error;
	while (keys_sql_next(db, trouble, statement, &error)) {
		trouble->cure[0] = '\0';
		error = !row_of(statement, &row) ? keys_trouble_sql(trouble, NULL, SQLITE_CORRUPT, db->path)
			: build ? ring_build_add(build, &row, trouble->why, sizeof trouble->why)
				: ring_write_add(db->ring, &row, trouble->why, sizeof trouble->why);
		if (error != WEIR_OK)
			break;
	}
	sqlite3_finalize(statement);
	return trouble->error = error;
}

/* All of the database in a new file. *out: NULL on failure. */
static enum weir_error build(struct keys_db *db, const struct ring_state *state, struct ring_build **out,
			     struct keys_trouble *trouble)
{
	uint64_t rows, ids;
	enum weir_error error = keys_sql_number(db, trouble, "SELECT count(*) FROM secrets", &rows);
	*out = NULL;
	if (error == WEIR_OK)
		error = keys_sql_number(db, trouble, "SELECT max(id) FROM keys", &ids);
	if (error != WEIR_OK)
		return error;
	trouble->cure[0] = '\0';
	error = ring_build_begin(db->ring, state, rows, 0, ids, out, trouble->why, sizeof trouble->why);
	if (error == WEIR_OK) {
		sqlite3_stmt *statement = keys_sql(db, trouble, ROWS, "");
		error = statement ? hand_over(db, *out, statement, trouble) : trouble->error;
	}
	if (error == WEIR_OK)
		error = ring_build_whole(*out, trouble->why, sizeof trouble->why);
	if (error != WEIR_OK && *out)
		ring_build_end(out, false, NULL, 0);
	return trouble->error = error;
}

static enum weir_error lock(struct keys_db *db, unsigned wait_ms, struct keys_trouble *trouble)
{
	enum weir_error error = ring_write_open(db->path, wait_ms, &db->ring, trouble->why,
						sizeof trouble->why);
	snprintf(trouble->cure, sizeof trouble->cure, "%s",
		 error == WEIR_BUSY ? "wait for it, then run the command again" : "");
	return trouble->error = error;
}

enum weir_error keys_change_begin(struct keys_db *db, struct keys_trouble *trouble)
{
	struct ring_state state;
	enum weir_error error = lock(db, db->wait_ms, trouble);
	if (error == WEIR_OK)
		error = keys_sql_run(db, trouble, "BEGIN IMMEDIATE", "");
	if (error == WEIR_OK)
		error = keys_state(db, &state, trouble);
	if (error == WEIR_OK) {
		db->was_change = state.change;
		db->was_token = state.token;
		db->change = state.change + 1;
		if (getrandom(&db->token, sizeof db->token, 0) != sizeof db->token)
			error = keys_trouble(trouble, WEIR_SYSTEM, "", "no random numbers from the system");
		db->token >>= 1;
	}
	if (error == WEIR_OK)
		error = keys_sql_run(db, trouble, "UPDATE meta SET change = ?1, token = ?2", "ii",
				     (int64_t)db->change, (int64_t)db->token);
	if (error != WEIR_OK)
		keys_change_end(db, false, NULL);
	return error;
}

/* The ring has room for what was changed: it is put there, not to be seen yet. */
static enum weir_error add(struct keys_db *db, bool *done, struct keys_trouble *trouble)
{
	const struct ring_state was = {db->was_change, db->was_token, db->pepper, 0};
	uint64_t rows = 0, ids = 0;
	enum weir_error error = WEIR_OK;
	*done = false;
	if (!ring_write_current(db->ring, &was))
		return WEIR_OK;
	sqlite3_stmt *statement = keys_sql(
		db, trouble, "SELECT count(*) FROM secrets s JOIN keys k ON k.id = s.key WHERE k.change = ?1",
		"i", (int64_t)db->change);
	if (!statement)
		return trouble->error;
	if (keys_sql_next(db, trouble, statement, &error))
		rows = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	if (error == WEIR_OK)
		error = keys_sql_number(db, trouble, "SELECT max(id) FROM keys", &ids);
	if (error != WEIR_OK || !ring_write_fits(db->ring, rows, ids))
		return error;
	*done = true;
	statement = keys_sql(db, trouble, ROWS "WHERE k.change = ?1", "i", (int64_t)db->change);
	return statement ? hand_over(db, NULL, statement, trouble) : trouble->error;
}

static enum weir_error commit(struct keys_db *db, struct keys_trouble *trouble)
{
	struct ring_build *fresh = NULL;
	struct ring_state state;
	bool added;
	enum weir_error error = keys_state(db, &state, trouble);
	if (error == WEIR_OK)
		error = add(db, &added, trouble);
	if (error == WEIR_OK && !added)
		error = build(db, &state, &fresh, trouble);
	if (error == WEIR_OK)
		error = keys_sql_run(db, trouble, "COMMIT", "");
	if (error != WEIR_OK) {
		if (fresh)
			ring_build_end(&fresh, false, NULL, 0);
		return error;
	}
	char why[512] = "";
	error = added ? ring_write_link(db->ring, &state, why, sizeof why)
		      : ring_build_end(&fresh, true, why, sizeof why);
	if (error != WEIR_OK)
		keys_trouble(trouble, error, "remove the reason, then `weir keys list` brings it to them",
			     "the change is in %s, but the doors do not see it yet: %s", db->path, why);
	return error;
}

enum weir_error keys_change_end(struct keys_db *db, bool keep, struct keys_trouble *trouble)
{
	enum weir_error error = keep ? commit(db, trouble) : WEIR_OK;
	if (!sqlite3_get_autocommit(db->sql))
		sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
	ring_write_close(&db->ring);
	if (error == WEIR_NO_SPACE && !trouble->cure[0])
		snprintf(trouble->cure, sizeof trouble->cure,
			 "nothing was changed; free space, then run the command again");
	return error;
}

enum weir_error keys_ring_mend(struct keys_db *db, unsigned wait_ms, bool *made, struct keys_trouble *trouble)
{
	struct ring_build *fresh;
	struct ring_state state;
	*made = false;
	enum weir_error error = lock(db, wait_ms, trouble);
	if (error == WEIR_OK)
		error = keys_sql_run(db, trouble, "BEGIN", ""); /* one state, however long it takes */
	if (error == WEIR_OK)
		error = keys_state(db, &state, trouble);
	if (error == WEIR_OK && !ring_write_current(db->ring, &state)) {
		error = build(db, &state, &fresh, trouble);
		if (error == WEIR_OK)
			error = ring_build_end(&fresh, true, trouble->why, sizeof trouble->why);
		*made = error == WEIR_OK;
	}
	if (!sqlite3_get_autocommit(db->sql))
		sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
	ring_write_close(&db->ring);
	return error;
}
