/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_write: the one who writes a ring. It holds a lock (<database>.ring.lock), and takes it before it changes the database,
 * so that changes come to the ring in the order in which the database had them.
 *
 * Each step is on disk before the next: records, then the words that lead to them, then which state of the database that is.
 * So who is killed, or loses power, leaves a ring that says of itself that it is behind, and the next writer makes it anew.
 * Not for threads. Errors come with a sentence in `why`.
 */
#ifndef WEIR_IDENTITY_RING_WRITE_H
#define WEIR_IDENTITY_RING_WRITE_H

#include "identity/ring_file.h"

struct ring_writer; /* opaque */

struct ring_row { /* a secret, with its key */
	uint8_t hash[HMAC_SIZE];
	uint64_t id;
	int64_t expires, ends,
		plan_until; /* of the key, the secret, the plan; seconds since 1970, 0: never */
	uint8_t billing_day;
	bool revoked;
	struct text name, owner, tenant, plan, after; /* `after`: the plan from plan_until on. RING_*_MAX */
};

struct ring_state { /* of the database */
	uint64_t change, token;
	const uint8_t *pepper; /* RING_PEPPER bytes */
	uint64_t keys;	       /* that can be used */
};

/* Takes the lock, waiting at most wait_ms (WEIR_BUSY), and maps the ring if there is a sound one. The folder must be there. */
enum weir_error ring_write_open(const char *database, unsigned wait_ms, struct ring_writer **out, char *why,
				size_t size);
void ring_write_close(struct ring_writer **writer); /* NULL-safe */
/* False: there is none, or it is a copy of another state. */
bool ring_write_current(const struct ring_writer *writer, const struct ring_state *state);
/* Is there room for so many rows more, whatever they say, of keys with ids up to max_id? Then adding and linking them needs no
 * space on the disk. */
bool ring_write_fits(const struct ring_writer *writer, uint64_t rows, uint64_t max_id);

/* A change: rows that are new or say something new, then what state they lead to. What was added is not seen before that.
 * WEIR_NO_SPACE: no room, the ring is as it was; make it anew. */
enum weir_error ring_write_add(struct ring_writer *writer, const struct ring_row *row, char *why,
			       size_t size);
enum weir_error ring_write_link(struct ring_writer *writer, const struct ring_state *state, char *why,
				size_t size);

/* Anew: a file of its own, which takes the ring's place at the end; stamps are carried over. rows: how many there will be, with
 * `more` and some more to come later. */
struct ring_build; /* opaque */
enum weir_error ring_build_begin(struct ring_writer *writer, const struct ring_state *state, uint64_t rows,
				 uint64_t more, uint64_t max_id, struct ring_build **out, char *why,
				 size_t size);
enum weir_error ring_build_add(struct ring_build *build, const struct ring_row *row, char *why, size_t size);
/* Writes all of it to the disk: what follows needs no space there. */
enum weir_error ring_build_whole(struct ring_build *build, char *why, size_t size);
/* Gives it the name. Frees *build either way; on failure, or with keep false, the ring stays as it was. */
enum weir_error ring_build_end(struct ring_build **build, bool keep, char *why, size_t size);

#endif
