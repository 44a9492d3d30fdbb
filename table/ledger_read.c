/* SPDX-License-Identifier: BSD-2-Clause */
/* ledger_read: the ledger as everyone but the publisher has it: mapped read-only, followed as it grows or is
 * replaced. What a decision needs of it is copied out (recall.c). */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/beside.h"
#include "table/file.h"
#include "table/ledger_file.h"
#include "table/recall.h"

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

void ledger_unmap(struct handle_ledger *ledger)
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

void ledger_follow(struct table *table)
{
	struct handle_ledger *ledger = &table->ledger;
	struct stat st;

	if (ledger->fd < 0 && file_open_beside(table, BESIDE_LEDGER, false, &ledger->fd) != WEIR_OK)
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

void ledger_close(struct table *table)
{
	ledger_unlock(table);
	ledger_unmap(&table->ledger);
	for (uint32_t i = 0; table->ledger.chunks && i < HANDLE_CHUNKS; i++)
		free(table->ledger.chunks[i]);
	free(table->ledger.chunks);
	table->ledger.chunks = NULL;
}

/* What the file says now, mapped or not yet. */
static uint32_t count_of(struct table *table)
{
	recall_fresh(table);
	ledger_follow(table);
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
