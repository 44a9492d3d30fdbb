/* SPDX-License-Identifier: BSD-2-Clause */
/* given_latest: the header's words about bans and grants (I19), for those who put words into a table otherwise than by
 * table_ban and table_grant: out of a snapshot, or of the table before. */
#ifndef WEIR_TABLE_GIVEN_LATEST_H
#define WEIR_TABLE_GIVEN_LATEST_H

#include "table/handle.h"

/* The word, of these numbers, is about to be in the table: the header says so, if it is one of those. */
void given_latest(struct table *table, const struct algo_numbers *numbers, uint64_t w1);

#endif
