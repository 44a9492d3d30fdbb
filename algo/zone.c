/* SPDX-License-Identifier: BSD-2-Clause */
/* zone: the two words packed, read and asked. Fields that no packer writes are clamped, never refused, here. */
#include "algo/zone.h"

#include "algo/days.h"

enum form { FIXED = 0, RULE, LIST, UNKNOWN };

#define QUARTER_S INT64_C(900)

static uint64_t field(uint64_t word, unsigned low, unsigned bits)
{
	return word >> low & ((UINT64_C(1) << bits) - 1);
}

static int32_t signed_field(uint64_t word, unsigned low, unsigned bits)
{
	return (int32_t)((int64_t)(word << (64 - low - bits)) >> (64 - bits));
}

/* `value` in two's complement of `bits` bits. */
static uint64_t put(int64_t value, unsigned low, unsigned bits)
{
	return field((uint64_t)value, 0, bits) << low;
}

static enum form form_of(const uint64_t zone[2])
{
	return (enum form)(zone[0] >> 62);
}

static unsigned clamp(unsigned value, unsigned least, unsigned most)
{
	return value < least ? least : value > most ? most : value;
}

/* The rule's half in `word`: offset 18, day 12, time 21 bits, the lowest of them at `low`. */
static struct zone_day day_of(uint64_t word, unsigned low)
{
	unsigned day = (unsigned)field(word, low + 21, 12);
	return (struct zone_day){
		.kind = (enum zone_day_kind)clamp(day >> 10, 0, ZONE_ORDINAL),
		.month = clamp(day >> 6 & 15, 1, 12),
		.week = clamp(day >> 3 & 7, 1, 5),
		.weekday = clamp(day & 7, 0, 6),
		.day = day & 1023,
		.time_s = signed_field(word, low, 21),
	};
}

/* The day that `day` means in `year`, in days since 1970. */
static int64_t date_of(const struct zone_day *day, int64_t year)
{
	if (day->kind == ZONE_ORDINAL)
		return days_before_year(year) + clamp(day->day, 0, 365);
	if (day->kind == ZONE_JULIAN) {
		unsigned n = clamp(day->day, 1, 365);
		return days_before_year(year) + n - 1 + (n > 59 && days_leap(year));
	}
	int64_t first = days_before_month(year, day->month - 1);
	int64_t date = first + (day->weekday + 7 - days_weekday(first)) % 7 + INT64_C(7) * (day->week - 1);
	return date < days_before_month(year, day->month) ? date : date - 7;
}

struct yearly {
	struct zone_day day;
	int32_t offset_s; /* before it */
};

static int64_t yearly_at(const struct yearly *yearly, int64_t year)
{
	return date_of(&yearly->day, year) * DAYS_DAY_S + yearly->day.time_s - yearly->offset_s;
}

/* The last of the yearly changes at or before `wall_s`, and the next. A time far from its day may bring it into
 * the year before or after. */
static void yearly_around(const struct yearly *yearly, int64_t wall_s, int64_t year, int64_t *last,
			  int64_t *next)
{
	int64_t at = yearly_at(yearly, year);
	if (at <= wall_s) {
		do
			*last = at;
		while ((at = yearly_at(yearly, ++year)) <= wall_s);
		*next = at;
	} else {
		do
			*next = at;
		while ((at = yearly_at(yearly, --year)) > wall_s);
		*last = at;
	}
}

static struct zone_span rule_span(const uint64_t zone[2], int64_t wall_s)
{
	int32_t standard = signed_field(zone[0], 44, 18), summer = signed_field(zone[1], 46, 18);
	struct yearly start = {day_of(zone[0], 11), standard}, end = {day_of(zone[1], 13), summer};
	int64_t year = days_year_of(days_floor(wall_s, DAYS_DAY_S)), last[2], next[2];
	yearly_around(&start, wall_s, year, &last[0], &next[0]);
	yearly_around(&end, wall_s, year, &last[1], &next[1]);
	/* both at once: summer ends and begins, so it is summer all year (RFC 8536, 3.3.1) */
	bool is_summer = last[0] >= last[1];
	return (struct zone_span){
		.from_s = is_summer ? last[0] : last[1],
		.until_s = next[0] < next[1] ? next[0] : next[1],
		.offset_s = is_summer ? summer : standard,
	};
}

/* Unpack; changes[].at_s strictly increases. */
static size_t list_changes(const uint64_t zone[2], struct zone_change changes[ZONE_CHANGES])
{
	const uint64_t minutes[ZONE_CHANGES] = {field(zone[0], 28, 26), field(zone[0], 8, 20),
						field(zone[1], 36, 20), field(zone[1], 8, 20)};
	const int32_t quarters[ZONE_CHANGES] = {signed_field(zone[0], 0, 8), signed_field(zone[1], 56, 8),
						signed_field(zone[1], 28, 8), signed_field(zone[1], 0, 8)};
	uint64_t at = 0;
	size_t count = 0;
	for (; count < ZONE_CHANGES && minutes[count]; count++) {
		at += minutes[count];
		changes[count].at_s = (int64_t)at * 60;
		changes[count].offset_s = quarters[count] * (int32_t)QUARTER_S;
	}
	return count;
}

static struct zone_span list_span(const uint64_t zone[2], int64_t wall_s)
{
	struct zone_change changes[ZONE_CHANGES];
	size_t count = list_changes(zone, changes);
	struct zone_span span = {-ZONE_FAR, ZONE_FAR, signed_field(zone[0], 54, 8) * (int32_t)QUARTER_S};
	for (size_t i = 0; i < count; i++) {
		if (wall_s < changes[i].at_s) {
			span.until_s = changes[i].at_s;
			break;
		}
		span.from_s = changes[i].at_s;
		span.offset_s = changes[i].offset_s;
	}
	return span;
}

struct zone_span zone_span_at(const uint64_t zone[2], int64_t wall_s)
{
	struct zone_span span = {-ZONE_FAR, ZONE_FAR, 0};
	if (form_of(zone) == FIXED)
		span.offset_s = signed_field(zone[0], 44, 18);
	else if (form_of(zone) == RULE)
		span = rule_span(zone, wall_s);
	else if (form_of(zone) == LIST)
		span = list_span(zone, wall_s);
	if (span.from_s < -ZONE_FAR)
		span.from_s = -ZONE_FAR;
	if (span.until_s > ZONE_FAR)
		span.until_s = ZONE_FAR;
	return span;
}

int32_t zone_offset_at(const uint64_t zone[2], int64_t wall_ns)
{
	return zone_is_utc(zone) ? 0 : zone_span_at(zone, days_floor(wall_ns, DAYS_SECOND_NS)).offset_s;
}

static bool offset_good(int32_t offset_s)
{
	return offset_s >= -ZONE_OFFSET_MAX && offset_s <= ZONE_OFFSET_MAX;
}

static bool day_good(const struct zone_day *day)
{
	if (day->time_s < -ZONE_TIME_MAX || day->time_s > ZONE_TIME_MAX)
		return false;
	switch (day->kind) {
	case ZONE_WEEKDAY:
		return day->month >= 1 && day->month <= 12 && day->week >= 1 && day->week <= 5 &&
		       day->weekday <= 6;
	case ZONE_JULIAN:
		return day->day >= 1 && day->day <= 365;
	case ZONE_ORDINAL:
		return day->day <= 365;
	}
	return false;
}

static uint64_t put_half(int32_t offset_s, const struct zone_day *day, unsigned low)
{
	uint64_t bits = day->kind == ZONE_WEEKDAY ? day->month << 6 | day->week << 3 | day->weekday
						  : day->day;
	return put(offset_s, low + 33, 18) | put(day->kind, low + 31, 2) | put((int64_t)bits, low + 21, 10) |
	       put(day->time_s, low, 21);
}

bool zone_fixed(int32_t offset_s, uint64_t zone[2])
{
	if (!offset_good(offset_s))
		return false;
	zone[0] = put(FIXED, 62, 2) | put(offset_s, 44, 18);
	zone[1] = 0;
	return true;
}

bool zone_rule(int32_t standard_s, int32_t summer_s, const struct zone_day *start, const struct zone_day *end,
	       uint64_t zone[2])
{
	if (!offset_good(standard_s) || !offset_good(summer_s) || !day_good(start) || !day_good(end))
		return false;
	zone[0] = put(RULE, 62, 2) | put_half(standard_s, start, 11);
	zone[1] = put_half(summer_s, end, 13);
	return true;
}

static bool quarters_good(int32_t offset_s)
{
	return offset_good(offset_s) && offset_s % QUARTER_S == 0;
}

bool zone_list(int32_t offset_s, const struct zone_change *changes, size_t count, uint64_t zone[2])
{
	int64_t minutes[ZONE_CHANGES] = {0}, quarters[ZONE_CHANGES] = {0}, before = 0;
	if (!quarters_good(offset_s))
		return false;
	for (size_t i = 0; i < count && i < ZONE_CHANGES; i++) {
		int64_t at = changes[i].at_s;
		if (at % 60 || at <= before || !quarters_good(changes[i].offset_s) ||
		    (i == 0 && at / 60 >> 26))
			return false;
		if (i > 0 && (at - before) / 60 >> 20)
			break;
		minutes[i] = (at - before) / 60;
		quarters[i] = changes[i].offset_s / QUARTER_S;
		before = at;
	}
	zone[0] = put(LIST, 62, 2) | put(offset_s / QUARTER_S, 54, 8) | put(minutes[0], 28, 26) |
		  put(minutes[1], 8, 20) | put(quarters[0], 0, 8);
	zone[1] = put(quarters[1], 56, 8) | put(minutes[2], 36, 20) | put(quarters[2], 28, 8) |
		  put(minutes[3], 8, 20) | put(quarters[3], 0, 8);
	return true;
}

/* What is unpacked is in range, and packing it gives the same bits. */
bool zone_valid(const uint64_t zone[2])
{
	uint64_t again[2] = {0};
	bool packed = false;
	if (form_of(zone) == FIXED) {
		packed = zone_fixed(signed_field(zone[0], 44, 18), again);
	} else if (form_of(zone) == RULE) {
		struct zone_day start = day_of(zone[0], 11), end = day_of(zone[1], 13);
		packed = zone_rule(signed_field(zone[0], 44, 18), signed_field(zone[1], 46, 18), &start, &end,
				   again);
	} else if (form_of(zone) == LIST) {
		struct zone_change changes[ZONE_CHANGES];
		size_t count = list_changes(zone, changes);
		packed = zone_list(signed_field(zone[0], 54, 8) * (int32_t)QUARTER_S, changes, count, again);
	}
	return packed && again[0] == zone[0] && again[1] == zone[1];
}
