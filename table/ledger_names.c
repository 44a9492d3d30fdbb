/* SPDX-License-Identifier: BSD-2-Clause */
/* ledger_names: which of the statistics entries is a limit's. Written by the publisher, under the lock. */
#include "table/atomic.h"
#include "table/ledger_file.h"

static uint64_t hash_of(const char *name, size_t size)
{
	const struct siphash_key key = {LEDGER_MAGIC, 0};
	uint64_t hash = siphash_1_3(&key, name, size).lo;
	return hash | !hash;
}

/* The entry may have counted for a limit that is gone. Its counters belong to processes that are alive, so
 * they are not set back: what they have now is subtracted from now on. */
static void give(struct table *table, uint16_t stat, const char *name, size_t size, uint64_t hash)
{
	struct stats_entry *entry = &table->names[stat];
	struct stats_limit sum;
	uint64_t words[sizeof entry->name / sizeof(uint64_t)] = {0};
	uint64_t *text = (uint64_t *)(void *)entry->name, *base = (uint64_t *)&entry->base;

	for (size_t i = 0; i < sizeof sum / sizeof(uint64_t); i++)
		atomic_poke(&base[i], 0);
	for (size_t i = 0; i < sizeof entry->spare / sizeof *entry->spare; i++)
		atomic_poke(&entry->spare[i], 0); /* trial.c */
	stats_limit_sum(table, stat, &sum);
	for (size_t i = 0; i < sizeof sum / sizeof(uint64_t); i++)
		atomic_poke(&base[i], ((const uint64_t *)&sum)[i]);
	memcpy(words, name, size);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		atomic_set(&text[i], words[i]);
	atomic_set(&entry->hash, hash);
}

uint16_t ledger_name_entry(struct table *table, const char *name)
{
	size_t size = strnlen(name, LEDGER_NAME_MAX - 1);
	uint64_t hash = hash_of(name, size);
	uint16_t unused = 0;

	for (uint16_t stat = 1; stat < TABLE_STAT_COUNT; stat++) {
		const struct stats_entry *entry = &table->names[stat];
		uint64_t its = atomic_get(&entry->hash);
		if (its == 0 && !unused)
			unused = stat;
		if (its == hash && memcmp(entry->name, name, size) == 0 && entry->name[size] == '\0')
			return stat;
	}
	if (unused)
		give(table, unused, name, size, hash);
	return unused;
}

void ledger_name_census(struct table *table, const struct ledger_writer *writer)
{
	bool named[TABLE_STAT_COUNT] = {true};
	for (uint32_t row = 1; row < writer->count; row++) {
		const struct ledger_row *at = &ledger_block(writer->map, row)->rows[row % LEDGER_BLOCK_ROWS];
		if (at->generation)
			named[at->stat % TABLE_STAT_COUNT] = true;
	}
	for (uint16_t stat = 1; stat < TABLE_STAT_COUNT; stat++)
		if (!named[stat])
			atomic_set(&table->names[stat].hash, 0);
}
