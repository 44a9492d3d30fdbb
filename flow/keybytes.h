/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keybytes: the bytes of a key (T3), in an order and framing from which no two different keys give the same
 * ones.
 *
 *   identity (8) | form (1) | for each part: kind (1), size of name (4), name, size of value (4), value
 *
 * Numbers are little-endian. Parts of any length are hashed whole: when the buffer is full, its parts are
 * replaced by their 128-bit keyed hash (form 1), so nothing is cut off and nothing is allocated.
 */
#ifndef WEIR_FLOW_KEYBYTES_H
#define WEIR_FLOW_KEYBYTES_H

#include "policy/text.h"
#include "table/table.h"

#define KEYBYTES_PARTS 9u /* where the parts begin */

struct keybytes {
	const struct table *table;
	size_t used;
	uint8_t bytes[512];
};

void keybytes_begin(struct keybytes *key, const struct table *table);
/* A part of `kind` whose value of `size` bytes follows by keybytes_add, in pieces. */
void keybytes_part(struct keybytes *key, uint8_t kind, struct text name, size_t size);
void keybytes_add(struct keybytes *key, const void *data, size_t size);
/* The key of one counter; the parts may be used again for another identity. */
struct table_key keybytes_key(struct keybytes *key, uint64_t identity);

#endif
