/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring: any bytes as the ring of API keys, in a copy whose end is where the memory ends; everything that reads it is asked. A hash
 * cannot be guessed, so the last bytes say which record gets that of a secret of ours, and its place in the index.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "identity/ring_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (UINT64_C(1) << 20)

static void must(bool good)
{
	if (!good)
		abort();
}

static void look(struct ring *ring, struct text secret, int64_t wall_s)
{
	struct ring_key key;
	memset(&key, 0, sizeof key);
	if (ring_find(ring, secret, wall_s, &key) == RING_UNKNOWN)
		return;
	must(key.id != 0 && key.name_size > 0 && key.name_size <= RING_NAME_MAX);
	must(key.owner_size <= RING_OWNER_MAX && key.tenant_size <= RING_TENANT_MAX &&
	     key.plan_size <= RING_PLAN_MAX && key.billing_day <= 31);
	ring_used(ring, &key, wall_s);
	ring_last_used(ring, key.id);
}

/* As the index and the record say it, if both are where they can be. */
static void plant(uint8_t *bytes, const struct ring_shape *shape, struct text secret, uint32_t unit)
{
	const struct ring_header *header = (const void *)bytes;
	struct hmac_key pepper;
	uint8_t hash[HMAC_SIZE];
	uint64_t *index = (void *)(bytes + RING_PAGE);
	hmac_key_init(&pepper, header->pepper, RING_PEPPER);
	ring_hash(&pepper, secret, hash);
	index[ring_place_of(hash) & (shape->places - 1)] = (uint64_t)ring_tag_of(hash) << 32 |
							   (unit + UINT32_C(1));
	if (unit < shape->units)
		memcpy(bytes + shape->units_at + (uint64_t)unit * RING_UNIT, hash, HMAC_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ring *ring;
	struct ring_shape shape;
	uint32_t unit;
	int64_t wall_s;
	if (size < sizeof unit + sizeof wall_s || size > MOST)
		return 0;
	size -= sizeof unit + sizeof wall_s;
	memcpy(&unit, data + size, sizeof unit);
	memcpy(&wall_s, data + size + sizeof unit, sizeof wall_s);
	size_t room = (size + RING_PAGE - 1) / RING_PAGE * RING_PAGE;
	uint8_t *all = room ? mmap(NULL, room + RING_PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
			    : MAP_FAILED;
	if (all == MAP_FAILED)
		return 0;
	mprotect(all + room, RING_PAGE, PROT_NONE);
	memcpy(all, data, size);
	if (ring_shape_of((const void *)all, room, &shape) && unit % 2 == 0)
		plant(all, &shape, TEXT("a secret"), unit / 2);
	if (ring_over(all, room, &ring) == WEIR_OK) {
		look(ring, TEXT("a secret"), wall_s);
		look(ring, TEXT("weir_an0therOne"), wall_s);
		look(ring, (struct text){(const char *)data, size < RING_SECRET_MAX ? size : RING_SECRET_MAX},
		     wall_s);
		look(ring, TEXT(""), 0);
		struct ring_key key = {.id = (uint64_t)wall_s};
		ring_used(ring, &key, unit);
		ring_last_used(ring, key.id);
		ring_count(ring);
		must(!ring_replaced(ring, 1));
		ring_close(&ring);
	}
	munmap(all, room + RING_PAGE);
	return 0;
}
