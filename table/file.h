/* SPDX-License-Identifier: BSD-2-Clause */
/* file: the files of a table; how they are opened and made is table/trust.h's. */
#ifndef WEIR_TABLE_FILE_H
#define WEIR_TABLE_FILE_H

#include "table/handle.h"
#include "table/trust.h"

/* As file_open, for the table's path + suffix. No sentence. */
enum weir_error file_open_beside(const struct table *table, const char *suffix, bool write, int *fd);

#endif
