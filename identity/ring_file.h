/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring_file: the bytes of a ring. Four parts, each from a page's start on: header, index, stamps, records.
 *
 * Index: words of tag << 32 | record + 1, a power of two many; 0: free. A secret's words begin at the place that the first
 * eight bytes of its hash name, and go on at the next until a free one, at most RING_PROBES; the tag is the four bytes after
 * those. Words are never freed; another record takes a word's place when its key changes.
 * Records: one for each secret, in units of 64 bytes; written, synced, then linked, and never changed afterwards.
 * Stamps: when the key of id i + 1 was last used, seconds since 1970; the one part that those who decide write.
 */
#ifndef WEIR_IDENTITY_RING_FILE_H
#define WEIR_IDENTITY_RING_FILE_H

#include "identity/hmac.h"
#include "identity/ring.h"

#define RING_SUFFIX	".ring"
#define RING_MAGIC	UINT64_C(0x676e697272696577) /* "weirring" */
#define RING_VERSION	1u
#define RING_PAGE	4096u
#define RING_UNIT	64u
#define RING_PROBES	256u
#define RING_PEPPER	32u
#define RING_PLACES_MAX (UINT64_C(1) << 31)
#define RING_UNITS_MAX	UINT64_C(0xfffffffe)

struct ring_header {
	uint64_t magic;
	uint32_t version, pad;
	uint64_t bytes;		    /* of the file */
	uint64_t places;	    /* of the index; it begins at RING_PAGE */
	uint64_t stamps_at, stamps; /* byte, count */
	uint64_t units_at, units;
	uint8_t pepper[RING_PEPPER]; /* the key of the hashes */
	/* what changes */
	uint64_t moved;		/* not 0: another file has this one's name */
	uint64_t change, token; /* of the database that this is a copy of */
	uint64_t used_units, used_places;
	uint64_t keys; /* that can be used */
};

#define RING_REVOKED_BIT 1u

struct ring_record {
	uint8_t hash[HMAC_SIZE];
	uint64_t id;
	int64_t expires, ends; /* of the key, of this secret; 0: never */
	int64_t plan_until;    /* `plan` holds until then, afterwards `after`; 0: for good */
	uint8_t billing_day, flags;
	uint8_t name_size, owner_size, tenant_size, plan_size, after_size, pad;
	/* the texts follow, in that order */
};

_Static_assert(sizeof(struct ring_record) == 72, "a record's fixed part");
_Static_assert(sizeof(struct ring_header) <= RING_PAGE, "the header is one page");

/* Where everything is, copied once and checked: the file may say something else afterwards. */
struct ring_shape {
	uint64_t places, stamps_at, stamps, units_at, units;
};
/* False: no ring of `bytes` bytes begins like this. */
bool ring_shape_of(const struct ring_header *header, uint64_t bytes, struct ring_shape *out);
/* The size of a record with such texts, in units. */
static inline uint64_t ring_record_units(const struct ring_record *record)
{
	uint64_t bytes = sizeof *record + record->name_size + record->owner_size + record->tenant_size +
			 record->plan_size + record->after_size;
	return (bytes + RING_UNIT - 1) / RING_UNIT;
}
static inline uint64_t ring_place_of(const uint8_t *hash)
{
	uint64_t word;
	__builtin_memcpy(&word, hash, sizeof word);
	return word;
}
static inline uint32_t ring_tag_of(const uint8_t *hash)
{
	uint32_t word;
	__builtin_memcpy(&word, hash + 8, sizeof word);
	return word;
}
/* The hash of a secret under a pepper. */
static inline void ring_hash(const struct hmac_key *pepper, struct text secret, uint8_t hash[HMAC_SIZE])
{
	hmac_of(pepper, secret.data, secret.size, hash);
}

/* A ring in the caller's memory, for tests: page-aligned, `size` bytes, writable; it must outlive the handle, which ring_close
 * frees. WEIR_FOREIGN, WEIR_VERSION, WEIR_DAMAGED, WEIR_NO_MEMORY. */
enum weir_error ring_over(void *bytes, size_t size, struct ring **out);

#endif
