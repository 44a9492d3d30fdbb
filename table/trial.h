/* SPDX-License-Identifier: BSD-2-Clause */
/* trial: since when a limit is tried (in a shadow, or on a part of the keys), and what its statistics were then. Kept beside its name, so
 * that it outlives reloads and resizing; not the table. */
#ifndef WEIR_TABLE_TRIAL_H
#define WEIR_TABLE_TRIAL_H

#include "table/table.h"

struct trial {
	int64_t since;	       /* wall clock, s; 0: it is not tried */
	uint64_t seen, shadow; /* requests since then, and those that it would have refused */
};

/* Publisher only, under ledger_lock: the limit of that statistics entry is, or is not, tried from now on. What began before goes on.
 * Entry 0, which limits share, is never a trial. */
void trial_set(struct table *table, uint16_t stat, bool tried, int64_t wall_s);
void trial_read(struct table *table, uint16_t stat, struct trial *out);

#endif
