/* SPDX-License-Identifier: BSD-2-Clause */
/* arena: blocks chained newest first; what is too big for a block gets one of its own. */
#include "policy/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_SIZE ((size_t)1 << 16)
#define ALIGN	   _Alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;

	if (size > SIZE_MAX / 2)
		longjmp(arena->out_of_memory, 1);
	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (!block || block->size - block->used < size) {
		size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
		struct arena_block *fresh = calloc(1, sizeof *fresh + room);
		if (!fresh)
			longjmp(arena->out_of_memory, 1);
		fresh->size = room;
		/* A block of its own goes behind the current one, whose rest stays in use. */
		if (block && room == size) {
			fresh->next = block->next;
			block->next = fresh;
		} else {
			fresh->next = block;
			arena->blocks = fresh;
		}
		block = fresh;
	}
	void *result = block->bytes + block->used;
	block->used += size;
	return result;
}

struct text arena_text(struct arena *arena, const char *data, size_t size)
{
	char *copy = arena_alloc(arena, size + 1);
	if (size)
		memcpy(copy, data, size);
	return (struct text){copy, size};
}

struct text arena_format(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0)
		longjmp(arena->out_of_memory, 1);
	char *copy = arena_alloc(arena, (size_t)size + 1);
	va_start(arguments, format);
	vsnprintf(copy, (size_t)size + 1, format, arguments);
	va_end(arguments);
	return (struct text){copy, (size_t)size};
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity, size_t item)
{
	if (count < *capacity)
		return array;
	size_t larger = *capacity ? *capacity * 2 : 4;
	if (larger > SIZE_MAX / 4 / item)
		longjmp(arena->out_of_memory, 1);
	void *moved = arena_alloc(arena, larger * item);
	if (count)
		memcpy(moved, array, count * item);
	*capacity = larger;
	return moved;
}

void arena_free(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;
		free(arena->blocks);
		arena->blocks = next;
	}
}
