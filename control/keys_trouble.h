/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_trouble: what went wrong with the database of keys, with a cure of its own. */
#ifndef WEIR_CONTROL_KEYS_TROUBLE_H
#define WEIR_CONTROL_KEYS_TROUBLE_H

#include <sqlite3.h>
#include <stddef.h>

#include "table/error.h"

struct keys_trouble {
	enum weir_error error;
	char why[1024], cure[512];
};

/* Writes both sentences and returns `error`. cure "": the error's own. */
enum weir_error keys_trouble(struct keys_trouble *trouble, enum weir_error error, const char *cure,
			     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What SQLite says of `path`: locked, full, damaged, … `sql` may be NULL. */
enum weir_error keys_trouble_sql(struct keys_trouble *trouble, sqlite3 *sql, int code, const char *path);

#endif
