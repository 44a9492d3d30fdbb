/* SPDX-License-Identifier: BSD-2-Clause */
/* full: what a limit wants when a new key of it would push out a live one (`on_full`). */
#ifndef WEIR_TABLE_FULL_H
#define WEIR_TABLE_FULL_H

#include "table/ledger.h"

/* Of a row as it was copied out; a word that means nothing is TABLE_EVICT. */
static inline enum table_full full_wants(const struct ledger_row *row)
{
	unsigned wants = row->flags & LEDGER_FULL_MASK;
	return wants == TABLE_ALLOW || wants == TABLE_DENY ? (enum table_full)wants : TABLE_EVICT;
}

#endif
