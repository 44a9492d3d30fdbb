/* SPDX-License-Identifier: BSD-2-Clause */
/* evict: whose slot a new key takes (T6). */
#ifndef WEIR_TABLE_EVICT_H
#define WEIR_TABLE_EVICT_H

#include "algo/wide.h"
#include "table/handle.h"

enum evict_kind {
	EVICT_EMPTY,
	EVICT_RECOVERED, /* nothing is forgotten: a recovered key and an absent one are the same */
	EVICT_CLAIM,	 /* of another key, not charged: a writer killed halfway, or one who will try again */
	EVICT_LIVE,	 /* the one in which the least is forgotten */
	EVICT_NEVER,	 /* what a living process holds */
};

/* What a slot that holds w0 and w1 is; `row`: its row, NULL: nobody knows it. */
enum evict_kind evict_judge(struct table *table, const struct ledger_row *row, uint64_t w0, uint64_t w1,
			    uint64_t now);

/* Of a charged word that is no hold: the table time at which nothing is remembered in it any more. It can be a little
 * early (algo_rank), so ask evict_recovered whether that is now. */
uint64_t evict_end(const struct algo_numbers *numbers, uint64_t w1);
/* A cell of a log ends as its own row says: like every counter, it is under new numbers only when somebody has asked for
 * its key. One of a row that is no log's is damage, and recovered. */
bool evict_recovered(const struct algo_numbers *numbers, uint64_t w1, uint64_t now);
/* What would be forgotten with it: (share used, Q32)^2 * ns that are left, at least 1. A cell of a log weighs what was used
 * with its admission, and the ring word what was used with the newest: it outlives its cells. A ban that holds weighs more than
 * everything else. */
wide evict_worth(const struct algo_numbers *numbers, uint64_t w1, uint64_t now);

/* The same of a slot under a row with these flags. What is to be kept (LEDGER_KEEP) weighs more than all that is not, bans too. */
#define EVICT_KEPT ((wide)1 << 127)
static inline wide evict_weight(const struct algo_numbers *numbers, uint32_t flags, uint64_t w1, uint64_t now)
{
	return evict_worth(numbers, w1, now) | (flags & LEDGER_KEEP ? EVICT_KEPT : 0);
}

struct evict_victim {
	struct slot *slot;
	uint64_t w0, w1;
	enum evict_kind kind;
};

/* The best victim of the pair for a newcomer of the row `mine`, as read at one moment; out->slot is NULL if there is none.
 * Where nothing but live entries is left, and some have a quota, quota.h says which. False: the ledger moved on meanwhile,
 * begin again. */
bool evict_choose(struct table *table, struct slot_pair *pair, const struct ledger_row *mine, uint64_t now,
		  struct evict_victim *out);

#endif
