/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * billing: a quota for each billing period, through the table: when it begins anew, on which clocks, and what becomes of it
 * when the day of a customer is changed.
 */
#include "algo/align.h"
#include "tests/algo/zone_clocks.h"
#include "tests/table/rig.h"

#define QUOTA  100u
#define ORIGIN (UINT64_C(1) << 40) /* table time of 2026-01-01 */

static struct rig rig;
static struct table *table;
static uint32_t rows[PLACES][32];

static struct algo_time when(const char *utc)
{
	int64_t wall = at_s(utc) * (int64_t)SECOND,
		begin = at_s("2026-01-01 00:00:00") * (int64_t)SECOND - (int64_t)ORIGIN;
	return (struct algo_time){.now = (uint64_t)(wall - begin), .wall = begin};
}

static struct algo_numbers numbers(enum place place, unsigned day)
{
	struct algo_numbers first, n;
	uint64_t zone[2];
	place_zone(place, zone);
	if (!algo_calendar_window(QUOTA, 31 * UINT64_C(86400) * SECOND, ALGO_BILLING_DAY(1), zone, &first) ||
	    !algo_billing_day(&first, day, &n))
		rig_die("numbers", "refused");
	return n;
}

static uint32_t row_of(enum place place, unsigned day)
{
	struct algo_numbers n = numbers(place, day);
	if (rows[place][day])
		return rows[place][day];
	if (ledger_lock(table, 1000) ||
	    ledger_row_for(table, 1 + place, LEDGER_PLAN(0, day), &n, 0, "monthly", 1, &rows[place][day]))
		rig_die("ledger", "row");
	ledger_unlock(table);
	return rows[place][day];
}

static void check_numbers(void)
{
	struct algo_numbers n, out = {.kind = 77}, month, zoned;
	uint64_t zone[2];
	place_zone(BERLIN, zone);
	ok(algo_fixed_window(QUOTA, 31 * UINT64_C(86400) * SECOND, ALGO_BILLING_DAY(1), &n) && algo_valid(&n),
	   "a window of billing days, in UTC");
	ok(algo_billing_day(&n, 31, &out) && algo_valid(&out) && algo_align_day(out.align) == 31,
	   "and for the clients of day 31");
	ok(!algo_billing_day(&n, 0, &out) && !algo_billing_day(&n, 32, &out) &&
		   algo_align_day(out.align) == 31,
	   "there is no day 0 or 32");
	algo_fixed_window(QUOTA, 31 * UINT64_C(86400) * SECOND, ALGO_CALENDAR_MONTH, &month);
	ok(!algo_billing_day(&month, 3, &out), "a calendar month follows no billing day");
	ok(!algo_fixed_window(QUOTA, 31 * UINT64_C(86400) * SECOND, ALGO_BILLING, &out) &&
		   !algo_fixed_window(QUOTA, 31 * UINT64_C(86400) * SECOND, ALGO_BILLING_DAY(32), &out) &&
		   !algo_fixed_window(QUOTA, 31 * UINT64_C(86400) * SECOND, (enum algo_align)7, &out),
	   "alignments that are none are refused");
	for (unsigned align = 0; align < 256; align++) {
		out = n;
		out.align = (uint8_t)align;
		if (algo_valid(&out) != (align <= ALGO_CALENDAR_HOUR || (align >= 33 && align <= 63)))
			ok(false, "an alignment from a file");
	}
	ok(algo_calendar_window(QUOTA, 31 * UINT64_C(86400) * SECOND, ALGO_BILLING_DAY(31), zone, &zoned),
	   "on Berlin's clocks");
	uint64_t differ = 0;
	for (unsigned day = 1; day <= 31; day++)
		for (int64_t at = at_s("2026-01-01 00:00:00"); at < at_s("2028-03-05 00:00:00");
		     at += 13 * 3600)
			differ += align_next(ALGO_BILLING_DAY(day), 0, zone, at * (int64_t)SECOND) !=
				  align_billing_next(day, zone, at * (int64_t)SECOND);
	is_u64(differ, 0, "they end where the billing period ends");
}

/* Each quota is used up at once; the next one is had exactly then. */
static const struct {
	enum place place;
	unsigned day;
	const char *at[8];
	const char *why;
} chains[] = {
	{UTC,
	 31,
	 {"2026-12-31 00:00:00", "2027-01-31 00:00:00", "2027-02-28 00:00:00", "2027-03-31 00:00:00",
	  "2027-04-30 00:00:00", "2027-05-31 00:00:00"},
	 "31, 28 and 30"},
	{UTC, 30, {"2028-01-30 00:00:00", "2028-02-29 00:00:00", "2028-03-30 00:00:00"}, "30, a leap year"},
	{UTC, 29, {"2027-01-29 00:00:00", "2027-02-28 00:00:00", "2027-03-29 00:00:00"}, "29"},
	{UTC, 1, {"2027-12-01 00:00:00", "2028-01-01 00:00:00", "2028-02-01 00:00:00"}, "1"},
	{BERLIN,
	 29,
	 {"2026-02-27 23:00:00", "2026-03-28 23:00:00", "2026-04-28 22:00:00"},
	 "29, the clocks spring"},
	{BERLIN,
	 25,
	 {"2026-09-24 22:00:00", "2026-10-24 22:00:00", "2026-11-24 23:00:00"},
	 "25, they fall back"},
	{SANTIAGO,
	 6,
	 {"2026-08-06 04:00:00", "2026-09-06 04:00:00", "2026-10-06 03:00:00"},
	 "6, no midnight"},
	{HAVANA,
	 1,
	 {"2026-10-01 04:00:00", "2026-11-01 04:00:00", "2026-12-01 05:00:00"},
	 "1, two midnights"},
	{KATHMANDU, 31, {"2027-01-30 18:15:00", "2027-02-27 18:15:00", "2027-03-30 18:15:00"}, "31"},
};

static void check_periods(void)
{
	for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
		uint32_t row = row_of(chains[i].place, chains[i].day);
		struct table_key key = rig_key(table, 100, i);
		for (unsigned k = 0; k < 8 && chains[i].at[k]; k++) {
			char what[160];
			struct table_look look;
			struct algo_time t = when(chains[i].at[k]), early = t;
			snprintf(what, sizeof what, "%s, day %s: %s", rules[chains[i].place].name,
				 chains[i].why, chains[i].at[k]);
			early.now -= SECOND;
			ok(k == 0 || table_charge(table, &key, row, &early, 1, &look) == TABLE_REFUSED, what);
			t.now += SECOND; /* an end is told in ticks */
			is_u64(table_charge(table, &key, row, &t, QUOTA, &look), TABLE_CHARGED,
			       "  the next quota is had from then on");
			is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_REFUSED,
			       "  and no more of it");
		}
	}
}

/* The day of a customer who has used 60 of 100 is changed: he has 40 until the window's new end. */
static const struct {
	const char *changed; /* at; the window began with day `from` on its last boundary before */
	unsigned from, to;
	const char *end, *next; /* of the window in which it was changed, and of the one after it */
	const char *why;
} changes[] = {
	{"2026-09-10 12:00:00", 1, 5, "2026-10-05 00:00:00", "2026-11-05 00:00:00",
	 "a little later: it is longer"},
	{"2026-09-10 12:00:00", 5, 1, "2026-10-01 00:00:00", "2026-11-01 00:00:00",
	 "a little earlier: it is shorter"},
	{"2026-09-10 12:00:00", 1, 28, "2026-09-28 00:00:00", "2026-10-28 00:00:00",
	 "the end of this month is nearest"},
	{"2026-09-10 12:00:00", 1, 15, "2026-10-15 00:00:00", "2026-11-15 00:00:00", "half a month longer"},
	{"2026-10-03 12:00:00", 5, 1, "2026-10-05 00:00:00", "2026-11-01 00:00:00",
	 "the nearest has passed: the end stays"},
	{"2026-09-20 12:00:00", 1, 18, "2026-10-01 00:00:00", "2026-10-18 00:00:00",
	 "nearest has passed, half a month ago"},
	{"2027-02-10 12:00:00", 31, 30, "2027-02-28 00:00:00", "2027-03-30 00:00:00",
	 "both are the last of February"},
	{"2027-02-10 12:00:00", 15, 31, "2027-02-28 00:00:00", "2027-03-31 00:00:00",
	 "nearer than January's"},
	{"2028-02-10 12:00:00", 1, 31, "2028-02-29 00:00:00", "2028-03-31 00:00:00", "a leap day"},
};

static void check_changes(void)
{
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		uint32_t from = row_of(UTC, changes[i].from), to = row_of(UTC, changes[i].to);
		struct table_key key = rig_key(table, 200, i);
		struct algo_time t = when(changes[i].changed), end = when(changes[i].end),
				 next = when(changes[i].next);
		struct table_look look;
		struct algo_report report;
		table_charge(table, &key, from, &t, 60, &look);
		t.now += 3600 * SECOND;
		ok(table_charge(table, &key, to, &t, 1, &look) == TABLE_CHARGED, changes[i].why);
		table_describe(&look, &t, 1, true, &report);
		is_u64(report.remaining, QUOTA - 61, "  what was used stays used");
		is_u64((t.now + report.full_ns) / SECOND, end.now / SECOND, "  until its new end");
		end.now -= SECOND;
		is_u64(table_charge(table, &key, to, &end, 40, &look), TABLE_REFUSED, "  there is one quota");
		is_u64(table_charge(table, &key, to, &end, 39, &look), TABLE_CHARGED, "  all of it");
		end.now += 2 * SECOND;
		is_u64(table_charge(table, &key, to, &end, QUOTA, &look), TABLE_CHARGED, "  then the next");
		next.now -= SECOND;
		is_u64(table_charge(table, &key, to, &next, 1, &look), TABLE_REFUSED, "  which lasts");
		next.now += 2 * SECOND;
		is_u64(table_charge(table, &key, to, &next, QUOTA, &look), TABLE_CHARGED,
		       "  until the new day comes again");
	}
}

/* Whatever day is changed to whatever other, and when: one quota in a window that lasts half to one and a half months, and then
 * one a month. */
static void check_all_changes(void)
{
	unsigned wrong = 0, tried = 0;
	uint64_t seed = 5;
	for (unsigned from = 1; from <= 31; from++)
		for (unsigned to = 1; to <= 31; to++)
			for (unsigned round = 0; round < 6; round++, tried++) {
				struct algo_numbers a = numbers(BERLIN, from), b = numbers(BERLIN, to);
				struct algo_time t = when("2026-03-01 00:00:00");
				struct algo_outcome outcome;
				t.now += rig_random(&seed) % (730 * UINT64_C(86400) * SECOND);
				int64_t wall = (int64_t)t.now + t.wall,
					begin = align_next(a.align, 0, a.zone,
							   wall - 32 * 86400 * (int64_t)SECOND);
				for (int64_t end; (end = align_next(a.align, 0, a.zone, begin)) <= wall;)
					begin = end;
				algo_step(&a, 0, &t, 60, &outcome);
				uint64_t carried = algo_convert(&a, &b, outcome.state, &t);
				struct algo_report report;
				algo_describe(&b, carried, &t, 1, false, &report);
				uint64_t lasts = (uint64_t)((int64_t)(t.now + report.full_ns) + t.wall -
							    begin) /
						 SECOND,
					 day = 86400;
				struct algo_time after = {t.now + report.full_ns + SECOND, t.wall};
				algo_step(&b, carried, &after, 1, &outcome);
				struct algo_report next;
				algo_describe(&b, outcome.state, &after, 1, true, &next);
				wrong += report.remaining != 40 || lasts < 13 * day || lasts > 47 * day ||
					 next.remaining != 99 || next.full_ns / SECOND < 13 * day ||
					 next.full_ns / SECOND > 46 * day;
			}
	is_u64(tried, 31 * 31 * 6, "every day to every other, six times");
	is_u64(wrong, 0, "one quota in half to one and a half months, whatever the day");
}

int main(void)
{
	rig = rig_new(TABLE_SIZE_MIN * 16, 4);
	table = rig_open(&rig);
	check_numbers();
	check_periods();
	check_changes();
	check_all_changes();
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "nothing is broken");
	rig_free(&rig);
	return done_testing();
}
