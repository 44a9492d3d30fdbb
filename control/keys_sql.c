/* SPDX-License-Identifier: BSD-2-Clause */
/* keys_sql: statements, their parameters and their rows. */
#include <stdarg.h>

#include "control/keys_inside.h"

static int bind(sqlite3_stmt *statement, const char *kinds, va_list *arguments)
{
	int code = SQLITE_OK;
	for (int i = 1; kinds[i - 1] && code == SQLITE_OK; i++) {
		if (kinds[i - 1] == 'i') {
			code = sqlite3_bind_int64(statement, i, va_arg(*arguments, int64_t));
		} else if (kinds[i - 1] == 't') {
			struct text text = va_arg(*arguments, struct text);
			code = sqlite3_bind_text(statement, i, text.data ? text.data : "", (int)text.size,
						 SQLITE_TRANSIENT);
		} else {
			code = sqlite3_bind_blob(statement, i, va_arg(*arguments, const void *), HMAC_SIZE,
						 SQLITE_TRANSIENT);
		}
	}
	return code;
}

static sqlite3_stmt *prepare(struct keys_db *db, struct keys_trouble *trouble, const char *sql,
			     const char *kinds, va_list *arguments)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db->sql, sql, -1, &statement, NULL);
	if (code == SQLITE_OK)
		code = bind(statement, kinds, arguments);
	if (code == SQLITE_OK)
		return statement;
	keys_trouble_sql(trouble, db->sql, code, db->path);
	sqlite3_finalize(statement);
	return NULL;
}

sqlite3_stmt *keys_sql(struct keys_db *db, struct keys_trouble *trouble, const char *sql, const char *kinds,
		       ...)
{
	va_list arguments;
	va_start(arguments, kinds);
	sqlite3_stmt *statement = prepare(db, trouble, sql, kinds, &arguments);
	va_end(arguments);
	return statement;
}

bool keys_sql_next(struct keys_db *db, struct keys_trouble *trouble, sqlite3_stmt *statement,
		   enum weir_error *error)
{
	int code = sqlite3_step(statement);
	*error = WEIR_OK;
	if (code == SQLITE_ROW)
		return true;
	if (code != SQLITE_DONE)
		*error = keys_trouble_sql(trouble, db->sql, code, db->path);
	return false;
}

enum weir_error keys_sql_run(struct keys_db *db, struct keys_trouble *trouble, const char *sql,
			     const char *kinds, ...)
{
	enum weir_error error;
	va_list arguments;
	va_start(arguments, kinds);
	sqlite3_stmt *statement = prepare(db, trouble, sql, kinds, &arguments);
	va_end(arguments);
	if (!statement)
		return trouble->error;
	while (keys_sql_next(db, trouble, statement, &error)) {
	}
	sqlite3_finalize(statement);
	return error;
}

enum weir_error keys_sql_number(struct keys_db *db, struct keys_trouble *trouble, const char *sql,
				uint64_t *out)
{
	enum weir_error error;
	sqlite3_stmt *statement = keys_sql(db, trouble, sql, "");
	*out = 0;
	if (!statement)
		return trouble->error;
	if (keys_sql_next(db, trouble, statement, &error))
		*out = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return error;
}

struct text keys_sql_text(sqlite3_stmt *statement, int column)
{
	const char *data = (const char *)sqlite3_column_text(statement, column);
	return (struct text){data, data ? (size_t)sqlite3_column_bytes(statement, column) : 0};
}
