/* SPDX-License-Identifier: BSD-2-Clause */
/* key: from bytes to a place in the table (T3), and the lines fetched on the way. */
#include "table/key.h"

#include "table/slot.h"

struct table_key table_key(const struct table *table, const void *bytes, size_t size)
{
	struct siphash_128 hash = siphash_generic(&table->secret, bytes, size, 1, 3);
	struct table_key key = {.tag_word = hash.lo, .line_word = hash.hi};
	uint64_t index = slot_pair_index(table, &key);
	const struct slot_pair *pair = &table->pairs[index];

	/* The door reads its clock next: the miss is hidden behind that. Fetched for writing, since most
	 * decisions write; but a pair that has just refused is only read, else every process that refuses the
	 * same attacker would take the line from the others (T5). */
	if (__builtin_expect(key_shunned(table, index), 0)) {
		atomic_prefetch_read(&pair->ways[0]);
		atomic_prefetch_read(&pair->ways[4]);
	} else {
		atomic_prefetch_write(&pair->ways[0]);
		atomic_prefetch_write(&pair->ways[4]);
	}
	return key;
}

uint64_t table_key_digest(const struct table *table, const void *bytes, size_t size)
{
	return siphash_1_3(&table->digest_secret, bytes, size).lo;
}
