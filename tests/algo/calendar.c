/* SPDX-License-Identifier: BSD-2-Clause */
/* calendar: where aligned windows end: a table of edges, then random instants against the C library's
 * calendar. */
#include "tests/algo/common.h"

#include <time.h>

#include "algo/align.h"

static const uint64_t utc[2];

struct edge {
	const char *at; /* UTC; its next boundary: */
	const char *next;
	enum algo_align align;
};

/* clang-format off */
static const struct edge edges[] = {
	{"1970-01-01 00:00:00", "1970-01-02 00:00:00", ALGO_CALENDAR_DAY},
	{"1970-01-01 23:59:59", "1970-01-02 00:00:00", ALGO_CALENDAR_DAY},
	{"1969-12-31 23:59:59", "1970-01-01 00:00:00", ALGO_CALENDAR_DAY},
	{"2024-02-28 12:00:00", "2024-02-29 00:00:00", ALGO_CALENDAR_DAY},
	{"2024-02-29 12:00:00", "2024-03-01 00:00:00", ALGO_CALENDAR_DAY},
	{"2023-02-28 23:59:59", "2023-03-01 00:00:00", ALGO_CALENDAR_DAY},
	{"2016-12-31 23:59:59", "2017-01-01 00:00:00", ALGO_CALENDAR_DAY}, /* a leap second followed: Unix time has none */
	{"1970-01-01 00:00:00", "1970-01-05 00:00:00", ALGO_CALENDAR_WEEK}, /* a Thursday */
	{"1970-01-04 23:59:59", "1970-01-05 00:00:00", ALGO_CALENDAR_WEEK},
	{"1970-01-05 00:00:00", "1970-01-12 00:00:00", ALGO_CALENDAR_WEEK},
	{"1969-12-29 00:00:00", "1970-01-05 00:00:00", ALGO_CALENDAR_WEEK},
	{"1969-12-28 23:59:59", "1969-12-29 00:00:00", ALGO_CALENDAR_WEEK},
	{"2025-12-31 10:00:00", "2026-01-05 00:00:00", ALGO_CALENDAR_WEEK}, /* ISO week 1 of 2026 began in 2025 */
	{"2025-12-28 23:59:59", "2025-12-29 00:00:00", ALGO_CALENDAR_WEEK},
	{"2024-02-26 00:00:00", "2024-03-04 00:00:00", ALGO_CALENDAR_WEEK},
	{"2024-01-31 23:59:59", "2024-02-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2024-02-01 00:00:00", "2024-03-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2024-02-29 23:59:59", "2024-03-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2023-02-28 23:59:59", "2023-03-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2024-03-31 00:00:00", "2024-04-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2024-04-30 23:59:59", "2024-05-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2024-12-31 23:59:59", "2025-01-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2100-02-28 23:59:59", "2100-03-01 00:00:00", ALGO_CALENDAR_MONTH}, /* no leap year */
	{"2000-02-28 23:59:59", "2000-03-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2000-02-29 23:59:59", "2000-03-01 00:00:00", ALGO_CALENDAR_MONTH}, /* a leap year */
	{"1969-02-28 23:59:59", "1969-03-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"1968-02-28 23:59:59", "1968-03-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"1900-02-28 23:59:59", "1900-03-01 00:00:00", ALGO_CALENDAR_MONTH},
	{"2024-01-01 00:00:00", "2025-01-01 00:00:00", ALGO_CALENDAR_YEAR},
	{"2024-12-31 23:59:59", "2025-01-01 00:00:00", ALGO_CALENDAR_YEAR},
	{"2023-12-31 23:59:59", "2024-01-01 00:00:00", ALGO_CALENDAR_YEAR},
	{"1999-12-31 23:59:59", "2000-01-01 00:00:00", ALGO_CALENDAR_YEAR},
	{"2000-12-31 23:59:59", "2001-01-01 00:00:00", ALGO_CALENDAR_YEAR},
	{"2100-06-01 00:00:00", "2101-01-01 00:00:00", ALGO_CALENDAR_YEAR},
	{"1969-06-01 00:00:00", "1970-01-01 00:00:00", ALGO_CALENDAR_YEAR},
};

struct beat {
	int64_t at, next; /* seconds */
	uint64_t period;
};
static const struct beat beats[] = {
	{0, 60, MINUTE}, {59, 60, MINUTE}, {60, 120, MINUTE}, {-1, 0, MINUTE}, {-60, 0, MINUTE}, {-61, -60, MINUTE},
	{3599, 3600, HOUR}, {86399, 86400, DAY}, {7 * 60, 14 * 60, 7 * MINUTE}, {86400, 86520, 7 * MINUTE},
	{0, 4 * 86400, 7 * DAY}, {4 * 86400, 11 * 86400, 7 * DAY}, {4 * 86400, 18 * 86400, 14 * DAY}, {4 * 86400, 8 * 86400, 8 * DAY},
	{1704067200, 1704067500, 5 * MINUTE},
};
/* clang-format on */

static struct tm midnight_of(const struct tm *tm, int add_days)
{
	return (struct tm){.tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday + add_days};
}

/* The C library counts: from the broken-down time up to the next one of its kind. */
static time_t library_next(enum algo_align align, time_t at)
{
	struct tm tm, next;
	gmtime_r(&at, &tm);
	switch (align) {
	case ALGO_CALENDAR_DAY:
		next = midnight_of(&tm, 1);
		break;
	case ALGO_CALENDAR_WEEK:
		next = midnight_of(&tm, tm.tm_wday == 0 ? 1 : 8 - tm.tm_wday);
		break;
	case ALGO_CALENDAR_MONTH:
		next = (struct tm){.tm_year = tm.tm_year, .tm_mon = tm.tm_mon + 1, .tm_mday = 1};
		break;
	default:
		next = (struct tm){.tm_year = tm.tm_year + 1, .tm_mday = 1};
	}
	return timegm(&next);
}

static int64_t parse(const char *text)
{
	struct tm tm = {0};
	strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
	return (int64_t)timegm(&tm) * (int64_t)SECOND;
}

int main(void)
{
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
		char what[128];
		snprintf(what, sizeof what, "after %s comes %s", edges[i].at, edges[i].next);
		int64_t at = parse(edges[i].at), next = parse(edges[i].next);
		is_u64(align_next(edges[i].align, 0, utc, at), next, what);
		is_u64(align_next(edges[i].align, 0, utc, next - 1), next, "one nanosecond before, too");
	}
	for (size_t i = 0; i < sizeof beats / sizeof *beats; i++)
		is_u64(align_next(ALGO_CLOCK, beats[i].period, utc, beats[i].at * (int64_t)SECOND),
		       beats[i].next * (int64_t)SECOND, "multiples of the period on the wall clock");

	struct claim library = {"the C library's calendar agrees", 0, 0},
		     after = {"strictly after, and nothing between", 0, 0};
	for (int i = 0; i < 400000; i++) {
		enum algo_align align = (enum algo_align)(ALGO_CALENDAR_DAY + i % 4);
		int64_t wall =
			(int64_t)((uint64_t)ALIGN_WALL_MIN +
				  random_below((uint64_t)ALIGN_WALL_MAX - (uint64_t)ALIGN_WALL_MIN + 1));
		if (random_below(2)) /* close to an edge */
			wall = align_next(align, 0, utc, wall / 2) - (int64_t)random_below(3);
		int64_t next = align_next(align, 0, utc, wall);
		time_t seconds = (time_t)(wall / (int64_t)SECOND - (wall % (int64_t)SECOND < 0));
		claim(&library, next == (int64_t)library_next(align, seconds) * (int64_t)SECOND);
		claim(&after, next > wall && align_next(align, 0, utc, next - 1) == next);
	}
	claim_end(&library, 400000);
	claim_end(&after, 400000);

	/* more than one cycle of 400 years: every case there is */
	struct claim days = {"every day of 1824..2256", 0, 0};
	for (int64_t day = -53325; day < 104820; day++) {
		int64_t noon = (day * 86400 + 43200) * (int64_t)SECOND;
		for (int align = ALGO_CALENDAR_DAY; align <= ALGO_CALENDAR_YEAR; align++)
			claim(&days,
			      align_next((enum algo_align)align, 0, utc, noon) ==
				      (int64_t)library_next((enum algo_align)align, day * 86400 + 43200) *
					      (int64_t)SECOND);
	}
	claim_end(&days, 600000);
	return done_testing();
}
