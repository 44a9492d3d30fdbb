/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_clocks: the clocks of some places, as their rules were in 2026, for the tests of algo. */
#ifndef WEIR_TESTS_ALGO_ZONE_CLOCKS_H
#define WEIR_TESTS_ALGO_ZONE_CLOCKS_H

#include <time.h>

#include "algo/zone.h"
#include "tests/algo/common.h"

enum place {
	UTC,
	BERLIN,
	DUBLIN,
	LORD_HOWE,
	KATHMANDU,
	SANTIAGO,
	HAVANA,
	BEIRUT,
	GAZA,
	NEW_YORK,
	ST_JOHNS, /* as until 2011: the clocks changed at a minute past midnight */
	APIA,	  /* 2011: no 30 December */
	BACK,	  /* the other way over the date line: 9 June 2026 twice */
	CASABLANCA,
	FOREVER, /* summer all year */
	PLACES
};

#define M(month, week, weekday, time) ((struct zone_day){ZONE_WEEKDAY, month, week, weekday, 0, time})

static inline int64_t at_s(const char *utc) /* "2026-03-29 01:00:00" */
{
	struct tm tm = {0};
	strptime(utc, "%Y-%m-%d %H:%M:%S", &tm);
	return (int64_t)timegm(&tm);
}

/* clang-format off */
static const struct {
	const char *name;
	int32_t standard_s, summer_s; /* equal: no summer */
	struct zone_day start, end;
} rules[PLACES] = {
	[UTC] = {"UTC", 0, 0, M(0, 0, 0, 0), M(0, 0, 0, 0)},
	[BERLIN] = {"Berlin", 3600, 7200, M(3, 5, 0, 7200), M(10, 5, 0, 10800)},
	[DUBLIN] = {"Dublin", 3600, 0, M(10, 5, 0, 7200), M(3, 5, 0, 3600)},
	[LORD_HOWE] = {"Lord Howe", 37800, 39600, M(10, 1, 0, 7200), M(4, 1, 0, 7200)},
	[KATHMANDU] = {"Kathmandu", 20700, 20700, M(0, 0, 0, 0), M(0, 0, 0, 0)},
	[SANTIAGO] = {"Santiago", -14400, -10800, M(9, 1, 6, 86400), M(4, 1, 6, 86400)},
	[HAVANA] = {"Havana", -18000, -14400, M(3, 2, 0, 0), M(11, 1, 0, 3600)},
	[BEIRUT] = {"Beirut", 7200, 10800, M(3, 5, 0, 0), M(10, 5, 0, 0)},
	[GAZA] = {"Gaza", 7200, 10800, M(3, 4, 4, 180000), M(10, 4, 4, 180000)},
	[NEW_YORK] = {"New York", -18000, -14400, M(3, 2, 0, 7200), M(11, 1, 0, 7200)},
	[ST_JOHNS] = {"St. John's", -12600, -9000, M(3, 2, 0, 60), M(11, 1, 0, 60)},
	[APIA] = {.name = "Apia"}, [BACK] = {.name = "back over the date line"}, [CASABLANCA] = {.name = "Casablanca"},
	[FOREVER] = {"summer all year", -10800, -14400, {ZONE_ORDINAL, .day = 0}, {ZONE_JULIAN, .day = 365, .time_s = 82800}},
};
/* clang-format on */

static inline bool place_zone(enum place place, uint64_t zone[2])
{
	struct zone_change apia = {at_s("2011-12-30 10:00:00"), 50400};
	struct zone_change back = {at_s("2026-06-09 10:00:00"), -36000};
	struct zone_change casablanca[] = {{at_s("2026-02-15 02:00:00"), 0},
					   {at_s("2026-03-22 02:00:00"), 3600},
					   {at_s("2027-02-07 02:00:00"), 0},
					   {at_s("2027-03-14 02:00:00"), 3600}};
	if (place == APIA)
		return zone_list(-36000, &apia, 1, zone);
	if (place == BACK)
		return zone_list(50400, &back, 1, zone);
	if (place == CASABLANCA)
		return zone_list(3600, casablanca, 4, zone);
	if (rules[place].standard_s == rules[place].summer_s)
		return zone_fixed(rules[place].standard_s, zone);
	return zone_rule(rules[place].standard_s, rules[place].summer_s, &rules[place].start,
			 &rules[place].end, zone);
}

#endif
