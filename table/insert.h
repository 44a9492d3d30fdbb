/* SPDX-License-Identifier: BSD-2-Clause */
/* insert: give a key a slot, so that it never has two (T4). */
#ifndef WEIR_TABLE_INSERT_H
#define WEIR_TABLE_INSERT_H

#include "table/handle.h"

struct insert_claim { /* a claim that may now be charged: by one compare-and-swap from exactly this */
	struct slot *slot;
	uint64_t w0, w1;
};

enum insert_made {
	INSERT_AGAIN, /* begin again from the probe */
	INSERT_MADE, /* *out may be charged, and if that compare-and-swap fails, begin again from the probe */
	INSERT_FULL, /* no slot to be had: every one is a live hold, or a live counter that the row's limit does not
			 want forgotten (on_full; a settlement does not ask for that) */
};

/* The key has no charged slot as far as the caller knows. `mark`: the marks of the word it will charge (cell.h), 0
 * for a counter: slots of another mark are other keys'. */
enum insert_made insert_try(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row,
			    const struct ledger_row *mine, uint64_t mark, uint64_t now,
			    struct insert_claim *out);

#endif
