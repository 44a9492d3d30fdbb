/* SPDX-License-Identifier: BSD-2-Clause */
/* builder: an image while it grows. Records lie on 8 bytes, texts are packed between them; every byte not
 * written is 0, so that the same policy gives the same bytes. Running out jumps to the arena's out_of_memory.
 * Not for threads. */
#ifndef WEIR_POLICY_BUILDER_H
#define WEIR_POLICY_BUILDER_H

#include "policy/arena.h"
#include "policy/image.h"

#define BUILDER_SIZE_MAX (UINT32_C(1) << 30)

struct builder {
	char *data; /* malloc()ed; the owner frees it or keeps it */
	size_t used, capacity;
	struct arena *arena; /* whose jump is taken, with 1: out of memory, or 2: the image is too large */
};

/* `count` zeroed records of `size` bytes; their offset. */
struct image_span builder_span(struct builder *builder, size_t count, size_t size);
/* A copy of the text. */
struct image_text builder_text(struct builder *builder, struct text text);
/* Valid until the next builder_span or builder_text. */
static inline void *builder_at(const struct builder *builder, uint32_t offset)
{
	return builder->data + offset;
}

#endif
