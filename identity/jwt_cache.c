/* SPDX-License-Identifier: BSD-2-Clause */
/* jwt_cache: sets whose hashes are one line of the processor's cache. */
#include "identity/jwt_cache.h"

#include <stdlib.h>

struct jwt_cache_set {
	uint64_t hashes[JWT_CACHE_WAYS];
	struct jwt_cached entries[JWT_CACHE_WAYS];
};

bool jwt_cache_init(struct jwt_cache *cache, size_t sets)
{
	*cache = (struct jwt_cache){.mask = sets - 1};
	cache->sets = calloc(sets, sizeof *cache->sets);
	return cache->sets != NULL;
}

static uint64_t bytes_of(const struct jwt_cached *entry)
{
	return entry->size + (entry->claims ? entry->claims->bytes : 0);
}

void jwt_cache_drop(struct jwt_cache *cache, struct jwt_cached *entry)
{
	cache->bytes -= bytes_of(entry);
	free(entry->token);
	jwt_drop(&entry->claims);
	memset(entry, 0, sizeof *entry);
}

void jwt_cache_clear(struct jwt_cache *cache)
{
	for (uint64_t i = 0; cache->sets && i <= cache->mask; i++)
		for (unsigned way = 0; way < JWT_CACHE_WAYS; way++)
			jwt_cache_drop(cache, &cache->sets[i].entries[way]);
}

void jwt_cache_close(struct jwt_cache *cache)
{
	jwt_cache_clear(cache);
	free(cache->sets);
	memset(cache, 0, sizeof *cache);
}

struct jwt_cached *jwt_cache_find(struct jwt_cache *cache, uint64_t hash, struct text token)
{
	struct jwt_cache_set *set = &cache->sets[hash & cache->mask];

	for (unsigned way = 0; way < JWT_CACHE_WAYS; way++) {
		struct jwt_cached *entry = &set->entries[way];

		if (set->hashes[way] != hash || !entry->token ||
		    !text_equal((struct text){entry->token, entry->size}, token))
			continue;
		entry->used = ++cache->count;
		return entry;
	}
	return NULL;
}

/* Makes room for so many bytes, from where it stopped last time. */
static void shrink(struct jwt_cache *cache, uint64_t bytes)
{
	uint64_t entries = (cache->mask + 1) * JWT_CACHE_WAYS;

	while (cache->bytes && cache->bytes + bytes > JWT_CACHE_BYTES) {
		uint64_t at = cache->hand++ % entries;

		jwt_cache_drop(cache, &cache->sets[at / JWT_CACHE_WAYS].entries[at % JWT_CACHE_WAYS]);
	}
}

void jwt_cache_put(struct jwt_cache *cache, uint64_t hash, struct text token, enum jwt_result result,
		   int64_t expires, struct jwt_claims *claims)
{
	struct jwt_cache_set *set = &cache->sets[hash & cache->mask];
	struct jwt_cached entry = {malloc(token.size), token.size, ++cache->count, result, expires, claims};
	unsigned victim = 0;

	if (!entry.token)
		return;
	memcpy(entry.token, token.data, token.size);
	shrink(cache, bytes_of(&entry));
	for (unsigned way = 1; way < JWT_CACHE_WAYS; way++) /* nothing was used at 0 */
		if (set->entries[way].used < set->entries[victim].used)
			victim = way;
	jwt_cache_drop(cache, &set->entries[victim]);
	set->hashes[victim] = hash;
	set->entries[victim] = entry;
	cache->bytes += bytes_of(&entry);
	if (claims)
		claims->references++;
}
