/* SPDX-License-Identifier: BSD-2-Clause */
/* census: walk the table and say what is in it (`weir table info`), and whether it is sound (`weir table
 * check`). */
#ifndef WEIR_TABLE_CENSUS_H
#define WEIR_TABLE_CENSUS_H

#include "table/table.h"

struct census {
	uint64_t bytes, slots, process_slots, processes; /* processes: slots whose owner is alive */
	uint64_t live, recovered, claimed, empty;	 /* slots by what they hold now */
	uint64_t cells, held; /* live ones: cells; those of them that processes hold */
	uint64_t ledger_rows, ledger_bytes, generation;
	uint64_t newest_generation_lag; /* generations the slowest live process is behind */
};
void census_take(struct table *table, struct census *out);

/* Walks a live table (others may be deciding) and calls `found` with a sentence for each broken invariant
 * (I1, I2, ...: table/DESIGN.md). Returns how many. A pair that changes under the walk is read again. */
uint64_t census_check(struct table *table, void (*found)(void *context, const char *sentence), void *context);

#endif
