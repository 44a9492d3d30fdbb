/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * align: where the windows that follow the wall clock end. Proleptic Gregorian calendar, no leap seconds (as Unix
 * time), in UTC or on the clocks of a zone (algo/zone.h).
 *
 * On the clocks of a zone a boundary is the first instant whose local hour, date, week, month or year is later than
 * any before it. A midnight that does not exist is the first instant of the new date; an hour that comes twice is
 * one window, and a date never begins again after the clocks went back over its midnight. So boundaries strictly
 * increase, and no window is empty.
 */
#ifndef WEIR_ALGO_ALIGN_H
#define WEIR_ALGO_ALIGN_H

#include "algo/algo.h"

/* Wall times are taken between these: years 1823 to 2257. */
#define ALIGN_WALL_MIN (-(INT64_C(1) << 62))
#define ALIGN_WALL_MAX (INT64_MAX - (INT64_C(1) << 57))

/* Is it one? */
static inline bool align_known(unsigned align)
{
	return align <= ALGO_CALENDAR_HOUR || algo_align_day(align);
}

/* The first boundary strictly after `wall` (ns since 1970-01-01T00:00:00Z). period_ns counts for ALGO_CLOCK only
 * (> 0), the zone for calendars only; any bits of it are defined. At most 366 days (in a zone: and 6), or the
 * period, after `wall`. Not for ALGO_FIRST_REQUEST. */
int64_t align_next(enum algo_align align, uint64_t period_ns, const uint64_t zone[2], int64_t wall);

/* The first instant strictly after `wall` at which a billing period begins: the start of the local day `day` (1..31)
 * of a month, or of the month's last day if it has no such day: 31 is 28 February, 31 March, 30 April. */
int64_t align_billing_next(unsigned day, const uint64_t zone[2], int64_t wall);

/* The length in ns of the shortest window among those that are near `wall` (some window's length, either way), at
 * most the usual: an hour, a day, a week, 31 or 366 days, or the period. A boundary seen closer than half of it to
 * another is the same one on a clock that was corrected. */
uint64_t align_shortest(enum algo_align align, uint64_t period_ns, const uint64_t zone[2], int64_t wall);
uint64_t align_usual(enum algo_align align, uint64_t period_ns);

#endif
