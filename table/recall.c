/* SPDX-License-Identifier: BSD-2-Clause */
/* recall: copy rows out of the ledger, and forget them when their places may have been given away. */
#include "table/recall.h"

#include <stdlib.h>

#include "table/ledger_file.h"

/* The epoch is read first: what is mapped after that is at least as new. The file may be another one now. */
void recall_forget(struct table *table)
{
	table->ledger.epoch = atomic_get(&table->header->published.ledger_epoch);
	for (uint32_t i = 0; i < HANDLE_CHUNKS; i++)
		if (table->ledger.chunks[i])
			memset(table->ledger.chunks[i], 0, HANDLE_CHUNK_ROWS * sizeof(struct ledger_row));
	ledger_unmap(&table->ledger);
}

const struct ledger_row *recall_load(struct table *table, uint32_t row)
{
	struct handle_ledger *ledger = &table->ledger;
	if (row == TABLE_ROW_NONE || row > LEDGER_ROW_MAX)
		return NULL;
	if (row >= ledger->capacity)
		ledger_follow(table);
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
