/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger: under which numbers a slot's state was written (T2).
 *
 * A file of immutable 64-byte rows beside the table. Only the publisher writes, holding
 * ledger_lock; everyone else maps it read-only and follows its growth. A row number is 24 bits.
 */
#ifndef WEIR_TABLE_LEDGER_H
#define WEIR_TABLE_LEDGER_H

#include "table/table.h"

#define LEDGER_ROW_MAX	((1u << 24) - 1)
#define LEDGER_NAME_MAX 96

struct ledger_row {	   /* 64 bytes, a file format */
	uint64_t identity; /* of namespace, limit name, rate unit and key spec: who the counter is */
	uint32_t
		generation; /* of the publication that added the row; among those of one plan the higher wins (T2) */
	uint16_t stat;	/* index of its limit's statistics, below TABLE_STAT_COUNT; 0: shared */
	uint16_t flags; /* LEDGER_FULL_*, LEDGER_KEEP, LEDGER_QUOTA_*, others 0 */
	struct algo_numbers numbers;
	uint32_t plan;	/* LEDGER_PLAN, of the clients it is for; 0: none */
	uint32_t check; /* of the other 60 bytes */
};

/* Rows of one identity that hold for different clients at the same time: by the 32-bit hash of their plan's name (0: no
 * plan), and their billing day (0: none, 1..31). 0 if both are. */
#define LEDGER_PLAN_DAYS       31u
#define LEDGER_PLAN(hash, day) (((uint32_t)(hash) & ~LEDGER_PLAN_DAYS) | ((uint32_t)(day)&LEDGER_PLAN_DAYS))

#define LEDGER_FULL_MASK   3u /* enum table_full */
#define LEDGER_KEEP	   8u /* its slots go after those of all other rows: a bill */
#define LEDGER_QUOTA_SHIFT 4  /* bits 4..7: ways of a pair that others leave it (quota.h), 1..8; 0: none */
#define LEDGER_QUOTA_MAX   15u
#define LEDGER_QUOTA(ways) ((uint16_t)((ways) << LEDGER_QUOTA_SHIFT))

/* Flags that mean something: nothing else is written. */
static inline bool ledger_flags_valid(uint32_t flags)
{
	return (flags & LEDGER_FULL_MASK) <= TABLE_DENY && flags >> LEDGER_QUOTA_SHIFT <= 8 &&
	       (flags & ~(LEDGER_FULL_MASK | LEDGER_KEEP | LEDGER_QUOTA_MAX << LEDGER_QUOTA_SHIFT)) == 0;
}

/* One publisher at a time (flock on the ledger file). Waits at most `timeout_ms`. WEIR_NOT_FOUND: another table has
 * taken this one's place (table_replaced): open that. */
enum weir_error ledger_lock(struct table *table, unsigned timeout_ms);
void ledger_unlock(struct table *table);

/* The row for these numbers: the newest row of this identity and plan if its numbers and flags are the same, else a new
 * one with `generation` (from 1). Under ledger_lock, else WEIR_BUSY; WEIR_BAD_POLICY: numbers that algo did
 * not make, flags that mean nothing. `limit_name` names the statistics entry (limits that share a name share it); truncated to
 * LEDGER_NAME_MAX - 1. Rows of several plans may share a slot, which is converted to and fro: so either all of one generation keep
 * what is used in cells (ALGO_IN_CELLS), and are of one kind, or none does; else each change of plan would forget it. */
enum weir_error ledger_row_for(struct table *table, uint64_t identity, uint32_t plan,
			       const struct algo_numbers *numbers, uint16_t flags, const char *limit_name,
			       uint32_t generation, uint32_t *row);

/* Is there a row of this identity and plan? Under ledger_lock, else false. */
bool ledger_knows(const struct table *table, uint64_t identity, uint32_t plan);

/* NULL if there is no such row (hostile or damaged index). Valid until the next call on this handle. */
const struct ledger_row *ledger_row(struct table *table, uint32_t row);
/* Rows in use, those included that a census would free. */
uint32_t ledger_rows(struct table *table);
/* Frees rows that no slot carries and that no publication has named since the oldest generation that is published or held:
 * so rows of the generations in between stay, too, and all rows do while another handle has not said what it holds. Under
 * ledger_lock, else 0. Returns how many were freed; 0 also without memory. ledger_row_for calls it before it would
 * grow past a power of two. */
uint32_t ledger_census(struct table *table);

#endif
