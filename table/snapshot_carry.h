/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_carry: what was charged in one table between two looks at it, charged in another. For resizing. */
#ifndef WEIR_TABLE_SNAPSHOT_CARRY_H
#define WEIR_TABLE_SNAPSHOT_CARRY_H

#include "table/snapshot.h"

/* `before` and `after` are of the same table; rows have the same numbers in `to`, others may be deciding in it. Counters
 * owe what both tables have charged, and never less; cells and rings of logs end with the later of both. Returns how
 * many entries had grown. */
uint64_t snapshot_carry(const struct snapshot *before, const struct snapshot *after, struct table *to);

/* Units charged between two words of one counter, rounded up; `before` 0: all of `after`. Of nginx whose asker says the
 * rate: requests of a second each. Pure. */
uint32_t snapshot_charged(const struct algo_numbers *numbers, uint64_t before, uint64_t after,
			  uint64_t looked_at);

#endif
