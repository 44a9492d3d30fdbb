/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring: known API keys, for those who decide.
 *
 * A file beside the database of keys (<database>.ring) that every door maps: a hash table of secrets' keyed hashes, and
 * the records of the keys they belong to. One writer at a time (identity/ring_write.h), who never changes a record that can be
 * found: a new one is written, then linked. So a lookup takes no lock, a change is seen by the next request, and a million
 * keys are in memory once. The file is rebuilt from the database whenever it is missing or does not fit it: it is a copy.
 */
#ifndef WEIR_IDENTITY_RING_H
#define WEIR_IDENTITY_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"
#include "table/error.h"

#define RING_NAME_MAX	64u  /* bytes of a key's name */
#define RING_OWNER_MAX	128u /* of its owner's */
#define RING_TENANT_MAX 64u
#define RING_PLAN_MAX	64u
#define RING_SECRET_MAX 512u /* bytes of a secret as sent; longer ones are unknown */

struct ring; /* opaque: a mapping. A handle is one thread's */

struct ring_key {	     /* a copy, the caller's */
	uint64_t id;	     /* of the key, for ever; not of its secret: rotation keeps it. Never 0 */
	int64_t expires;     /* wall clock, s; 0: never */
	int64_t plan_until;  /* `plan` holds until then (another one follows by itself); 0: for good */
	uint8_t billing_day; /* 1..31; 0: none said */
	uint8_t name_size, owner_size, tenant_size, plan_size;
	char name[RING_NAME_MAX], owner[RING_OWNER_MAX], tenant[RING_TENANT_MAX], plan[RING_PLAN_MAX];
};

enum ring_found {
	RING_KNOWN,
	RING_UNKNOWN, /* no such secret; also longer than RING_SECRET_MAX, and empty */
	RING_EXPIRED, /* its secret (an overlap is over) or its key is; *out is filled */
	RING_REVOKED, /* *out is filled */
};

/* Opens `database`.ring. WEIR_NOT_FOUND: there is none; WEIR_OWNER, WEIR_DAMAGED, …: `why` (size bytes) says so. Nothing in the
 * file is believed: every index is masked, every size checked. */
enum weir_error ring_open(const char *database, struct ring **out, char *why, size_t size);
void ring_close(struct ring **ring); /* NULL-safe */
/* True if another file has taken this one's place: open that. Two loads, and once a second of `now` (ns) a look at the path. */
bool ring_replaced(struct ring *ring, uint64_t now);
/* Whose is this secret? One HMAC-SHA-256 and a probe or two; compared in constant time. wall_s: seconds since 1970. */
enum ring_found ring_find(struct ring *ring, struct text secret, int64_t wall_s, struct ring_key *out);
/* The key of that name, for people: looks at every record. One that can be used before one that cannot. RING_UNKNOWN: there is none. */
enum ring_found ring_named(struct ring *ring, struct text name, int64_t wall_s, struct ring_key *out);
/* Every key that can be used, once for each of its secrets. False from `tell` ends it. */
void ring_each(struct ring *ring, int64_t wall_s, bool (*tell)(void *context, const struct ring_key *key),
	       void *context);
/* Notes that the key found last was used (at most one store a minute and key). Does nothing where the file may not be written. */
void ring_used(struct ring *ring, const struct ring_key *key, int64_t wall_s);
/* When the key of that id was last used, s since 1970; 0: never, or not known. */
int64_t ring_last_used(struct ring *ring, uint64_t id);
/* How many keys (not secrets) can be found. */
uint64_t ring_count(const struct ring *ring);

#endif
