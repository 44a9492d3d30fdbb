/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys_db: the database of API keys, an SQLite file, private to the owner of its folder. Beside it lies the ring that the doors
 * read (identity/ring.h), written by whoever changes the database, under a lock that is taken first.
 *
 * A key has a name that nobody else gets, also after it was revoked; what a client sends is one of its secrets, of which only a
 * keyed hash is kept. Times are seconds since 1970, 0: never, none. One thread, and whoever is root acts as the folder's
 * owner meanwhile (control/owner.h).
 */
#ifndef WEIR_CONTROL_KEYS_DB_H
#define WEIR_CONTROL_KEYS_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "control/keys_trouble.h"
#include "identity/ring_write.h"

#define KEYS_NOTES_MAX	500u
#define KEYS_REASON_MAX 200u
#define KEYS_SHOWN_MAX	32u   /* bytes of a secret's beginning that is kept */
#define KEYS_WAIT_MS	5000u /* for another process */
#define KEYS_VERSION	1     /* of the schema */

struct keys_db; /* opaque */

enum keys_how {
	KEYS_READ,   /* it must be there */
	KEYS_CHANGE, /* it must be there */
	KEYS_CREATE  /* it is made if it is not, with its folder */
};

/* wait_ms: for other processes, at each step. Errors: WEIR_NOT_FOUND, WEIR_OWNER, WEIR_BUSY, WEIR_NO_SPACE, WEIR_DAMAGED,
 * WEIR_FOREIGN (another program's database), WEIR_VERSION, WEIR_READ_ONLY, WEIR_SYSTEM. */
enum weir_error keys_db_open(const char *path, enum keys_how how, unsigned wait_ms, struct keys_db **out,
			     struct keys_trouble *trouble);
void keys_db_close(struct keys_db **db); /* NULL-safe; what was begun and not ended is undone */
/* For statements of one's own, on `usage` above all: foreign keys are on, the journal is a WAL. */
sqlite3 *keys_db_sql(struct keys_db *db);
const char *keys_db_path(const struct keys_db *db);
/* The hash of a secret. */
void keys_db_hash(const struct keys_db *db, struct text secret, uint8_t hash[HMAC_SIZE]);
const uint8_t *keys_db_pepper(const struct keys_db *db); /* RING_PEPPER bytes */

/* A change. keys_change_begin takes the lock and begins a transaction; what follows sees itself; keys_change_end commits it and
 * brings it to the ring: then the next lookup in any process sees it. With keep false, or on failure, nothing was changed. */
enum weir_error keys_change_begin(struct keys_db *db, struct keys_trouble *trouble);
enum weir_error keys_change_end(struct keys_db *db, bool keep, struct keys_trouble *trouble);

/* Makes the ring anew if it is missing or does not fit the database. *made: it was. WEIR_BUSY: somebody is at it. */
enum weir_error keys_ring_mend(struct keys_db *db, unsigned wait_ms, bool *made,
			       struct keys_trouble *trouble);

#endif
