/* SPDX-License-Identifier: BSD-2-Clause */
/* zone: where windows end on the clocks of some places, hour by hour around their changes; the words' ranges. (Every
 * zone there is: tests/policy/zone_database.c.) */
#include "algo/zone.h"

#include "algo/align.h"
#include "tests/algo/zone_clocks.h"

#define H  ALGO_CALENDAR_HOUR
#define D  ALGO_CALENDAR_DAY
#define W  ALGO_CALENDAR_WEEK
#define Mo ALGO_CALENDAR_MONTH
#define Y  ALGO_CALENDAR_YEAR

/* clang-format off */
static const struct {
	enum place place;
	enum algo_align align;
	const char *at[6]; /* each comes next after the one before; UTC */
	const char *why;
} chains[] = {
	{BERLIN, D, {"2026-03-27 23:00:00", "2026-03-28 23:00:00", "2026-03-29 22:00:00", "2026-03-30 22:00:00"}, "a day of 23 hours"},
	{BERLIN, D, {"2026-10-23 22:00:00", "2026-10-24 22:00:00", "2026-10-25 23:00:00", "2026-10-26 23:00:00"}, "a day of 25 hours"},
	{BERLIN, H, {"2026-03-28 23:00:00", "2026-03-29 00:00:00", "2026-03-29 01:00:00", "2026-03-29 02:00:00"}, "no hour from 2 to 3"},
	{BERLIN, H, {"2026-10-24 23:00:00", "2026-10-25 00:00:00", "2026-10-25 02:00:00", "2026-10-25 03:00:00"}, "2 to 3 comes twice and is one window"},
	{BERLIN, W, {"2026-03-22 23:00:00", "2026-03-29 22:00:00", "2026-04-05 22:00:00"}, "Mondays"},
	{BERLIN, Mo, {"2026-02-28 23:00:00", "2026-03-31 22:00:00", "2026-04-30 22:00:00"}, "first of March, of April, of May"},
	{BERLIN, Y, {"2025-12-31 23:00:00", "2026-12-31 23:00:00", "2027-12-31 23:00:00", "2028-12-31 23:00:00"}, "new years"},
	{DUBLIN, D, {"2026-03-28 00:00:00", "2026-03-29 00:00:00", "2026-03-29 23:00:00", "2026-03-30 23:00:00"}, "spring where winter is the exception"},
	{DUBLIN, D, {"2026-10-24 23:00:00", "2026-10-26 00:00:00", "2026-10-27 00:00:00"}, "autumn"},
	{LORD_HOWE, H, {"2026-04-04 13:00:00", "2026-04-04 14:00:00", "2026-04-04 15:30:00", "2026-04-04 16:30:00"}, "back by half an hour"},
	{LORD_HOWE, H, {"2026-10-03 14:30:00", "2026-10-03 15:30:00", "2026-10-03 16:00:00", "2026-10-03 17:00:00"}, "on by half an hour"},
	{LORD_HOWE, D, {"2026-04-03 13:00:00", "2026-04-04 13:00:00", "2026-04-05 13:30:00", "2026-04-06 13:30:00"}, "24 hours and a half"},
	{KATHMANDU, D, {"2026-11-29 18:15:00", "2026-11-30 18:15:00"}, "a quarter past"},
	{KATHMANDU, H, {"2026-11-29 18:15:00", "2026-11-29 19:15:00"}, "every hour a quarter past"},
	{SANTIAGO, D, {"2026-09-05 04:00:00", "2026-09-06 04:00:00", "2026-09-07 03:00:00"}, "a day that begins at one o'clock"},
	{SANTIAGO, D, {"2026-04-04 03:00:00", "2026-04-05 04:00:00", "2026-04-06 04:00:00"}, "set back at midnight: 25 hours"},
	{SANTIAGO, H, {"2026-04-05 01:00:00", "2026-04-05 02:00:00", "2026-04-05 04:00:00"}, "23 to 24 comes twice"},
	{HAVANA, D, {"2026-03-07 05:00:00", "2026-03-08 05:00:00", "2026-03-09 04:00:00"}, "no midnight"},
	{HAVANA, D, {"2026-10-31 04:00:00", "2026-11-01 04:00:00", "2026-11-02 05:00:00"}, "two midnights: the first counts"},
	{HAVANA, H, {"2026-11-01 03:00:00", "2026-11-01 04:00:00", "2026-11-01 06:00:00"}, "0 to 1 comes twice"},
	{HAVANA, Mo, {"2026-10-01 04:00:00", "2026-11-01 04:00:00", "2026-12-01 05:00:00"}, "November begins at the first of two midnights"},
	{BEIRUT, D, {"2026-10-23 21:00:00", "2026-10-24 22:00:00", "2026-10-25 22:00:00"}, "set back at midnight: it comes later"},
	{BEIRUT, D, {"2026-03-27 22:00:00", "2026-03-28 22:00:00", "2026-03-29 21:00:00"}, "no midnight"},
	{GAZA, D, {"2026-03-26 22:00:00", "2026-03-27 22:00:00", "2026-03-28 21:00:00"}, "50 hours after the fourth Thursday"},
	{NEW_YORK, D, {"2028-02-28 05:00:00", "2028-02-29 05:00:00", "2028-03-01 05:00:00"}, "29 February"},
	{NEW_YORK, Mo, {"2028-02-01 05:00:00", "2028-03-01 05:00:00", "2028-04-01 04:00:00"}, "a February of 29 days"},
	{NEW_YORK, Mo, {"2027-02-01 05:00:00", "2027-03-01 05:00:00"}, "a February of 28 days"},
	{NEW_YORK, Y, {"2027-01-01 05:00:00", "2028-01-01 05:00:00", "2029-01-01 05:00:00"}, "new years"},
	{NEW_YORK, W, {"2025-12-29 05:00:00", "2026-01-05 05:00:00", "2026-01-12 05:00:00"}, "a week in two years"},
	{ST_JOHNS, Mo, {"2026-10-01 02:30:00", "2026-11-01 02:30:00", "2026-12-01 03:30:00"}, "November began, October came back for an hour"},
	{ST_JOHNS, D, {"2026-10-31 02:30:00", "2026-11-01 02:30:00", "2026-11-02 03:30:00"}, "and its day"},
	{ST_JOHNS, H, {"2026-11-01 01:30:00", "2026-11-01 02:30:00", "2026-11-01 04:30:00"}, "and its hour"},
	{APIA, D, {"2011-12-28 10:00:00", "2011-12-29 10:00:00", "2011-12-30 10:00:00", "2011-12-31 10:00:00"}, "after the 29th comes the 31st"},
	{APIA, Mo, {"2011-12-01 10:00:00", "2011-12-31 10:00:00", "2012-01-31 10:00:00"}, "new year"},
	{APIA, W, {"2011-12-26 10:00:00", "2012-01-01 10:00:00"}, "a week of six days"},
	{BACK, D, {"2026-06-07 10:00:00", "2026-06-08 10:00:00", "2026-06-10 10:00:00", "2026-06-11 10:00:00"}, "a date of 48 hours"},
	{CASABLANCA, D, {"2026-02-13 23:00:00", "2026-02-14 23:00:00", "2026-02-16 00:00:00"}, "listed: Ramadan begins"},
	{CASABLANCA, D, {"2027-03-13 00:00:00", "2027-03-14 00:00:00", "2027-03-14 23:00:00", "2027-03-15 23:00:00"}, "listed: and ends"},
	{CASABLANCA, D, {"2040-06-01 23:00:00", "2040-06-02 23:00:00"}, "the last offset holds on"},
	{FOREVER, Y, {"2026-01-01 04:00:00", "2027-01-01 04:00:00", "2028-01-01 04:00:00"}, "no change at new year"},
	{FOREVER, H, {"2026-12-31 23:00:00", "2027-01-01 00:00:00", "2027-01-01 01:00:00"}, "nor in its hours"},
};
/* clang-format on */

static void stories(void)
{
	for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
		uint64_t zone[2];
		char what[160];
		snprintf(what, sizeof what, "%s, %s", rules[chains[i].place].name, chains[i].why);
		ok(place_zone(chains[i].place, zone) && zone_valid(zone), what);
		for (size_t k = 0; k + 1 < 6 && chains[i].at[k + 1]; k++) {
			int64_t at = at_s(chains[i].at[k]) * (int64_t)SECOND,
				next = at_s(chains[i].at[k + 1]) * (int64_t)SECOND;
			is_u64(align_next(chains[i].align, 0, zone, at) / (int64_t)SECOND,
			       next / (int64_t)SECOND, chains[i].at[k + 1]);
			bool between = true;
			for (int n = 0; n < 200; n++)
				between &= align_next(chains[i].align, 0, zone,
						      at + (int64_t)random_below((uint64_t)(next - at))) ==
					   next;
			ok(between && align_next(chains[i].align, 0, zone, next - 1) == next,
			   "and nothing between");
		}
	}
}

/* UTC's own boundaries, and a rule's spans without a hole. */
static void properties(void)
{
	struct claim utc = {"a zone that is UTC by a rule has UTC's boundaries", 0, 0};
	struct claim spans = {"stretches of one offset follow each other without a hole", 0, 0};
	struct zone_day start = M(3, 5, 0, 7200), end = M(10, 5, 0, 7200);
	uint64_t zone[2], none[2] = {0, 0};
	ok(zone_fixed(0, zone) && zone_is_utc(zone), "no offset is UTC");
	ok(zone_rule(0, 0, &start, &end, zone) && !zone_is_utc(zone), "a rule that changes nothing");
	for (int i = 0; i < 200000; i++) {
		int64_t wall =
			(int64_t)((uint64_t)ALIGN_WALL_MIN +
				  random_below((uint64_t)ALIGN_WALL_MAX - (uint64_t)ALIGN_WALL_MIN + 1));
		enum algo_align align = (enum algo_align)(ALGO_CALENDAR_DAY + i % 5);
		claim(&utc, align_next(align, 0, zone, wall) == align_next(align, 0, none, wall));
		uint64_t other[2];
		place_zone((enum place)random_below(PLACES), other);
		struct zone_span span = zone_span_at(other, wall / (int64_t)SECOND);
		claim(&spans, span.from_s <= wall / (int64_t)SECOND &&
				      wall / (int64_t)SECOND < span.until_s &&
				      (span.until_s == ZONE_FAR ||
				       zone_span_at(other, span.until_s).from_s == span.until_s) &&
				      (span.from_s == -ZONE_FAR ||
				       zone_span_at(other, span.from_s - 1).until_s == span.from_s));
	}
	claim_end(&utc, 200000);
	claim_end(&spans, 200000);
}

/* Days that leap years count in two ways. */
static void leap_days(void)
{
	const struct zone_day julian = {ZONE_JULIAN, .day = 60}, ordinal = {ZONE_ORDINAL, .day = 59},
			      end = {ZONE_JULIAN, .day = 300};
	uint64_t zone[2];
	ok(zone_rule(0, 3600, &julian, &end, zone), "J60");
	is_u64(zone_offset_at(zone, at_s("2028-02-29 12:00:00") * (int64_t)SECOND), 0, "is not 29 February");
	is_u64(zone_offset_at(zone, at_s("2028-03-01 00:00:00") * (int64_t)SECOND), 3600,
	       "but 1 March in a leap year");
	is_u64(zone_offset_at(zone, at_s("2027-03-01 00:00:00") * (int64_t)SECOND), 3600, "and in others");
	is_u64(zone_offset_at(zone, at_s("2027-02-28 23:59:59") * (int64_t)SECOND), 0, "no earlier");
	ok(zone_rule(0, 3600, &ordinal, &end, zone), "day 59");
	is_u64(zone_offset_at(zone, at_s("2028-02-28 23:59:59") * (int64_t)SECOND), 0, "not 28 February");
	is_u64(zone_offset_at(zone, at_s("2028-02-29 00:00:00") * (int64_t)SECOND), 3600,
	       "is 29 February in a leap year");
	is_u64(zone_offset_at(zone, at_s("2027-02-28 23:59:59") * (int64_t)SECOND), 0, "and not in others");
	is_u64(zone_offset_at(zone, at_s("2027-03-01 00:00:00") * (int64_t)SECOND), 3600, "but 1 March");
}

static void ranges(void)
{
	uint64_t zone[2] = {5, 6};
	struct zone_day good = M(3, 5, 0, 7200), bad[] = {M(0, 1, 0, 0),
							  M(13, 1, 0, 0),
							  M(1, 0, 0, 0),
							  M(1, 6, 0, 0),
							  M(1, 1, 7, 0),
							  M(1, 1, 0, 604800),
							  M(1, 1, 0, -604800),
							  {ZONE_JULIAN, .day = 0},
							  {ZONE_JULIAN, .day = 366},
							  {ZONE_ORDINAL, .day = 366},
							  {(enum zone_day_kind)3, 1, 1, 1, 1, 1}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!zone_rule(0, 3600, &bad[i], &good, zone) && !zone_rule(0, 3600, &good, &bad[i], zone),
		   "a day out of range");
	ok(!zone_fixed(ZONE_OFFSET_MAX + 1, zone) && !zone_fixed(-ZONE_OFFSET_MAX - 1, zone) &&
		   !zone_rule(0, ZONE_OFFSET_MAX + 1, &good, &good, zone),
	   "an offset out of range");
	const struct zone_change changes[][2] = {{{59, 900}},
						 {{60, 901}},
						 {{0, 900}},
						 {{-60, 900}},
						 {{INT64_C(60) << 26, 900}},
						 {{600, 900}, {600, 0}},
						 {{600, 900}, {540, 0}}};
	for (size_t i = 0; i < 5; i++)
		ok(!zone_list(0, changes[i], 1, zone), "a change out of range");
	ok(!zone_list(0, changes[5], 2, zone) && !zone_list(0, changes[6], 2, zone), "changes out of order");
	ok(!zone_list(1, changes[0], 0, zone), "an offset between quarters");
	is_u64(zone[0] + zone[1], 11, "nothing was written");
	const struct zone_change far[] = {{600, 900}, {600 + (INT64_C(60) << 20), 1800}};
	ok(zone_list(0, far, 2, zone), "a change two years after another");
	is_u64(zone_offset_at(zone, INT64_C(4000000000000000000)), 900, "is not reached");
	zone[0] = UINT64_MAX;
	ok(!zone_valid(zone), "an unknown form is not valid");
	is_u64(zone_offset_at(zone, 0), 0, "and is UTC");

	struct algo_numbers n;
	memset(&n, 0x5a, sizeof n);
	place_zone(BERLIN, zone);
	ok(!algo_calendar_window(1, DAY, ALGO_CLOCK, zone, &n) &&
		   !algo_calendar_window(1, DAY, ALGO_FIRST_REQUEST, zone, &n) &&
		   !algo_calendar_window(1, DAY, (enum algo_align)(ALGO_CALENDAR_HOUR + 1), zone, &n),
	   "only calendars have a zone");
	uint64_t senseless[2] = {zone[0] | 1, zone[1]};
	ok(!algo_calendar_window(1, DAY, ALGO_CALENDAR_DAY, senseless, &n), "senseless words are refused");
	is_u64(n.kind, 0x5a, "nothing was written");
	ok(algo_calendar_window(1, DAY, ALGO_CALENDAR_DAY, zone, &n) && algo_valid(&n),
	   "a window of Berlin's days");
	n.zone[0] |= 1;
	ok(!algo_valid(&n), "forged words are not valid");
	ok(algo_calendar_window(1, DAY, ALGO_CALENDAR_HOUR, (uint64_t[2]){0, 0}, &n) && algo_valid(&n),
	   "hours of UTC");
}

int main(void)
{
	stories();
	properties();
	leap_days();
	ranges();
	return done_testing();
}
