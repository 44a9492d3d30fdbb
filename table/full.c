/* SPDX-License-Identifier: BSD-2-Clause */
/* full: asked by those outside, when a charge has found no room. */
#include "table/full.h"

#include "table/recall.h"

enum table_full table_on_full(struct table *table, uint32_t row)
{
	recall_fresh(table);
	const struct ledger_row *mine = recall_row(table, row);
	return mine ? full_wants(mine) : TABLE_EVICT;
}
