/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * given: words that nobody charges: bans, and what an operator grants (algo/ban.h, algo/grant.h).
 *
 * They are slots like all others: found, inserted, evicted, converted and written down as counters are. Only how the
 * word becomes another is theirs. A ban lasts until it ends by itself or somebody forgets its key (table_forget).
 */
#ifndef WEIR_TABLE_GIVEN_H
#define WEIR_TABLE_GIVEN_H

#include "table/table.h"

/* A ban of the key from t->now on, under a row of the kind ban. length_ns 0: as the row's numbers say, and if one holds already,
 * it goes on, so that of any number who ban a key at once one does, and the level goes up by one. Else of exactly that length, cut to the row's
 * longest, in place of one that holds. TABLE_CHARGED: it begins now; TABLE_REFUSED: it holds already, or the row is no
 * ban's; TABLE_NO_ROOM as for charges. out->state says until when (ban_until), out->allowed is false while it does. */
enum table_charge table_ban(struct table *table, const struct table_key *key, uint32_t row,
			    const struct algo_time *t, uint64_t length_ns, struct table_look *out);

/* Gives the key `units` (1..GRANT_UNITS_MAX) until `until` (table time, at most GRANT_NS_MAX from now), in place of what is
 * left of an earlier grant. The row's numbers are those of grant_numbers, else TABLE_REFUSED. TABLE_CHARGED, TABLE_NO_ROOM. */
enum table_charge table_grant(struct table *table, const struct table_key *key, uint32_t row,
			      const struct algo_time *t, uint32_t units, uint64_t until,
			      struct table_look *out);
/* As table_charge, but only what is there and has not recovered can be charged: of a key without a grant nothing can be
 * spent (TABLE_REFUSED). Undone by table_uncharge. */
enum table_charge table_spend(struct table *table, const struct table_key *key, uint32_t row,
			      const struct algo_time *t, uint32_t cost, struct table_look *out);

/* Table time from which on surely no ban that somebody chose the length of (an operator's) holds, and no grant: whoever asks for
 * one first asks this, one load of a line that every decision reads. 0: there never was one. */
uint64_t table_bans_until(const struct table *table);
uint64_t table_grants_until(const struct table *table);

/* Calls `each` with the identity of the row and the end of every ban that holds at `now`, whosever it is; looks at every slot.
 * Returns how many. In a table that has been enlarged some are there twice until they end (table/DESIGN.md). */
uint64_t table_bans_each(struct table *table, uint64_t now,
			 void (*each)(void *context, uint64_t identity, uint64_t until), void *context);

#endif
