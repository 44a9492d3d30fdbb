/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_stored: months that are over, in the database of keys. */
#include "control/keys_inside.h"
#include "control/usage_bill.h"

/* A month that is over only grows: by what was reserved in it and settled late. A table that lost some of it takes nothing away. */
enum weir_error usage_keep(struct keys_db *db, const struct usage_stored *stored,
			   struct keys_trouble *trouble)
{
	return keys_sql_run(db, trouble,
			    "INSERT INTO usage(\"limit\", key, period_start, period_end, units) "
			    "VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET units = excluded.units, "
			    "period_end = excluded.period_end WHERE excluded.units > units",
			    "tiiii", stored->limit, stored->key, stored->line.start, stored->line.end,
			    (int64_t)stored->line.units);
}

enum weir_error usage_each(struct keys_db *db, int64_t from, int64_t until,
			   bool (*tell)(void *context, const struct usage_stored *stored), void *context,
			   struct keys_trouble *trouble)
{
	enum weir_error error;
	sqlite3_stmt *statement = keys_sql(
		db, trouble,
		"SELECT key, \"limit\", period_start, period_end, units FROM usage "
		"WHERE period_start >= ?1 AND period_start < ?2 ORDER BY key, "
		"\"limit\", period_start",
		"ii", from, until);
	if (!statement)
		return trouble->error;
	while (keys_sql_next(db, trouble, statement, &error)) {
		const struct usage_stored stored = {
			.key = sqlite3_column_int64(statement, 0),
			.limit = keys_sql_text(statement, 1),
			.line = {sqlite3_column_int64(statement, 2), sqlite3_column_int64(statement, 3),
				 (uint64_t)sqlite3_column_int64(statement, 4)},
		};
		if (!tell(context, &stored))
			break;
	}
	sqlite3_finalize(statement);
	return error;
}
