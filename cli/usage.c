/* SPDX-License-Identifier: BSD-2-Clause */
/* weir usage: what API keys were charged in a month, for the bill: what the table has, and, of months that are over, the database. */
#include "cli/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/days.h"
#include "cli/options.h"
#include "control/owner.h"

#define LIMITS_MAX 256u
#define SLACK_S	   (2 * DAYS_DAY_S) /* clocks differ */

struct kept { /* as usage_stored, with a text of its own */
	int64_t key;
	char limit[LEDGER_NAME_MAX + 1];
	struct usage_line line;
	bool used;
};

struct bill {
	struct live live;
	struct usage_paper paper;
	const char *only; /* limit */
	struct usage_months *months;
	size_t count;
	struct keys_db *db;
	struct keys_trouble trouble;
	struct kept *kept; /* by key */
	size_t kept_count, kept_room;
	bool no_memory;
};

static bool remember(void *context, const struct usage_stored *stored)
{
	struct bill *bill = context;
	if (bill->kept_count == bill->kept_room) {
		size_t room = bill->kept_room ? 2 * bill->kept_room : 1024;
		struct kept *grown = realloc(bill->kept, room * sizeof *grown);
		bill->no_memory = !grown;
		if (!grown)
			return false;
		bill->kept = grown;
		bill->kept_room = room;
	}
	struct kept *kept = &bill->kept[bill->kept_count++];
	*kept = (struct kept){.key = stored->key, .line = stored->line};
	snprintf(kept->limit, sizeof kept->limit, "%.*s", (int)stored->limit.size, stored->limit.data);
	return true;
}

/* The first of the key's in order. */
static size_t first_of(const struct bill *bill, int64_t key)
{
	size_t low = 0, high = bill->kept_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (bill->kept[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool wanted(const struct bill *bill, struct text limit)
{
	return !bill->only || text_equal(limit, text_of(bill->only));
}

/* The larger of what the table and the database say: a table may have lost a month, a database not have all of it yet. */
static void one_limit(struct bill *bill, const struct keys_key *key, const struct usage_months *months)
{
	struct usage_line lines[USAGE_ENDS_MAX];
	size_t count = usage_live(bill->live.table, &bill->live.now, months, key->name, key->billing_day,
				  lines);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = first_of(bill, key->id); k < bill->kept_count && bill->kept[k].key == key->id;
		     k++) {
			struct kept *kept = &bill->kept[k];
			if (kept->line.start != lines[i].start ||
			    !text_equal(text_of(kept->limit), months->limit))
				continue;
			kept->used = true;
			if (kept->line.units > lines[i].units)
				lines[i].units = kept->line.units;
		}
		if (usage_month(months, lines[i].start) == bill->paper.month)
			usage_paper_add(&bill->paper, key, months->limit, months, &lines[i]);
	}
}

static int64_t month_utc(int64_t when)
{
	int64_t day = days_floor(when, DAYS_DAY_S), year = days_year_of(day);
	return 12 * year + days_month_of(year, day);
}

static bool one_key(void *context, const struct keys_key *key)
{
	struct bill *bill = context;
	for (size_t i = 0; i < bill->count; i++)
		if (wanted(bill, bill->months[i].limit))
			one_limit(bill, key, &bill->months[i]);
	for (size_t k = first_of(bill, key->id); k < bill->kept_count && bill->kept[k].key == key->id; k++) {
		const struct kept *kept = &bill->kept[k];
		const struct usage_months *months = NULL;
		for (size_t i = 0; i < bill->count && !months; i++)
			if (text_equal(text_of(kept->limit), bill->months[i].limit))
				months = &bill->months[i];
		int64_t month = months ? usage_month(months, kept->line.start) : month_utc(kept->line.start);
		if (!kept->used && month == bill->paper.month && wanted(bill, text_of(kept->limit)))
			usage_paper_add(&bill->paper, key, text_of(kept->limit), months, &kept->line);
	}
	return true;
}

static int failed(const struct bill *bill)
{
	return out_failure_cure(bill->trouble.error, bill->trouble.why, bill->trouble.cure);
}

static int write_bill(struct bill *bill)
{
	const struct image *image = bill->live.image;
	struct text text = image_text(image, image->clients.keys_database);
	int64_t year = bill->paper.month / 12;
	unsigned month = (unsigned)(bill->paper.month % 12);
	int64_t from = days_before_month(year, month) * DAYS_DAY_S,
		until = days_before_month(year, month + 1) * DAYS_DAY_S;
	char path[512], why[512];
	if (text.size == 0)
		return out_failure_cure(WEIR_NOT_FOUND, "the policy in force names no database of API keys",
					"clients: {api_keys: {database: PATH, from: …}}");
	snprintf(path, sizeof path, "%.*s", (int)text.size, text.data);
	bill->months = calloc(LIMITS_MAX, sizeof *bill->months);
	if (!bill->months)
		return out_failure(WEIR_NO_MEMORY, "");
	bill->count = usage_months(image, bill->paper.now, bill->months, LIMITS_MAX);
	bill->count = bill->count < LIMITS_MAX ? bill->count : LIMITS_MAX;
	if (!owner_become(path, why, sizeof why))
		return out_failure(WEIR_OWNER, why);
	if (keys_db_open(path, KEYS_READ, KEYS_WAIT_MS, &bill->db, &bill->trouble) != WEIR_OK ||
	    usage_each(bill->db, from - SLACK_S, until + SLACK_S, remember, bill, &bill->trouble) != WEIR_OK)
		return failed(bill);
	if (bill->no_memory)
		return out_failure(WEIR_NO_MEMORY, "");
	bill->paper.rows = json_array();
	bill->paper.groups = json_object();
	if (keys_each(bill->db, one_key, bill, &bill->trouble) != WEIR_OK)
		return failed(bill);
	usage_paper_end(&bill->paper);
	return STATUS_FINE;
}

/* "2026-09" */
static bool read_month(const char *text, int64_t *out)
{
	unsigned year, month;
	char rest;
	if (sscanf(text, "%4u-%2u%c", &year, &month, &rest) != 2 || strlen(text) != 7 || year < 1970 ||
	    month < 1 || month > 12)
		return false;
	*out = 12 * (int64_t)year + month - 1;
	return true;
}

static bool read_by(const char *text, enum usage_by *out)
{
	static const char *const words[] = {"key", "owner", "tenant", "plan", "limit"};
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i]) == 0) {
			*out = (enum usage_by)i;
			return true;
		}
	return false;
}

int usage_command(int argc, char **argv)
{
	struct bill bill = {.trouble = {.why = ""}};
	struct find find = {0};
	const char *month = NULL, *by = "key";
	const struct options_rule rules[] = {
		{"--month", OPTIONS_TEXT, &month, "YYYY-MM", "periods that began in this month (this one)"},
		{"--by", OPTIONS_TEXT, &by, "WHAT", "key (each), or sums by owner, tenant, plan, limit"},
		{"--limit", OPTIONS_TEXT, &bill.only, "NAME", "of this limit only"},
		{"--csv", OPTIONS_FLAG, &bill.paper.csv, NULL, "comma-separated, with a line of names"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis = "weir usage [--month YYYY-MM] [--by key|owner|tenant|plan|limit] [--limit NAME] "
			    "[--csv]",
		.about = "What API keys were charged, for the bill: of every limit that counts by api-key "
			 "and month, or "
			 "says\nusage: yes. A period begins on the first of the month or on the key's "
			 "billing day, and "
			 "belongs to the\nmonth it begins in. Periods that are over are kept in the database "
			 "of keys "
			 "by weir control.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (!read_by(by, &bill.paper.by)) {
		out_error("'%s' is nothing to sum by; say key, owner, tenant, plan or limit", by);
		return STATUS_USAGE;
	}
	if (month && !read_month(month, &bill.paper.month)) {
		out_error("'%s' is no month; write 2026-09", month);
		return STATUS_USAGE;
	}
	status = live_open(&bill.live, &find, true);
	if (status == STATUS_FINE) {
		bill.paper.now = live_wall(&bill.live);
		if (!month)
			bill.paper.month = month_utc(bill.paper.now);
		status = write_bill(&bill);
	}
	keys_db_close(&bill.db);
	owner_return();
	free(bill.months);
	free(bill.kept);
	live_close(&bill.live);
	return status;
}
