/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * charge: what both ways to ask share: by the row's own numbers (charge.c), and with a bound of one's own
 * (charge_bound.c). The usual case stands here, inline; all others go the long way, which is one for both.
 */
#ifndef WEIR_TABLE_CHARGE_H
#define WEIR_TABLE_CHARGE_H

#include "table/cell.h"
#include "table/key.h"
#include "table/probe.h"

enum charge_act {		 /* what the word is to become */
		  CHARGE_FITS,	 /* charged, if the cost fits */
		  CHARGE_PUNISH, /* a counted refusal (algo_punish) */
		  CHARGE_SPEND,	 /* as FITS, but only if the key is there and has not recovered */
		  CHARGE_BAN,	 /* banned (algo_ban) */
		  CHARGE_GRANT	 /* all but `cost` units counted until `until` (grant_word) */
};

struct charge_ask {
	uint32_t row, cost;
	const struct algo_bound *bound; /* of the asker; NULL: none, the numbers are the row's */
	enum charge_act act;
	union {
		uint64_t length_ns; /* BAN */
		uint64_t until;	    /* GRANT */
	};
};

/* table_peek, table_charge (or table_punish) and table_uncharge, whatever has to be done for it. */
void charge_peek(struct table *table, const struct table_key *key, const struct charge_ask *ask,
		 const struct algo_time *t, struct table_look *out);
enum table_charge charge_move(struct table *table, const struct table_key *key, const struct charge_ask *ask,
			      const struct algo_time *t, struct table_look *out);
void charge_undo(struct table *table, const struct table_key *key, const struct charge_ask *ask,
		 const struct algo_time *t, uint64_t charged_at);

/* The usual case, in a few dozen instructions: the key is there, charged, under the caller's own row, in the
 * first way that bears its tag. `numbers` NULL: something else, the long way finds out what. */
struct charge_known {
	struct slot *slot;
	uint64_t w0, w1;
	const struct algo_numbers *numbers;
};

static inline __attribute__((always_inline)) struct charge_known
charge_find(const struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	const struct ledger_row *mine = recall_known(table, row);
	unsigned mask = slot_matches(pair, tag);
	if (!mine || !mask || recall_stale(table))
		return (struct charge_known){.numbers = NULL};
	struct slot *slot = &pair->ways[__builtin_ctz(mask)];
	uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
	/* Logs and what is in flight: the long way finds them, too. */
	bool usual = w0 == (tag | row) && cell_is_counter(w1) && !ALGO_IN_CELLS(mine->numbers.kind);
	return (struct charge_known){slot, w0, w1, usual ? &mine->numbers : NULL};
}

#endif
