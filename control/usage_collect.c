/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_collect: key by key, in the order of their ids. */
#include "control/usage_collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/keys_inside.h"
#include "control/owner.h"

#define HOUR_MS	     UINT64_C(3600000)
#define MINUTE_MS    UINT64_C(60000)
#define KEYS_AT_ONCE 2000
#define LIMITS_MAX   64u /* more are read by `weir usage`, and not kept */

bool usage_collecting(const struct usage_collect *collect)
{
	return collect->image != NULL;
}

void usage_collect_end(struct usage_collect *collect)
{
	policy_drop(&collect->image);
}

static int64_t wall_s(const struct algo_time *t)
{
	return ((int64_t)t->now + t->wall) / 1000000000;
}

/* The policy that is in force, if it bills and knows its keys. */
static void begin(struct usage_collect *collect, struct table *table)
{
	char why[256];
	collect->after = 0;
	if (policy_current(table, &collect->image, why, sizeof why) != WEIR_OK)
		return;
	const struct image *image = collect->image->image;
	struct text database = image_text(image, image->clients.keys_database);
	collect->generation = image->generation;
	snprintf(collect->database, sizeof collect->database, "%.*s", (int)database.size, database.data);
	if (database.size == 0 || usage_months(image, 0, NULL, 0) == 0)
		usage_collect_end(collect);
}

/* What one key has in months that are over. */
static enum weir_error keep(struct keys_db *db, struct table *table, const struct algo_time *t,
			    const struct usage_months *months, size_t count, sqlite3_stmt *key,
			    struct keys_trouble *trouble)
{
	enum weir_error error = WEIR_OK;
	struct usage_line lines[USAGE_ENDS_MAX];
	char name[RING_NAME_MAX + 1];
	struct text text = keys_sql_text(key, 1);
	snprintf(name, sizeof name, "%.*s", (int)text.size, text.data);
	for (size_t i = 0; error == WEIR_OK && i < count; i++) {
		size_t got = usage_live(table, t, &months[i], name, sqlite3_column_int(key, 2), lines);
		for (size_t k = 0; error == WEIR_OK && k < got; k++) {
			const struct usage_stored stored = {sqlite3_column_int64(key, 0), months[i].limit,
							    lines[k]};
			if (lines[k].end <= wall_s(t))
				error = usage_keep(db, &stored, trouble);
		}
	}
	return error;
}

/* The next keys, in one transaction. *done: there are no more. */
static enum weir_error some(struct usage_collect *collect, struct keys_db *db, struct table *table,
			    const struct usage_months *months, size_t count, bool *done,
			    struct keys_trouble *trouble)
{
	struct algo_time t;
	unsigned seen = 0;
	int64_t last = collect->after;
	table_time(table, &t);
	enum weir_error error = keys_sql_run(db, trouble, "BEGIN IMMEDIATE", "");
	if (error != WEIR_OK)
		return error;
	sqlite3_stmt *keys = keys_sql(
		db, trouble, "SELECT id, name, billing_day FROM keys WHERE id > ?1 ORDER BY id LIMIT ?2",
		"ii", collect->after, (int64_t)KEYS_AT_ONCE);
	error = keys ? WEIR_OK : trouble->error;
	while (error == WEIR_OK && keys_sql_next(db, trouble, keys, &error)) {
		error = keep(db, table, &t, months, count, keys, trouble);
		last = sqlite3_column_int64(keys, 0);
		seen++;
	}
	sqlite3_finalize(keys);
	if (error == WEIR_OK)
		error = keys_sql_run(db, trouble, "COMMIT", "");
	if (error != WEIR_OK)
		sqlite3_exec(keys_db_sql(db), "ROLLBACK", NULL, NULL, NULL);
	else
		collect->after = last;
	*done = error == WEIR_OK && seen < KEYS_AT_ONCE;
	return error;
}

static enum weir_error work(struct usage_collect *collect, struct table *table,
			    const struct usage_months *months, size_t count, bool *done,
			    struct keys_trouble *trouble)
{
	struct keys_db *db = NULL;
	enum weir_error error = WEIR_SYSTEM;
	trouble->cure[0] = '\0';
	if (owner_become(collect->database, trouble->why, sizeof trouble->why))
		error = keys_db_open(collect->database, KEYS_CHANGE, 0, &db, trouble);
	if (error == WEIR_OK)
		error = some(collect, db, table, months, count, done, trouble);
	keys_db_close(&db);
	owner_return();
	return error;
}

/* A month ends when the first of them does. */
static int64_t first_end(const struct usage_months *months, size_t count, int64_t now)
{
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < months[i].count; k++)
			if (months[i].ends[k] > now && months[i].ends[k] < first)
				first = months[i].ends[k];
	return first;
}

static void tell(struct usage_collect *collect, const struct keys_trouble *trouble,
		 void (*say)(void *context, const char *line), void *context)
{
	char line[2048];
	if (strncmp(collect->said, trouble->why, sizeof collect->said - 1) == 0)
		return;
	snprintf(collect->said, sizeof collect->said, "%s", trouble->why);
	snprintf(line, sizeof line, "what was used is not kept for the bill: %s%s%s", trouble->why,
		 trouble->cure[0] ? "; cure: " : "", trouble->cure);
	say(context, line);
}

void usage_collect(struct usage_collect *collect, struct table *table, uint64_t now_ms,
		   void (*say)(void *context, const char *line), void *context)
{
	struct algo_time t;
	struct keys_trouble trouble = {.why = ""};
	bool done = false;
	table_time(table, &t);
	int64_t now = wall_s(&t);
	bool due = now_ms >= collect->due_ms || (collect->next_end && now > collect->next_end);
	if (collect->image && collect->generation != table_generation(table)) {
		usage_collect_end(collect); /* its rows may be others' soon */
		due = true;
	}
	if (!collect->image && due)
		begin(collect, table);
	if (due) {
		collect->due_ms = now_ms + (collect->image ? HOUR_MS : MINUTE_MS);
		collect->next_end = 0;
	}
	if (!collect->image)
		return;
	struct usage_months *months = calloc(LIMITS_MAX, sizeof *months);
	if (!months)
		return;
	size_t count = usage_months(collect->image->image, now, months, LIMITS_MAX);
	count = count < LIMITS_MAX ? count : LIMITS_MAX;
	collect->next_end = first_end(months, count, now);
	enum weir_error error = work(collect, table, months, count, &done, &trouble);
	free(months);
	if (error == WEIR_OK)
		collect->said[0] = '\0';
	else if (error != WEIR_BUSY) /* that is tried again at the next look */
		tell(collect, &trouble, say, context);
	if (done || (error != WEIR_OK && error != WEIR_BUSY))
		usage_collect_end(collect);
}
