/* SPDX-License-Identifier: BSD-2-Clause */
/* days: the proleptic Gregorian calendar as arithmetic on days since 1970-01-01 (a Thursday). Years 1..9999. */
#ifndef WEIR_ALGO_DAYS_H
#define WEIR_ALGO_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#define DAYS_SECOND_NS INT64_C(1000000000)
#define DAYS_DAY_S     INT64_C(86400)
#define DAYS_DAY_NS    (DAYS_DAY_S * DAYS_SECOND_NS)

static inline int64_t days_floor(int64_t a, int64_t b) /* floor(a / b), b > 0 */
{
	return a / b - (a % b < 0);
}

static inline bool days_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The first of January. */
static inline int64_t days_before_year(int64_t year)
{
	int64_t y = year - 1; /* 719162: the same sum for 1970 */
	return 365 * y + y / 4 - y / 100 + y / 400 - 719162;
}

/* The first of `month` 0..12 (12: of the next January). */
static inline int64_t days_before_month(int64_t year, unsigned month)
{
	static const int16_t before[13] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
	return days_before_year(year) + before[month] + (month > 1 && days_leap(year));
}

static inline int64_t days_year_of(int64_t day)
{
	/* A year has 365.2425 days: the estimate is at most one off. */
	int64_t year = 1970 + days_floor(day * 10000, 3652425);
	if (days_before_year(year) > day)
		year--;
	else if (days_before_year(year + 1) <= day)
		year++;
	return year;
}

/* Month 0..11 of `day`, which is in `year`. */
static inline unsigned days_month_of(int64_t year, int64_t day)
{
	unsigned month = (unsigned)((day - days_before_year(year)) / 32); /* at most one early */
	return month + (days_before_month(year, month + 1) <= day);
}

/* 0 Sunday .. 6 Saturday. */
static inline unsigned days_weekday(int64_t day)
{
	return (unsigned)(day + 4 - days_floor(day + 4, 7) * 7);
}

#endif
