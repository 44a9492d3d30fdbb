/* SPDX-License-Identifier: BSD-2-Clause */
/* arena: memory that is given back all at once. Running out ends the load with a finding, so allocation never
 * returns NULL: it longjmps to arena_run's caller. Not for threads. */
#ifndef WEIR_POLICY_ARENA_H
#define WEIR_POLICY_ARENA_H

#include <setjmp.h>

#include "policy/text.h"

struct arena {
	struct arena_block *blocks;
	jmp_buf out_of_memory; /* set by whoever owns the arena */
};

void *arena_alloc(struct arena *arena, size_t size);			    /* zeroed, aligned for anything */
struct text arena_text(struct arena *arena, const char *data, size_t size); /* a copy, NUL behind it */
struct text arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Grows an array whose `*capacity` is full; returns the (moved) array. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity, size_t item);
void arena_free(struct arena *arena); /* everything; safe to call twice */

#endif
