/* SPDX-License-Identifier: BSD-2-Clause */
/* make: a table built without a name, filled, and only then seen by anybody (I11). */
#ifndef WEIR_TABLE_MAKE_H
#define WEIR_TABLE_MAKE_H

#include "table/file.h"
#include "table/snapshot.h"

/* One at a time makes a table in a folder: its ledger stands under its name before the table does. Waits; the kernel
 * drops the lock of one who is killed. */
void make_lock(int folder);
void make_unlock(int folder);

/* What options->path lacks, under make_lock. If somebody has made it meanwhile it is WEIR_OK too. What became of
 * options->snapshot stands in the table (table_restored). */
enum weir_error make_missing(const struct table_options *options, int folder, const char *name,
			     const struct why *why);

/* From a snapshot. `old`: the table whose place it takes (resizing), else NULL. *taken: there was one, and it was left
 * alone (never with `replace`). */
enum weir_error make_from(const struct table_options *options, int folder, const char *name,
			  const struct snapshot *snapshot, struct table *old, bool replace, bool *taken,
			  const struct why *why);

/* open.c: maps table->fd, checks it and copies its geometry. */
enum weir_error open_attach(struct table *table, const struct why *why);

#endif
