/* SPDX-License-Identifier: BSD-2-Clause */
/* ring: finding a key. What it costs is the hash and three cache lines: a word of the index, a record of two. */
#include "identity/ring.h"

#include <openssl/crypto.h>
#include <string.h>

#include "identity/ring_handle.h"
#include "table/atomic.h"

/* One text of a record, bounded by its place in `out`. False: it cannot be one. */
static bool take(const uint8_t **from, uint8_t size, char *out, size_t room, uint8_t *out_size)
{
	if (size > room)
		return false;
	memcpy(out, *from, size);
	*from += size;
	*out_size = size;
	return true;
}

/* False: nothing that a writer of ours has made. */
static bool copy(const struct ring_record *record, const uint8_t *texts, int64_t wall_s, struct ring_key *out)
{
	char ignored[RING_PLAN_MAX];
	uint8_t ignored_size;
	bool over = record->plan_until && wall_s >= record->plan_until;
	out->id = record->id;
	out->expires = record->expires;
	out->billing_day = record->billing_day <= 31 ? record->billing_day : 0;
	out->plan_until = over ? 0 : record->plan_until;
	return record->id && record->name_size &&
	       take(&texts, record->name_size, out->name, RING_NAME_MAX, &out->name_size) &&
	       take(&texts, record->owner_size, out->owner, RING_OWNER_MAX, &out->owner_size) &&
	       take(&texts, record->tenant_size, out->tenant, RING_TENANT_MAX, &out->tenant_size) &&
	       take(&texts, record->plan_size, over ? ignored : out->plan, RING_PLAN_MAX,
		    over ? &ignored_size : &out->plan_size) &&
	       take(&texts, record->after_size, over ? out->plan : ignored, RING_PLAN_MAX,
		    over ? &out->plan_size : &ignored_size);
}

static bool past(int64_t end, int64_t wall_s)
{
	return end && wall_s >= end;
}

/* RING_UNKNOWN: it is another secret's, or no record. */
static enum ring_found look(const struct ring *ring, uint64_t unit, const uint8_t *hash, int64_t wall_s,
			    struct ring_key *out)
{
	struct ring_record record; /* a copy: what is checked is what is used */
	if (unit + 2 > ring->shape.units)
		return RING_UNKNOWN;
	const uint8_t *at = ring->units + unit * RING_UNIT;
	memcpy(&record, at, sizeof record);
	if (CRYPTO_memcmp(record.hash, hash, HMAC_SIZE) != 0 ||
	    ring_record_units(&record) > ring->shape.units - unit ||
	    !copy(&record, at + sizeof record, wall_s, out))
		return RING_UNKNOWN;
	if (record.flags & RING_REVOKED_BIT)
		return RING_REVOKED;
	return past(record.expires, wall_s) || past(record.ends, wall_s) ? RING_EXPIRED : RING_KNOWN;
}

enum ring_found ring_find(struct ring *ring, struct text secret, int64_t wall_s, struct ring_key *out)
{
	uint8_t hash[HMAC_SIZE];
	uint64_t mask = ring->shape.places - 1;
	if (secret.size == 0 || secret.size > RING_SECRET_MAX)
		return RING_UNKNOWN;
	ring_hash(&ring->pepper, secret, hash);
	uint64_t place = ring_place_of(hash);
	uint32_t tag = ring_tag_of(hash);
	for (uint64_t i = 0; i < RING_PROBES; i++) {
		uint64_t word = atomic_get(&ring->index[(place + i) & mask]);
		if (word == 0)
			break;
		if (word >> 32 != tag || (uint32_t)word == 0)
			continue;
		enum ring_found found = look(ring, (uint32_t)word - 1, hash, wall_s, out);
		if (found != RING_UNKNOWN)
			return found;
	}
	return RING_UNKNOWN;
}

enum ring_found ring_named(struct ring *ring, struct text name, int64_t wall_s, struct ring_key *out)
{
	static const unsigned char better[] = {
		[RING_KNOWN] = 3, [RING_EXPIRED] = 2, [RING_REVOKED] = 1, [RING_UNKNOWN] = 0};
	enum ring_found best = RING_UNKNOWN;

	for (uint64_t i = 0; i < ring->shape.places && best != RING_KNOWN; i++) {
		uint64_t word = atomic_get(&ring->index[i]), unit = (uint32_t)word - UINT64_C(1);
		struct ring_record record;
		struct ring_key key;

		if ((uint32_t)word == 0 || unit + 2 > ring->shape.units)
			continue;
		memcpy(&record, ring->units + unit * RING_UNIT, sizeof record);
		if (record.name_size != name.size)
			continue;
		enum ring_found found = look(ring, unit, record.hash, wall_s, &key);
		if (found == RING_UNKNOWN || !text_equal((struct text){key.name, key.name_size}, name))
			continue;
		if (better[found] > better[best]) {
			best = found;
			*out = key;
		}
	}
	return best;
}

void ring_each(struct ring *ring, int64_t wall_s, bool (*tell)(void *context, const struct ring_key *key),
	       void *context)
{
	for (uint64_t i = 0; i < ring->shape.places; i++) {
		uint64_t word = atomic_get(&ring->index[i]), unit = (uint32_t)word - UINT64_C(1);
		struct ring_record record;
		struct ring_key key;

		if ((uint32_t)word == 0 || unit + 2 > ring->shape.units)
			continue;
		memcpy(&record, ring->units + unit * RING_UNIT, sizeof record);
		if (look(ring, unit, record.hash, wall_s, &key) == RING_KNOWN && !tell(context, &key))
			return;
	}
}

void ring_used(struct ring *ring, const struct ring_key *key, int64_t wall_s)
{
	if (!ring->stamps || key->id == 0 || key->id > ring->shape.stamps || wall_s <= 0 ||
	    wall_s > UINT32_MAX)
		return;
	uint32_t *stamp = &ring->stamps[key->id - 1], before = atomic_get32(stamp), now = (uint32_t)wall_s;
	if (now / 60 != before / 60) /* also backwards: a clock that was wrong is not the last word */
		atomic_set32(stamp, now);
}

int64_t ring_last_used(struct ring *ring, uint64_t id)
{
	if (!ring->stamps_read || id == 0 || id > ring->shape.stamps)
		return 0;
	return atomic_get32(&ring->stamps_read[id - 1]);
}

uint64_t ring_count(const struct ring *ring)
{
	return atomic_peek(&ring->header->keys);
}
