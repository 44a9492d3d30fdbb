/* SPDX-License-Identifier: BSD-2-Clause */
/* billing: the day of the month on which a billing period begins: 31 is the last day of a shorter month, and 31 again in
 * the next long one; at the start of that local day, whatever the clocks do. */
#include "algo/align.h"
#include "tests/algo/zone_clocks.h"

/* clang-format off */
static const struct {
	enum place place;
	unsigned day;
	const char *at[14]; /* each comes next after the one before; UTC */
	const char *why;
} chains[] = {
	{UTC, 31, {"2026-12-31 00:00:00", "2027-01-31 00:00:00", "2027-02-28 00:00:00", "2027-03-31 00:00:00", "2027-04-30 00:00:00",
		   "2027-05-31 00:00:00", "2027-06-30 00:00:00", "2027-07-31 00:00:00", "2027-08-31 00:00:00", "2027-09-30 00:00:00"}, "31"},
	{UTC, 30, {"2028-01-30 00:00:00", "2028-02-29 00:00:00", "2028-03-30 00:00:00", "2028-04-30 00:00:00"}, "30, a leap year"},
	{UTC, 29, {"2027-01-29 00:00:00", "2027-02-28 00:00:00", "2027-03-29 00:00:00"}, "29, no leap year"},
	{UTC, 29, {"2028-01-29 00:00:00", "2028-02-29 00:00:00", "2028-03-29 00:00:00"}, "29, a leap year"},
	{UTC, 1, {"2027-12-01 00:00:00", "2028-01-01 00:00:00", "2028-02-01 00:00:00"}, "1, over the new year"},
	{UTC, 28, {"2100-01-28 00:00:00", "2100-02-28 00:00:00", "2100-03-28 00:00:00"}, "28"},
	{UTC, 31, {"2100-01-31 00:00:00", "2100-02-28 00:00:00", "2100-03-31 00:00:00"}, "31, a century without a leap year"},
	{BERLIN, 31, {"2026-01-30 23:00:00", "2026-02-27 23:00:00", "2026-03-30 22:00:00", "2026-04-29 22:00:00"}, "31"},
	{BERLIN, 29, {"2026-02-27 23:00:00", "2026-03-28 23:00:00", "2026-04-28 22:00:00"}, "29, the day the clocks spring"},
	{BERLIN, 25, {"2026-09-24 22:00:00", "2026-10-24 22:00:00", "2026-11-24 23:00:00"}, "25, the day they fall back"},
	{SANTIAGO, 6, {"2026-08-06 04:00:00", "2026-09-06 04:00:00", "2026-10-06 03:00:00"}, "6, the day without a midnight"},
	{BEIRUT, 25, {"2026-09-24 21:00:00", "2026-10-24 22:00:00", "2026-11-24 22:00:00"}, "25, the clocks fall back at its midnight"},
	{HAVANA, 1, {"2026-10-01 04:00:00", "2026-11-01 04:00:00", "2026-12-01 05:00:00"}, "1, two midnights"},
	{ST_JOHNS, 1, {"2026-10-01 02:30:00", "2026-11-01 02:30:00", "2026-12-01 03:30:00"}, "1, the date begins twice"},
	{ST_JOHNS, 31, {"2026-09-30 02:30:00", "2026-10-31 02:30:00", "2026-11-30 03:30:00"}, "31, the date comes back for an hour"},
	{APIA, 30, {"2011-11-30 10:00:00", "2011-12-30 10:00:00", "2012-01-29 10:00:00"}, "30, which does not exist: the first instant after it"},
	{BACK, 9, {"2026-05-08 10:00:00", "2026-06-08 10:00:00", "2026-07-09 10:00:00"}, "9, which comes twice"},
	{KATHMANDU, 31, {"2027-01-30 18:15:00", "2027-02-27 18:15:00", "2027-03-30 18:15:00"}, "31"},
};
/* clang-format on */

static int64_t ns(const char *utc)
{
	return at_s(utc) * (int64_t)SECOND;
}

static void stories(void)
{
	for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
		uint64_t zone[2];
		place_zone(chains[i].place, zone);
		for (size_t k = 0; k + 1 < 14 && chains[i].at[k + 1]; k++) {
			char what[160];
			snprintf(what, sizeof what, "%s, day %s: %s", rules[chains[i].place].name,
				 chains[i].why, chains[i].at[k + 1]);
			int64_t at = ns(chains[i].at[k]), next = ns(chains[i].at[k + 1]);
			is_u64(align_billing_next(chains[i].day, zone, at), next, what);
			is_u64(align_billing_next(chains[i].day, zone, next - 1), next,
			       "and nothing between");
		}
	}
}

/* Slowly: quarter of an hour by quarter, the first at which the local date, never seen before, is that of the day or the
 * month's last. */
static void slowly(enum place place, const char *from, struct claim *claims)
{
	uint64_t zone[2];
	place_zone(place, zone);
	int64_t last[32], latest = INT64_MIN, begin = at_s(from);
	for (unsigned day = 1; day <= 31; day++)
		last[day] = 0;
	for (int64_t at = begin; at < begin + INT64_C(4) * 366 * 86400; at += 900) {
		time_t local = at + zone_offset_at(zone, at * (int64_t)SECOND), tomorrow = local + 86400;
		if (local / 86400 <= latest)
			continue;
		latest = local / 86400;
		struct tm today, next;
		gmtime_r(&local, &today);
		gmtime_r(&tomorrow, &next);
		for (unsigned day = 1; day <= 31; day++) {
			bool billed = today.tm_mday == (int)day ||
				      (next.tm_mday == 1 && today.tm_mday < (int)day);
			if (!billed || at == begin)
				continue;
			if (last[day]) {
				int64_t between = last[day] +
						  (int64_t)random_below((uint64_t)(at - last[day]));
				claim(claims, align_billing_next(day, zone, last[day] * (int64_t)SECOND) ==
						      at * (int64_t)SECOND);
				claim(claims, align_billing_next(day, zone, between * (int64_t)SECOND) ==
						      at * (int64_t)SECOND);
			}
			last[day] = at;
		}
	}
}

int main(void)
{
	stories();
	struct claim walked = {"every day of four years with 29 February, slowly", 0, 0};
	for (enum place place = 0; place < PLACES; place++)
		if (place != ST_JOHNS &&
		    place != APIA) /* changes between quarters; a billing day that is skipped */
			slowly(place, "2025-12-01 00:00:00", &walked);
	claim_end(&walked, 30000);
	return done_testing();
}
