/* SPDX-License-Identifier: BSD-2-Clause */
/* align: boundaries of clock and calendar, as arithmetic on days since 1970. */
#include "algo/align.h"

#define DAY_NS	  (INT64_C(86400) * 1000000000)
#define WEEK_NS	  (7 * DAY_NS)
#define MONDAY_NS (4 * DAY_NS) /* 1970-01-05; 1970-01-01 was a Thursday */

static int64_t floor_div(int64_t a, int64_t b) /* b > 0 */
{
	return a / b - (a % b < 0);
}

static int64_t next_multiple(int64_t wall, int64_t period, int64_t origin)
{
	return (floor_div(wall - origin, period) + 1) * period + origin;
}

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970-01-01 to the first of January of `year` > 0. */
static int64_t days_before_year(int64_t year)
{
	int64_t y = year - 1; /* 719162: the same sum for 1970 */
	return 365 * y + y / 4 - y / 100 + y / 400 - 719162;
}

static int64_t year_of(int64_t day)
{
	/* A year has 365.2425 days: the estimate is at most one off. */
	int64_t year = 1970 + floor_div(day * 10000, 3652425);
	if (days_before_year(year) > day)
		year--;
	else if (days_before_year(year + 1) <= day)
		year++;
	return year;
}

static int64_t next_month(int64_t day)
{
	static const int16_t ends[12] = {31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
	int64_t year = year_of(day), first = days_before_year(year);
	for (unsigned month = 0;; month++) {
		int64_t end = first + ends[month] + (month > 0 && is_leap(year));
		if (end > day)
			return end;
	}
}

int64_t align_next(enum algo_align align, uint64_t period_ns, int64_t wall)
{
	switch (align) {
	case ALGO_CALENDAR_HOUR:
		return next_multiple(wall, DAY_NS / 24, 0);
	case ALGO_CALENDAR_DAY:
		return next_multiple(wall, DAY_NS, 0);
	case ALGO_CALENDAR_WEEK:
		return next_multiple(wall, WEEK_NS, MONDAY_NS);
	case ALGO_CALENDAR_MONTH:
		return next_month(floor_div(wall, DAY_NS)) * DAY_NS;
	case ALGO_CALENDAR_YEAR:
		return days_before_year(year_of(floor_div(wall, DAY_NS)) + 1) * DAY_NS;
	case ALGO_FIRST_REQUEST:
	case ALGO_CLOCK:
		break;
	}
	int64_t period = (int64_t)period_ns;
	return next_multiple(wall, period, period % WEEK_NS == 0 ? MONDAY_NS : 0);
}
