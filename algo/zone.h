/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone: which clocks a calendar window follows, in the two words `numbers.zone`: what POSIX TZ strings and
 * TZif files (RFC 8536) say, packed so that a row of the ledger carries it and every process computes the same
 * boundaries without a file, a lock or the C library. {0, 0} is UTC.
 *
 * zone[0], bits 63..62: the form. The rest, from the highest bit down (signed fields in two's complement):
 *   FIXED  offset 18, 0; zone[1] 0
 *   RULE   standard offset 18, day 12, time 21 of summer's start, 0; zone[1]: summer offset 18, day 12, time 21
 *          of its end, 0. Offsets in seconds east of UTC, times in seconds after that day's midnight on the
 *          clocks before the change (signed). Day: 2 bits 0 and month 4, week 3 (5: the last), weekday 3
 *          (0: Sunday); or 2 bits 1 and day 1..365 without 29 February (Jn); or 2 bits 2 and day 0..365 (n).
 *   LIST   offset 8; of the first change: minutes since 1970 26, of the next: minutes after the one before 20;
 *          offset 8 after the first; zone[1]: offset 8 after the second, minutes 20 to the third, its offset 8,
 *          minutes 20 to the fourth, its offset 8. Offsets in quarters of an hour. 0 minutes: no more changes;
 *          the last offset holds on.
 * A rule is good for ever; a list for as long as its four changes reach, and is packed anew now and then.
 */
#ifndef WEIR_ALGO_ZONE_H
#define WEIR_ALGO_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZONE_OFFSET_MAX 93599  /* 25:59:59, of the tz database's files (RFC 8536, 3.2) */
#define ZONE_TIME_MAX	604799 /* 167:59:59 before or after midnight (RFC 8536, 3.3.1) */
#define ZONE_CHANGES	4

enum zone_day_kind { ZONE_WEEKDAY = 0, ZONE_JULIAN, ZONE_ORDINAL };

/* A day of each year and a time of it: a rule of a POSIX TZ string. */
struct zone_day {
	enum zone_day_kind kind;
	unsigned month, week, weekday; /* ZONE_WEEKDAY: 1..12, 1..5, 0..6 (Mm.w.d) */
	unsigned day;		       /* ZONE_JULIAN: 1..365 (Jn); ZONE_ORDINAL: 0..365 (n) */
	int32_t time_s;
};

struct zone_change {
	int64_t at_s;	  /* seconds since 1970, UTC: from here on */
	int32_t offset_s; /* this is the offset, seconds east of UTC */
};

/* Pack. Each returns false, and leaves zone[] alone, if a value is out of range.
 *   fixed, rule: any offset within ZONE_OFFSET_MAX.
 *   list: changes in order; more than ZONE_CHANGES, and those more than 728 days after the one before, are left
 *         out. Offsets in whole quarters of an hour, changes at whole minutes between 1970 and 2097. */
bool zone_fixed(int32_t offset_s, uint64_t zone[2]);
bool zone_rule(int32_t standard_s, int32_t summer_s, const struct zone_day *start, const struct zone_day *end,
	       uint64_t zone[2]);
bool zone_list(int32_t offset_s, const struct zone_change *changes, size_t count, uint64_t zone[2]);

/* A stretch of time with one offset: from_s <= time < until_s, in seconds since 1970. Neighbours may have the
 * same offset. Bounds that are out of sight are at +-ZONE_FAR. */
#define ZONE_FAR INT64_C(9200000000) /* the years 1678 and 2261; times 10^9 it fits 64 bits */
struct zone_span {
	int64_t from_s, until_s;
	int32_t offset_s;
};

/* Every pattern of bits is defined, and so is every time within +-ZONE_FAR. The one before is at from_s - 1. */
struct zone_span zone_span_at(const uint64_t zone[2], int64_t wall_s);

/* The local time minus UTC, in seconds, at `wall_ns` (ns since 1970, UTC; any): within +-36 hours. */
int32_t zone_offset_at(const uint64_t zone[2], int64_t wall_ns);

/* Something that the functions above pack could look like this. */
bool zone_valid(const uint64_t zone[2]);

static inline bool zone_is_utc(const uint64_t zone[2])
{
	return (zone[0] | zone[1]) == 0;
}

#endif
