/* SPDX-License-Identifier: BSD-2-Clause */
/* keybytes: see the header. */
#include "flow/keybytes.h"

static void put(uint8_t *out, uint64_t number, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)(number >> (8 * i));
}

void keybytes_begin(struct keybytes *key, const struct table *table)
{
	key->table = table;
	key->used = KEYBYTES_PARTS;
	memset(key->bytes, 0, KEYBYTES_PARTS);
}

/* The parts so far become their hash. The form byte and the identity's place are hashed along, the identity
 * as 0: it differs between the counters of a limit, and is hashed at the end. */
static void fold(struct keybytes *key)
{
	struct table_key hash;

	put(key->bytes, 0, 8);
	hash = table_key(key->table, key->bytes, key->used);
	key->bytes[8] = 1;
	put(key->bytes + KEYBYTES_PARTS, hash.tag_word, 8);
	put(key->bytes + KEYBYTES_PARTS + 8, hash.line_word, 8);
	key->used = KEYBYTES_PARTS + 16;
}

void keybytes_add(struct keybytes *key, const void *data, size_t size)
{
	const uint8_t *from = data;

	while (size) {
		size_t room = sizeof key->bytes - key->used, piece = size < room ? size : room;

		if (room == 0) {
			fold(key);
			continue;
		}
		memcpy(key->bytes + key->used, from, piece);
		key->used += piece;
		from += piece;
		size -= piece;
	}
}

void keybytes_part(struct keybytes *key, uint8_t kind, struct text name, size_t size)
{
	uint8_t head[5] = {kind};

	put(head + 1, name.size, 4);
	keybytes_add(key, head, sizeof head);
	keybytes_add(key, name.data, name.size);
	put(head + 1, size, 4);
	keybytes_add(key, head + 1, 4);
}

struct table_key keybytes_key(struct keybytes *key, uint64_t identity)
{
	put(key->bytes, identity, 8);
	return table_key(key->table, key->bytes, key->used);
}
