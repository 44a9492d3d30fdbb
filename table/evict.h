/* SPDX-License-Identifier: BSD-2-Clause */
/* evict: whose slot a new key takes (T6). */
#ifndef WEIR_TABLE_EVICT_H
#define WEIR_TABLE_EVICT_H

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

struct evict_victim {
	struct slot *slot;
	uint64_t w0, w1;
	enum evict_kind kind;
};

/* The best victim of the pair, as read at one moment; out->slot is NULL if there is none. False: the ledger moved on meanwhile, begin again. */
bool evict_choose(struct table *table, struct slot_pair *pair, uint64_t now, struct evict_victim *out);

#endif
