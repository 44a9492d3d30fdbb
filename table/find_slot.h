/* SPDX-License-Identifier: BSD-2-Clause */
/* find_slot: a counter by what a refusal's id has of its key: 32 bits of the tag and 24 of the place. For looking, not for deciding. */
#ifndef WEIR_TABLE_FIND_SLOT_H
#define WEIR_TABLE_FIND_SLOT_H

#include "table/ledger.h"

struct found_slot {
	struct ledger_row row; /* a copy */
	uint64_t word;	       /* of algo, under that row */
};
/* `part`: the tag's low 32 bits, then the place's high 24. False: no counter of that key is in the table (it has recovered, say). Another
 * key's can be taken for it once in some 2^29 times. */
bool find_slot(struct table *table, uint64_t part, struct found_slot *out);

#endif
