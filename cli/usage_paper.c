/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_paper: each key a line, or sums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/days.h"
#include "algo/zone.h"
#include "cli/api_keys_csv.h"
#include "cli/usage.h"

static const char *const WORDS[] = {"key", "owner", "tenant", "plan", "limit"};

/* The date on the clocks of the limit; of what the policy has no more, in UTC. */
static const char *date(const struct usage_months *months, int64_t when, char out[32])
{
	static const uint64_t utc[2];
	const uint64_t *zone = months ? months->counter->seen.zone : utc;
	int64_t day = days_floor(when + zone_offset_at(zone, when * DAYS_SECOND_NS), DAYS_DAY_S),
		year = days_year_of(day);
	unsigned month = days_month_of(year, day);
	snprintf(out, 32, "%04d-%02u-%02u", (int)year, month + 1,
		 (unsigned)(day - days_before_month(year, month) + 1));
	return out;
}

static const char *group_of(const struct usage_paper *paper, const struct keys_key *key, struct text limit,
			    char *out, size_t size)
{
	const char *texts[] = {key->name, key->owner, key->tenant, keys_plan(key, paper->now), ""};
	snprintf(out, size, "%s\n%.*s", texts[paper->by], (int)limit.size, limit.data);
	return out;
}

static void line_csv(const struct usage_paper *paper, const struct keys_key *key, const char *limit,
		     const struct usage_line *line, const char *from, const char *until)
{
	const char *texts[] = {key->name, key->owner, key->tenant, keys_plan(key, paper->now),
			       limit,	  from,	      until};
	if (paper->lines == 1)
		printf("key,owner,tenant,plan,limit,from,until,units,ended\r\n");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		api_keys_csv_write(stdout, texts[i], false);
	printf("%llu,%s\r\n", (unsigned long long)line->units, line->end <= paper->now ? "yes" : "no");
}

static void line_by_key(struct usage_paper *paper, const struct keys_key *key, const char *limit,
			const struct usage_months *months, const struct usage_line *line)
{
	char from[32], until[32], units[32];
	bool ended = line->end <= paper->now;
	date(months, line->start, from);
	date(months, line->end, until);
	if (out_as_json) {
		json_array_append_new(paper->rows,
				      json_pack("{s:s, s:o, s:o, s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:b}",
						"key", key->name, "owner", out_own(text_of(key->owner)),
						"tenant", out_own(text_of(key->tenant)), "plan",
						out_own(text_of(keys_plan(key, paper->now))), "limit", limit,
						"from", from, "until", until, "start",
						(json_int_t)line->start, "end", (json_int_t)line->end,
						"units", (json_int_t)line->units, "ended", ended));
		return;
	}
	if (paper->csv) {
		line_csv(paper, key, limit, line, from, until);
		return;
	}
	if (paper->lines == 1)
		printf("%-24s %-20s %-10s  %-10s %15s\n", "KEY", "LIMIT", "FROM", "UNTIL", "UNITS");
	printf("%-24s %-20s %-10s  %-10s %15s%s\n", key->name, limit, from, until,
	       out_number(line->units, units, sizeof units), ended ? "" : " so far");
}

void usage_paper_add(struct usage_paper *paper, const struct keys_key *key, struct text limit,
		     const struct usage_months *months, const struct usage_line *line)
{
	char name[LEDGER_NAME_MAX + 1], group[RING_OWNER_MAX + LEDGER_NAME_MAX + 2];
	snprintf(name, sizeof name, "%.*s", (int)limit.size, limit.data);
	paper->lines++;
	paper->units += line->units;
	if (paper->by == USAGE_BY_KEY) {
		line_by_key(paper, key, name, months, line);
		return;
	}
	group_of(paper, key, text_of(name), group, sizeof group);
	json_int_t before = json_integer_value(json_object_get(paper->groups, group));
	json_object_set_new(paper->groups, group, json_integer(before + (json_int_t)line->units));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_group(struct usage_paper *paper, const char *both, bool first)
{
	char group[RING_OWNER_MAX + 1], units[32];
	const char *limit = strchr(both, '\n') + 1, *word = WORDS[paper->by];
	uint64_t sum = (uint64_t)json_integer_value(json_object_get(paper->groups, both));
	snprintf(group, sizeof group, "%.*s", (int)(limit - both - 1), both);
	bool named = paper->by != USAGE_BY_LIMIT;
	if (out_as_json) {
		json_t *row = json_pack("{s:s, s:I}", "limit", limit, "units", (json_int_t)sum);
		if (named)
			json_object_set_new(row, word, out_own(text_of(group)));
		json_array_append_new(paper->rows, row);
	} else if (paper->csv) {
		if (first)
			printf("%s%slimit,units\r\n", named ? word : "", named ? "," : "");
		if (named)
			api_keys_csv_write(stdout, group, false);
		api_keys_csv_write(stdout, limit, false);
		printf("%llu\r\n", (unsigned long long)sum);
	} else {
		char shown[RING_OWNER_MAX * 4 + 4];
		out_escape(text_of(group), shown, sizeof shown);
		out_number(sum, units, sizeof units);
		if (named)
			printf("%-24s ", *shown ? shown : "-");
		printf("%-20s %15s\n", limit, units);
	}
}

void usage_paper_end(struct usage_paper *paper)
{
	size_t count = json_object_size(paper->groups), i = 0;
	const char **names = calloc(count + 1, sizeof *names), *name;
	json_t *value;
	char month[32], units[32];
	snprintf(month, sizeof month, "%04d-%02d", (int)(paper->month / 12), (int)(paper->month % 12) + 1);
	if (names) {
		json_object_foreach(paper->groups, name, value) names[i++] = name;
		qsort(names, count, sizeof *names, by_name);
		for (i = 0; i < count; i++)
			print_group(paper, names[i], i == 0);
	}
	free(names);
	if (out_as_json)
		out_document(json_pack("{s:s, s:s, s:O, s:I}", "month", month, "by", WORDS[paper->by],
				       "usage", paper->rows, "units", (json_int_t)paper->units));
	else if (!paper->csv)
		printf("%s%s: %s unit%s charged\n", paper->lines ? "\n" : "", month,
		       out_number(paper->units, units, sizeof units), paper->units == 1 ? "" : "s");
	json_decref(paper->rows);
	json_decref(paper->groups);
}
