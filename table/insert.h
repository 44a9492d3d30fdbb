/* SPDX-License-Identifier: BSD-2-Clause */
/* insert: give a key a slot, so that it never has two (T4). */
#ifndef WEIR_TABLE_INSERT_H
#define WEIR_TABLE_INSERT_H

#include "table/handle.h"

struct insert_claim { /* a claim that may now be charged: by one compare-and-swap from exactly this */
	struct slot *slot;
	uint64_t w0, w1;
};

/* The key has no charged slot as far as the caller knows. True: *out may be charged, and if that
 * compare-and-swap fails, begin again from the probe. False: begin again from the probe. */
bool insert_claim(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row,
		  const struct ledger_row *mine, uint64_t now, struct insert_claim *out);

#endif
