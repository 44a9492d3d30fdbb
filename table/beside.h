/* SPDX-License-Identifier: BSD-2-Clause */
/* beside: the files that belong to a table and stand beside it: its path + a suffix, under the same rules of
 * trust as the table itself (file.h). For those outside the layer. */
#ifndef WEIR_TABLE_BESIDE_H
#define WEIR_TABLE_BESIDE_H

#include "table/table.h"
#include "table/why.h"

#define BESIDE_LEDGER ".ledger"
#define BESIDE_POLICY ".policy"

/* Puts `size` bytes in place of whatever is at path + suffix (at most 11 bytes long): a reader finds the old
 * file or the new one, whole. If we are killed nothing else remains. The caller keeps others from doing the
 * same (ledger_lock). The sentence in `why` names the file. */
enum weir_error table_beside_replace(struct table *table, const char *suffix, const void *bytes, size_t size,
				     const struct why *why);

/* Reads all of it into memory of the caller's: *bytes is aligned for anything; free() it. On failure NULL and
 * 0. WEIR_NOT_FOUND: there is none; WEIR_BAD_SIZE: more than `max` bytes. Not a mapping: whoever cuts the file
 * short must not kill us. */
enum weir_error table_beside_read(const struct table *table, const char *suffix, size_t max, void **bytes,
				  size_t *size, const struct why *why);

#endif
