/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold: what one process slot holds of one key: requests in flight, and reservations whose cost is not known yet.
 *
 * A hold is a cell (table/cell.h) of the key and the process slot, and only the owner of that slot writes it.
 * Whoever wants to know how much of a key is held reads the cells of all process slots. Its data:
 *
 *   bit 60  tentative   the owner is finding out whether it fits: counted, and perhaps gone in a moment
 *   12 bits  process slot      20 bits  which owner of it (process_line.owners)      28 bits  units
 *
 * An owner that is gone holds nothing (I15). Why it is never over: table/DESIGN.md, I13 and I14.
 */
#ifndef WEIR_TABLE_HOLD_H
#define WEIR_TABLE_HOLD_H

#include "table/cell.h"

#define HOLD_UNIT_BITS	28u
#define HOLD_OWNER_BITS 20u
#define HOLD_UNITS_MAX	((UINT32_C(1) << HOLD_UNIT_BITS) - 1) /* one process slot's of one key */
#define HOLD_OWNER_MASK ((UINT32_C(1) << HOLD_OWNER_BITS) - 1)
#define HOLD_TENTATIVE	(UINT64_C(1) << 60)

static inline uint32_t hold_units(uint64_t word)
{
	return (uint32_t)word & HOLD_UNITS_MAX;
}

static inline uint32_t hold_owner(uint64_t word)
{
	return (uint32_t)(word >> HOLD_UNIT_BITS) & HOLD_OWNER_MASK;
}

static inline uint32_t hold_process(uint64_t word)
{
	return (uint32_t)(word >> (HOLD_UNIT_BITS + HOLD_OWNER_BITS)) & (LAYOUT_PROCESSES_MAX - 1);
}

/* A hold's slot (`word`: its w1) may be given to another key: it holds nothing, or its owner is gone. Who is gone stays
 * gone; who was alive is asked again after a second of table time `now`. */
bool hold_dead(struct table *table, uint64_t word, uint64_t now);

/* Adds `units` to what this handle holds of the key, if it fits: held by everybody, with what the key's word or log has
 * counted, at most the capacity; with a bound (NULL: none) the capacity that it leaves. TABLE_REFUSED: nothing is held. For
 * 0 units it only looks. *out as table_take's. */
enum table_charge hold_take(struct table *table, const struct table_key *key, uint32_t row,
			    const struct algo_time *t, uint32_t units, const struct algo_bound *bound,
			    struct table_look *out);

/* The same without taking: would they fit? Writes nothing; for any handle. */
void hold_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
	       uint32_t units, const struct algo_bound *bound, struct table_look *out);

/* Gives up `units` of what this handle holds of the key. Never fails: what is not there is not given up. */
void hold_lower(struct table *table, const struct table_key *key, uint32_t row, uint32_t units);

/* The row under which this handle holds something of the key: the newest that judged it. It is in the ledger for as
 * long as the hold is, also when the one it was taken by is not. `row` itself: nothing is held. */
uint32_t hold_row(struct table *table, const struct table_key *key, uint32_t row);

#endif
