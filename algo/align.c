/* SPDX-License-Identifier: BSD-2-Clause */
/* align: boundaries of clock and calendar. In a zone: how far its clocks have ever shown, the boundary of the
 * calendar after that, and when the clocks get there. */
#include "algo/align.h"

#include "algo/days.h"
#include "algo/zone.h"

#define HOUR_NS	  (DAYS_DAY_NS / 24)
#define WEEK_NS	  (7 * DAYS_DAY_NS)
#define MONDAY_NS (4 * DAYS_DAY_NS) /* 1970-01-05; 1970-01-01 was a Thursday */
#define TURN_NS	  (4 * DAYS_DAY_NS) /* more than two offsets differ, whatever their bits */

static int64_t next_multiple(int64_t wall, int64_t period, int64_t origin)
{
	return (days_floor(wall - origin, period) + 1) * period + origin;
}

static int64_t next_month(int64_t day)
{
	int64_t year = days_year_of(day);
	return days_before_month(year, days_month_of(year, day) + 1);
}

/* The next boundary on clocks that are never changed. */
static int64_t next_steady(enum algo_align align, uint64_t period_ns, int64_t wall)
{
	switch (align) {
	case ALGO_CALENDAR_HOUR:
		return next_multiple(wall, HOUR_NS, 0);
	case ALGO_CALENDAR_DAY:
		return next_multiple(wall, DAYS_DAY_NS, 0);
	case ALGO_CALENDAR_WEEK:
		return next_multiple(wall, WEEK_NS, MONDAY_NS);
	case ALGO_CALENDAR_MONTH:
		return next_month(days_floor(wall, DAYS_DAY_NS)) * DAYS_DAY_NS;
	case ALGO_CALENDAR_YEAR:
		return days_before_year(days_year_of(days_floor(wall, DAYS_DAY_NS)) + 1) * DAYS_DAY_NS;
	case ALGO_FIRST_REQUEST:
	case ALGO_CLOCK:
	case ALGO_BILLING:
		break;
	}
	int64_t period = (int64_t)period_ns;
	return next_multiple(wall, period, period % WEEK_NS == 0 ? MONDAY_NS : 0);
}

static int64_t nanoseconds(int64_t seconds)
{
	return seconds * DAYS_SECOND_NS;
}

/* The latest local time that the clocks have shown up to `wall`, which is in `span`: theirs now, or that of just
 * before they were last set back. */
static int64_t latest_shown(const uint64_t zone[2], struct zone_span span, int64_t wall)
{
	int64_t latest = wall + nanoseconds(span.offset_s);
	while (span.from_s > -ZONE_FAR && nanoseconds(span.from_s) > wall - TURN_NS) {
		int64_t turn = span.from_s;
		span = zone_span_at(zone, turn - 1);
		int64_t shown = nanoseconds(turn + span.offset_s) - 1;
		if (shown > latest)
			latest = shown;
	}
	return latest;
}

/* The first instant, in or after `span`, at which the clocks show `local` or more. */
static int64_t first_showing(const uint64_t zone[2], struct zone_span span, int64_t local)
{
	for (;;) {
		int64_t at = local - nanoseconds(span.offset_s);
		if (at < nanoseconds(span.from_s))
			return nanoseconds(span.from_s); /* the clocks sprang over it */
		if (at < nanoseconds(span.until_s) || span.until_s >= ZONE_FAR)
			return at;
		span = zone_span_at(zone, span.until_s);
	}
}

static struct zone_span span_of(const uint64_t zone[2], int64_t wall)
{
	return zone_span_at(zone, days_floor(wall, DAYS_SECOND_NS));
}

/* The next billing day's midnight after `local`. */
static int64_t next_billing(unsigned day, int64_t local)
{
	int64_t date = days_floor(local, DAYS_DAY_NS), year = days_year_of(date);
	for (unsigned month = days_month_of(year, date);; month++) {
		if (month == 12) {
			month = 0;
			year++;
		}
		int64_t billed = days_before_month(year, month) + day - 1,
			end = days_before_month(year, month + 1);
		if (billed >= end)
			billed = end - 1;
		if (billed > date)
			return billed * DAYS_DAY_NS;
	}
}

int64_t align_billing_next(unsigned day, const uint64_t zone[2], int64_t wall)
{
	struct zone_span span = span_of(zone, wall);
	return first_showing(zone, span, next_billing(day, latest_shown(zone, span, wall)));
}

int64_t align_next(enum algo_align align, uint64_t period_ns, const uint64_t zone[2], int64_t wall)
{
	if (algo_align_day(align))
		return align_billing_next(algo_align_day(align), zone, wall);
	if (align < ALGO_CALENDAR_DAY || zone_is_utc(zone))
		return next_steady(align, period_ns, wall);
	struct zone_span span = span_of(zone, wall);
	return first_showing(zone, span, next_steady(align, 0, latest_shown(zone, span, wall)));
}

uint64_t align_usual(enum algo_align align, uint64_t period_ns)
{
	static const uint16_t hours[] = {[ALGO_CALENDAR_DAY] = 24,
					 [ALGO_CALENDAR_WEEK] = 7 * 24,
					 [ALGO_CALENDAR_MONTH] = 31 * 24,
					 [ALGO_CALENDAR_YEAR] = 366 * 24,
					 [ALGO_CALENDAR_HOUR] = 1};
	if (algo_align_day(align))
		align = ALGO_CALENDAR_MONTH;
	return align < ALGO_CALENDAR_DAY ? period_ns : hours[align] * (uint64_t)HOUR_NS;
}

uint64_t align_shortest(enum algo_align align, uint64_t period_ns, const uint64_t zone[2], int64_t wall)
{
	uint64_t shortest = align_usual(align, period_ns);
	if (align < ALGO_CALENDAR_DAY)
		return shortest;
	int64_t usual = (int64_t)shortest, last = wall + usual;
	int64_t begin = align_next(align, 0, zone, wall - 2 * usual);
	while (begin < last) {
		int64_t end = align_next(align, 0, zone, begin);
		if ((uint64_t)(end - begin) < shortest)
			shortest = (uint64_t)(end - begin);
		begin = end;
	}
	return shortest;
}
