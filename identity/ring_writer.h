/* SPDX-License-Identifier: BSD-2-Clause */
/* ring_writer: what the writer of a ring holds; shared by what changes it and what makes it anew. */
#ifndef WEIR_IDENTITY_RING_WRITER_H
#define WEIR_IDENTITY_RING_WRITER_H

#include <limits.h>

#include "identity/ring_write.h"
#include "table/trust.h"

struct ring_writer {
	char path[PATH_MAX];
	const char *name; /* in path */
	int folder, lock;
	uint8_t *map; /* the ring, NULL: none that can be used */
	uint64_t size;
	struct ring_shape shape;
	uint64_t added; /* the first unit behind what was added and is not linked yet */
};

static inline struct ring_header *ring_writer_header(const struct ring_writer *writer)
{
	return (struct ring_header *)(void *)writer->map;
}
static inline uint64_t *ring_writer_index(const struct ring_writer *writer)
{
	return (uint64_t *)(void *)(writer->map + RING_PAGE);
}

/* The bytes of a row: `room` is a whole largest record. Returns its units, 0: a text is too long or missing. */
#define RING_ROW_MAX                                                                                         \
	(sizeof(struct ring_record) + RING_NAME_MAX + RING_OWNER_MAX + RING_TENANT_MAX + 2 * RING_PLAN_MAX + \
	 RING_UNIT)
uint64_t ring_row_write(const struct ring_row *row, uint8_t room[RING_ROW_MAX]);
/* The word of `hash` in the index, or a free one; NULL: too many at one place. `units`: where its records are. */
uint64_t *ring_word_of(uint64_t *index, uint64_t places, const uint8_t *units, const uint8_t *hash);

/* Maps what has the ring's name now; what was mapped before is let go. */
void ring_writer_map(struct ring_writer *writer);

#endif
