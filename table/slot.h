/* SPDX-License-Identifier: BSD-2-Clause */
/* slot: from a key to its eight candidates, and which of them bear its tag. */
#ifndef WEIR_TABLE_SLOT_H
#define WEIR_TABLE_SLOT_H

#include "table/atomic.h"
#include "table/handle.h"

/* The tag where w0 has it. Never 0, so that no key looks like an empty slot. */
static inline uint64_t slot_tag(const struct table_key *key)
{
	uint64_t tag = key->tag_word & LAYOUT_TAG_MASK;
	return (tag | !tag) << LAYOUT_ROW_BITS;
}

/* The index is the top of line_word scaled to the number of pairs: inside whatever the word is, and a
 * table of twice as many pairs appends one bit to it (T3). */
static inline uint64_t slot_pair_index(const struct table *table, const struct table_key *key)
{
	return (uint64_t)((unsigned __int128)key->line_word * table->pair_count >> 64);
}

static inline struct slot_pair *slot_pair(const struct table *table, const struct table_key *key)
{
	return &table->pairs[slot_pair_index(table, key)];
}

static inline bool slot_has_tag(uint64_t w0, uint64_t tag)
{
	return (w0 ^ tag) <= LAYOUT_ROW_MASK;
}

static inline uint32_t slot_row(uint64_t w0)
{
	return (uint32_t)(w0 & LAYOUT_ROW_MASK);
}

/* Bit i: way i bears the tag. Eight compares without a branch: which way a key is in cannot be predicted. */
static inline unsigned slot_matches(const struct slot_pair *pair, uint64_t tag)
{
	unsigned mask = 0;
#pragma GCC unroll 8
	for (unsigned i = LAYOUT_WAYS; i-- > 0;)
		mask = mask + mask + slot_has_tag(atomic_get(&pair->ways[i].w0), tag);
	return mask;
}

/* Both words again: the same? Two loads can tear; only then is a refusal or a peek of a mixed pair. A charge
 * need not ask, its compare-and-swap does (I2). */
static inline bool slot_still(const struct slot *slot, uint64_t w0, uint64_t w1)
{
	return atomic_get(&slot->w0) == w0 && atomic_get(&slot->w1) == w1;
}

#endif
