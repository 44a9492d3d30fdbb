/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_trouble: SQLite's codes as our errors, with what to do. */
#include "control/keys_trouble.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum weir_error keys_trouble(struct keys_trouble *trouble, enum weir_error error, const char *cure,
			     const char *format, ...)
{
	va_list arguments;
	trouble->error = error;
	va_start(arguments, format);
	vsnprintf(trouble->why, sizeof trouble->why, format, arguments);
	va_end(arguments);
	snprintf(trouble->cure, sizeof trouble->cure, "%s", cure);
	return error;
}

#define DAMAGED_CURE                                                                                         \
	"the doors go on with the keys they know; restore a backup, or let `sqlite3 %s .recover` save what " \
	"is left"

static enum weir_error of_system(struct keys_trouble *trouble, int reason, int code, const char *path)
{
	if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
		return keys_trouble(trouble, WEIR_NO_SPACE, "free space, then run the command again",
				    "%s: no space left on the file system: nothing was changed", path);
	if (reason == EROFS)
		return keys_trouble(trouble, WEIR_READ_ONLY, "change keys where the database can be written",
				    "%s: on a read-only file system", path);
	return keys_trouble(trouble, WEIR_SYSTEM, "", "%s: %s%s%s", path, sqlite3_errstr(code),
			    reason ? ": " : "", reason ? strerror(reason) : "");
}

enum weir_error keys_trouble_sql(struct keys_trouble *trouble, sqlite3 *sql, int code, const char *path)
{
	char cure[256];
	int reason = sql ? sqlite3_system_errno(sql) : 0;
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return keys_trouble(trouble, WEIR_BUSY,
				    "wait for it (a backup? an sqlite3 session?), or find it with `fuser`: "
				    "then run the command again",
				    "%s: another process has locked the database: nothing was changed", path);
	case SQLITE_FULL:
		return of_system(trouble, ENOSPC, code, path);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		snprintf(cure, sizeof cure, DAMAGED_CURE, path);
		return keys_trouble(trouble, WEIR_DAMAGED, cure, "%s: the database of keys is damaged: %s",
				    path, sql ? sqlite3_errmsg(sql) : sqlite3_errstr(code));
	case SQLITE_READONLY:
		return keys_trouble(trouble, WEIR_READ_ONLY,
				    "change keys as the owner of the database's folder, where it can be "
				    "written",
				    "%s: the database can be read only", path);
	case SQLITE_NOMEM:
		return keys_trouble(trouble, WEIR_NO_MEMORY, "", "out of memory");
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return of_system(trouble, reason, code, path);
	default:
		return keys_trouble(trouble, WEIR_SYSTEM, "", "%s: %s", path,
				    sql ? sqlite3_errmsg(sql) : sqlite3_errstr(code));
	}
}
