/* SPDX-License-Identifier: BSD-2-Clause */
/* recall: map the ledger for reading, follow its growth and replacement, copy rows out. */
#include "table/recall.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/file.h"
#include "table/ledger_file.h"

uint32_t ledger_check(const struct ledger_row *row, uint32_t number)
{
	const struct siphash_key key = {LEDGER_MAGIC, number};
	return (uint32_t)siphash_1_3(&key, row, offsetof(struct ledger_row, check)).lo;
}

void ledger_open(struct table *table)
{
	table->ledger.fd = -1;
	table->ledger.epoch = atomic_get(&table->header->published.ledger_epoch);
}

static void unmap(struct handle_ledger *ledger)
{
	if (ledger->map)
		munmap((void *)(uintptr_t)ledger->map, ledger->size);
	if (ledger->fd >= 0)
		close(ledger->fd);
	ledger->map = NULL;
	ledger->size = 0;
	ledger->capacity = 0;
	ledger->fd = -1;
}

void ledger_close(struct table *table)
{
	ledger_unlock(table);
	unmap(&table->ledger);
	for (uint32_t i = 0; table->ledger.chunks && i < HANDLE_CHUNKS; i++)
		free(table->ledger.chunks[i]);
	free(table->ledger.chunks);
	table->ledger.chunks = NULL;
}

/* The epoch is read first: what is mapped after that is at least as new. The file may be another one now. */
void recall_forget(struct table *table)
{
	table->ledger.epoch = atomic_get(&table->header->published.ledger_epoch);
	for (uint32_t i = 0; i < HANDLE_CHUNKS; i++)
		if (table->ledger.chunks[i])
			memset(table->ledger.chunks[i], 0, HANDLE_CHUNK_ROWS * sizeof(struct ledger_row));
	unmap(&table->ledger);
}

/* Map as much as there is now. */
static void follow(struct table *table)
{
	struct handle_ledger *ledger = &table->ledger;
	struct stat st;

	if (ledger->fd < 0 && file_open_beside(table, ".ledger", false, &ledger->fd) != WEIR_OK)
		return;
	if (fstat(ledger->fd, &st) != 0 || (uint64_t)st.st_size <= ledger->size ||
	    st.st_size < (off_t)LAYOUT_PAGE)
		return;
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, ledger->fd, 0);
	if (map == MAP_FAILED)
		return;
	if (ledger->map)
		munmap((void *)(uintptr_t)ledger->map, ledger->size);
	ledger->map = map;
	ledger->size = (size_t)st.st_size;
	const struct ledger_header *header = map;
	bool ours = header->magic == LEDGER_MAGIC && header->layout == LAYOUT_VERSION &&
		    header->table_id == table->table_id;
	ledger->capacity = ours ? ledger_capacity(ledger->size) : 0;
}

const struct ledger_row *recall_load(struct table *table, uint32_t row)
{
	struct handle_ledger *ledger = &table->ledger;
	if (row == TABLE_ROW_NONE || row > LEDGER_ROW_MAX)
		return NULL;
	if (row >= ledger->capacity)
		follow(table);
	if (row >= ledger->capacity)
		return NULL;
	struct ledger_row **chunk = &ledger->chunks[row / HANDLE_CHUNK_ROWS];
	if (!*chunk && !(*chunk = calloc(HANDLE_CHUNK_ROWS, sizeof **chunk)))
		return NULL;
	struct ledger_row copy = ledger_block(ledger->map, row)->rows[row % LEDGER_BLOCK_ROWS];
	if (copy.generation == 0 || copy.check != ledger_check(&copy, row) || copy.stat >= TABLE_STAT_COUNT ||
	    !algo_valid(&copy.numbers))
		return NULL;
	(*chunk)[row % HANDLE_CHUNK_ROWS] = copy;
	return &(*chunk)[row % HANDLE_CHUNK_ROWS];
}

/* What the file says now, mapped or not yet. */
static uint32_t count_of(struct table *table)
{
	recall_fresh(table);
	follow(table);
	if (table->ledger.capacity == 0)
		return 0;
	const struct ledger_header *header = (const void *)table->ledger.map;
	uint32_t count = atomic_get32(&header->count);
	return count < table->ledger.capacity ? count : table->ledger.capacity;
}

uint32_t ledger_rows(struct table *table)
{
	uint32_t count = count_of(table), used = 0;
	for (uint32_t row = 1; row < count; row++)
		used += ledger_block(table->ledger.map, row)->rows[row % LEDGER_BLOCK_ROWS].generation != 0;
	return used;
}

const struct ledger_row *ledger_row(struct table *table, uint32_t row)
{
	if (row > LEDGER_ROW_MAX)
		return NULL;
	recall_fresh(table);
	return recall_row(table, row);
}
