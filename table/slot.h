/* SPDX-License-Identifier: BSD-2-Clause */
/* slot: from a key to its eight candidates, and which of them bear its tag. */
#ifndef WEIR_TABLE_SLOT_H
#define WEIR_TABLE_SLOT_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "table/atomic.h"
#include "table/handle.h"

#if defined(__SANITIZE_THREAD__)
#define SLOT_PLAIN 1
#elif defined(__has_feature)
#define SLOT_PLAIN __has_feature(thread_sanitizer)
#else
#define SLOT_PLAIN 0
#endif

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

/* Bit i: way i may bear the tag; the caller looks at the word itself. No branch: which way a key is in cannot
 * be predicted. On x86-64 the upper 32 bits of eight w0 are compared at once (in 2^32 one too many); each is
 * read whole, and nothing is concluded from it that a compare-and-swap does not make sure of. ThreadSanitizer
 * gets the plain loop: it takes a vector for no atomic access. */
static inline unsigned slot_matches(const struct slot_pair *pair, uint64_t tag)
{
#if defined(__SSE2__) && !SLOT_PLAIN
	const __m128 *ways = (const __m128 *)pair;
	const __m128i want = _mm_set1_epi32((int)(tag >> 32));
	__m128 ab = _mm_shuffle_ps(ways[0], ways[1], 0xdd), cd = _mm_shuffle_ps(ways[2], ways[3], 0xdd);
	__m128 ef = _mm_shuffle_ps(ways[4], ways[5], 0xdd), gh = _mm_shuffle_ps(ways[6], ways[7], 0xdd);
	__m128i low = _mm_castps_si128(_mm_shuffle_ps(ab, cd, 0x88));
	__m128i high = _mm_castps_si128(_mm_shuffle_ps(ef, gh, 0x88));
	__m128i equal = _mm_packs_epi32(_mm_cmpeq_epi32(low, want), _mm_cmpeq_epi32(high, want));
	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128()));
#else
	unsigned mask = 0;
	for (unsigned i = LAYOUT_WAYS; i-- > 0;)
		mask = mask + mask + slot_has_tag(atomic_get(&pair->ways[i].w0), tag);
	return mask;
#endif
}

/* Both words again: the same? Two loads can tear; only then is a refusal or a peek of a mixed pair. A charge
 * need not ask, its compare-and-swap does (I2). */
static inline bool slot_still(const struct slot *slot, uint64_t w0, uint64_t w1)
{
	return atomic_get(&slot->w0) == w0 && atomic_get(&slot->w1) == w1;
}

#endif
