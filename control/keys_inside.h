/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_inside: what an open database of keys is, and how its files speak SQL. */
#ifndef WEIR_CONTROL_KEYS_INSIDE_H
#define WEIR_CONTROL_KEYS_INSIDE_H

#include <limits.h>

#include "control/keys_db.h"

struct keys_db {
	sqlite3 *sql;
	char path[PATH_MAX];
	uint8_t pepper[RING_PEPPER];
	struct hmac_key hash;
	unsigned wait_ms;
	struct ring_writer *ring; /* while a change is on */
	uint64_t change, token;	  /* the state that the change leads to */
	uint64_t was_change, was_token;
};

/* A statement with its parameters: i: int64_t, t: struct text, b: 32 bytes. NULL with trouble. */
sqlite3_stmt *keys_sql(struct keys_db *db, struct keys_trouble *trouble, const char *sql, const char *kinds,
		       ...);
/* Runs one that gives no rows. */
enum weir_error keys_sql_run(struct keys_db *db, struct keys_trouble *trouble, const char *sql,
			     const char *kinds, ...);
/* One integer. */
enum weir_error keys_sql_number(struct keys_db *db, struct keys_trouble *trouble, const char *sql,
				uint64_t *out);
/* The next row: true. False: *error says whether that is the end (WEIR_OK) or trouble. */
bool keys_sql_next(struct keys_db *db, struct keys_trouble *trouble, sqlite3_stmt *statement,
		   enum weir_error *error);
struct text keys_sql_text(sqlite3_stmt *statement, int column);

/* Tables, or a look whether they are those that we know; the pepper. */
enum weir_error keys_schema(struct keys_db *db, bool create, struct keys_trouble *trouble);
/* The pepper and the state, as they are now. */
enum weir_error keys_state(struct keys_db *db, struct ring_state *state, struct keys_trouble *trouble);

#endif
