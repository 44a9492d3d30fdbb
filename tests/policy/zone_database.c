/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone_database: every zone of the machine's tz database against the C library, which reads the same files in its own
 * way. The library's changes of offset are found by asking it; from them a slow walk in quarters of an hour gives the
 * instants at which a local hour, day, week, month or year is later than any before it. Those must be our boundaries.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "algo/align.h"
#include "algo/zone.h"
#include "policy/zone.h"
#include "tests/algo/common.h"

#define QUARTER	     900
#define DAY_S	     86400
#define NINE_YEARS_S (INT64_C(9) * 366 * DAY_S)
#define CHANGES_MAX  200

enum { UNITS = 5 };
static const enum algo_align aligns[UNITS] = {ALGO_CALENDAR_HOUR, ALGO_CALENDAR_DAY, ALGO_CALENDAR_WEEK,
					      ALGO_CALENDAR_MONTH, ALGO_CALENDAR_YEAR};

/* What the library says of one zone between `from` and `until`. */
struct library {
	int64_t from, until;
	struct zone_change changes[CHANGES_MAX]; /* changes[0].at_s == from */
	size_t count;
	int64_t *boundaries[UNITS]; /* seconds, in order */
	size_t boundary_count[UNITS];
};

static struct claim offsets = {"offsets are the C library's", 0, 0}, units[UNITS] = {{"hours", 0, 0},
										     {"days", 0, 0},
										     {"weeks", 0, 0},
										     {"months", 0, 0},
										     {"years", 0, 0}};
static struct claim quarters = {"the reference's quarters of an hour are fine enough", 0, 0};
static unsigned zones, distinct, listed;
static int64_t shortest_list_s = INT64_MAX;

static int32_t library_offset(int64_t at_s)
{
	struct tm tm;
	time_t at = at_s;
	localtime_r(&at, &tm);
	return (int32_t)tm.tm_gmtoff;
}

static void find_changes(struct library *library)
{
	int32_t offset = library_offset(library->from);
	library->changes[0] = (struct zone_change){library->from, offset};
	library->count = 1;
	for (int64_t day = library->from; day < library->until && library->count < CHANGES_MAX;
	     day += DAY_S) {
		int32_t after = library_offset(day + DAY_S);
		if (after == offset)
			continue;
		int64_t low = day, high = day + DAY_S; /* the change is in (low, high] */
		while (high - low > 1) {
			int64_t middle = low + (high - low) / 2;
			if (library_offset(middle) == offset)
				low = middle;
			else
				high = middle;
		}
		claim(&quarters, high % QUARTER == 0 && after % QUARTER == 0);
		library->changes[library->count++] = (struct zone_change){high, after};
		offset = after;
	}
}

/* Which month of all months a day is in, by the library. */
static int64_t month_of(int64_t day)
{
	struct tm tm;
	time_t noon = day * DAY_S + DAY_S / 2;
	gmtime_r(&noon, &tm);
	return tm.tm_year * INT64_C(12) + tm.tm_mon;
}

static void find_boundaries(struct library *library)
{
	int64_t latest[UNITS] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
	size_t at_change = 0;
	for (int unit = 0; unit < UNITS; unit++)
		library->boundary_count[unit] = 0;
	for (int64_t at = library->from; at < library->until; at += QUARTER) {
		while (at_change + 1 < library->count && library->changes[at_change + 1].at_s <= at)
			at_change++;
		int64_t local = at + library->changes[at_change].offset_s, day = local / DAY_S;
		int64_t now[UNITS] = {local / 3600, day, (day + 3) / 7, latest[3], latest[4]};
		if (day > latest[1]) {
			now[3] = month_of(day);
			now[4] = now[3] / 12;
		}
		for (int unit = 0; unit < UNITS; unit++)
			if (now[unit] > latest[unit]) {
				latest[unit] = now[unit];
				library->boundaries[unit][library->boundary_count[unit]++] = at;
			}
	}
}

static int64_t library_next(const struct library *library, int unit, int64_t wall)
{
	size_t low = 0, high = library->boundary_count[unit];
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (library->boundaries[unit][middle] * (int64_t)SECOND <= wall)
			low = middle + 1;
		else
			high = middle;
	}
	return low < library->boundary_count[unit] ? library->boundaries[unit][low] * (int64_t)SECOND : -1;
}

static void check_at(const struct library *library, const char *name, const uint64_t zone[2], int64_t wall)
{
	int64_t at_s = wall / (int64_t)SECOND;
	size_t last = library->count - 1;
	if (at_s < library->from || at_s >= library->until)
		return;
	while (library->changes[last].at_s > at_s)
		last--;
	if (!claim(&offsets, zone_offset_at(zone, wall) == library->changes[last].offset_s) &&
	    offsets.failed < 20)
		note("%s at %" PRId64 ": %d, not %d", name, at_s, zone_offset_at(zone, wall),
		     library->changes[last].offset_s);
	for (int unit = 0; unit < UNITS; unit++) {
		int64_t expect = library_next(library, unit, wall);
		if (expect < 0)
			continue;
		int64_t next = align_next(aligns[unit], 0, zone, wall);
		if (!claim(&units[unit], next == expect) && units[unit].failed < 20)
			note("%s, unit %d, after %" PRId64 ": %" PRId64 ", not %" PRId64, name, unit, wall,
			     next, expect);
	}
}

/* Zones share clocks: the same words for the same changes of the library need no second look. */
static bool seen_before(const struct library *library, const uint64_t zone[2])
{
	static struct {
		uint64_t zone[2];
		size_t count;
		struct zone_change changes[CHANGES_MAX];
	} seen[400];
	static size_t count;
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;
		while (seen[i].count == library->count && k < library->count &&
		       seen[i].changes[k].at_s == library->changes[k].at_s &&
		       seen[i].changes[k].offset_s == library->changes[k].offset_s)
			k++;
		if (k == library->count && memcmp(seen[i].zone, zone, sizeof seen[i].zone) == 0)
			return true;
	}
	if (count < sizeof seen / sizeof *seen) {
		memcpy(seen[count].zone, zone, sizeof seen[count].zone);
		memcpy(seen[count].changes, library->changes, sizeof library->changes);
		seen[count++].count = library->count;
	}
	return false;
}

static void check_zone(const char *name, int64_t now_s)
{
	static struct library library;
	uint64_t zone[2];
	char why[256] = "", tz[80];
	if (!zone_read(text_of(name), now_s, zone, why, sizeof why)) {
		note("%s: %s", name, why);
		claim(&offsets, false);
		return;
	}
	snprintf(tz, sizeof tz, ":%s", name);
	setenv("TZ", tz, 1);
	tzset();
	for (int unit = 0; unit < UNITS && !library.boundaries[unit]; unit++)
		library.boundaries[unit] = calloc(NINE_YEARS_S / 3600 + 100, sizeof(int64_t));
	library.from = now_s / DAY_S * DAY_S;
	library.until = library.from + NINE_YEARS_S;
	find_changes(&library);
	/* a list is good until the change after its last */
	if (zone[0] >> 62 == 2 && library.count > 1 + ZONE_CHANGES) {
		library.count = 1 + ZONE_CHANGES;
		library.until = library.changes[ZONE_CHANGES].at_s + 20 * DAY_S;
		if (library.until - now_s < shortest_list_s)
			shortest_list_s = library.until - now_s;
	}
	listed += zone[0] >> 62 == 2;
	zones++;
	claim(&offsets, zone_valid(zone));
	if (seen_before(&library, zone))
		return;
	distinct++;
	find_boundaries(&library);
	for (size_t i = 1; i < library.count; i++)
		for (int64_t off = -7200; off <= 7200; off += 1800) {
			int64_t wall = (library.changes[i].at_s + off) * (int64_t)SECOND;
			check_at(&library, name, zone, wall - (int64_t)SECOND);
			check_at(&library, name, zone, wall - 1);
			check_at(&library, name, zone, wall);
			check_at(&library, name, zone, wall + (int64_t)SECOND);
		}
	/* the first boundaries of a unit are not the library's, but where it begins */
	int64_t first = (library.from + 2 * DAY_S) * (int64_t)SECOND, last = library.until * (int64_t)SECOND;
	for (int i = 0; i < 2000; i++)
		check_at(&library, name, zone, first + (int64_t)random_below((uint64_t)(last - first)));
	for (int unit = 1; unit < UNITS; unit++) /* each of them, one after the other */
		for (size_t i = 1; i + 1 < library.boundary_count[unit]; i++)
			claim(&units[unit], align_next(aligns[unit], 0, zone,
						       library.boundaries[unit][i] * (int64_t)SECOND) ==
						    library.boundaries[unit][i + 1] * (int64_t)SECOND);
}

static int is_zone(const struct dirent *entry)
{
	return entry->d_name[0] >= 'A' && entry->d_name[0] <= 'Z';
}

static void check_folder(const char *folder, const char *prefix, int64_t now_s)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_zone, alphasort);
	for (int i = 0; i < count; i++) {
		char path[1024], name[512];
		struct stat is;
		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		snprintf(name, sizeof name, "%s%s", prefix, entries[i]->d_name);
		stat(path, &is);
		if (S_ISDIR(is.st_mode)) {
			strcat(name, "/");
			check_folder(path, name, now_s);
		} else {
			check_zone(name, now_s);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

int main(void)
{
	/* 2025-01-01, 2026-11-30, 2028-02-29 */
	static const int64_t nows[] = {1735689600, 1796000400, 1835438400};
	unsetenv("TZDIR");
	for (size_t i = 0; i < sizeof nows / sizeof *nows; i++) {
		zones = distinct = listed = 0;
		check_folder("/usr/share/zoneinfo", "", nows[i]);
		ok(zones > 400 && distinct > 50, "a whole database of zones");
		note("%u zones, %u of them different, %u as a list", zones, distinct, listed);
	}
	note("a list was good for %" PRId64 " days at least", shortest_list_s / DAY_S);
	ok(shortest_list_s > 400 * (int64_t)DAY_S, "a list is good for more than a year");
	claim_end(&quarters, 1000);
	claim_end(&offsets, 500000);
	for (int unit = 0; unit < UNITS; unit++)
		claim_end(&units[unit], 500000);
	return done_testing();
}
