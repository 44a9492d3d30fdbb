/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage_bill: what API keys were charged, month by month (B27): read from the table for as long as the slots are there, some weeks
 * after a month's end, and from the database of keys, where control puts what is over (control/usage_collect.h).
 *
 * A month begins on the first, or on the billing day of the key; whose day was changed has been charged under both, so slots are
 * looked for under every day on which a month can have ended.
 */
#ifndef WEIR_CONTROL_USAGE_BILL_H
#define WEIR_CONTROL_USAGE_BILL_H

#include "control/keys_store.h"
#include "policy/image.h"
#include "table/table.h"

#define USAGE_ENDS_MAX 112u /* days on which a month that can still be read ended, or will */

/* One limit's: times in seconds since 1970. */
struct usage_months {
	const struct image_counter *counter; /* in the image, published */
	struct text limit;		     /* its name */
	size_t count;
	int64_t ends[USAGE_ENDS_MAX]; /* ascending */
};
/* The limits that are billed: how many there are; at most `max` are written. The image must outlive them. */
size_t usage_months(const struct image *image, int64_t now, struct usage_months *out, size_t max);

struct usage_line {
	int64_t start, end;
	uint64_t units;
};
/* What the table has of the key: a line for each month in which something was charged, by start. Returns how many, at most
 * USAGE_ENDS_MAX. Looks only. */
size_t usage_live(struct table *table, const struct algo_time *t, const struct usage_months *months,
		  const char *name, int billing_day, struct usage_line out[USAGE_ENDS_MAX]);
/* Which month it is, by the day it begins on, on the clocks of the limit: 12 * year + 0..11. */
int64_t usage_month(const struct usage_months *months, int64_t start);

/* ---- what is over ---- */

struct usage_stored {
	int64_t key; /* id */
	struct text limit;
	struct usage_line line;
};
/* Keeps the line, unless as much is kept already. Between BEGIN and COMMIT. */
enum weir_error usage_keep(struct keys_db *db, const struct usage_stored *stored,
			   struct keys_trouble *trouble);
/* Every line that begins at from <= start < until, by key, limit and start. False from `tell` ends it (not an error). */
enum weir_error usage_each(struct keys_db *db, int64_t from, int64_t until,
			   bool (*tell)(void *context, const struct usage_stored *stored), void *context,
			   struct keys_trouble *trouble);

#endif
