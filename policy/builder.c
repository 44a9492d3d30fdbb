/* SPDX-License-Identifier: BSD-2-Clause */
/* builder: bump allocation in one block that may move while it grows, hence offsets and no pointers. */
#include "policy/builder.h"

#include <stdlib.h>

static uint32_t take(struct builder *builder, size_t size, size_t align)
{
	size_t start = (builder->used + align - 1) / align * align;

	if (size > BUILDER_SIZE_MAX || start + size > BUILDER_SIZE_MAX)
		longjmp(builder->arena->out_of_memory, 2);
	if (start + size > builder->capacity) {
		size_t capacity = (start + size) * 2;
		char *data = realloc(builder->data, capacity);

		if (!data)
			longjmp(builder->arena->out_of_memory, 1);
		memset(data + builder->capacity, 0, capacity - builder->capacity);
		builder->data = data;
		builder->capacity = capacity;
	}
	builder->used = start + size;
	return (uint32_t)start;
}

struct image_span builder_span(struct builder *builder, size_t count, size_t size)
{
	if (count == 0)
		return (struct image_span){0, 0};
	if (count > BUILDER_SIZE_MAX / size)
		longjmp(builder->arena->out_of_memory, 2);
	return (struct image_span){take(builder, count * size, 8), (uint32_t)count};
}

struct image_text builder_text(struct builder *builder, struct text text)
{
	struct image_text placed = {0, (uint32_t)text.size};

	if (text.size == 0)
		return placed;
	placed.offset = take(builder, text.size, 1);
	memcpy(builder->data + placed.offset, text.data, text.size);
	return placed;
}
