/* SPDX-License-Identifier: BSD-2-Clause */
/* table_change: the parts of `weir table` that make tables: another size, and from an export. */
#ifndef WEIR_CLI_TABLE_CHANGE_H
#define WEIR_CLI_TABLE_CHANGE_H

#include "cli/find.h"

/* Each returns an exit code, after saying why if it is not STATUS_FINE. */
int table_change_size(const struct find *find, const char *size);
/* To the file, private (0600), or to standard output: NULL or "-". */
int table_export(const struct find *find, const char *path);
/* `replace`: in place of the table that is there. */
int table_import(const struct find *find, const char *path, bool replace);

/* "16m", "1g", "65536" in bytes, as in weir_table; false: none, or out of TABLE_SIZE_MIN to TABLE_SIZE_MAX. */
bool table_read_size(const char *text, uint64_t *out);

#endif
