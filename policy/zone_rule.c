/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_rule: a small descent over std offset [dst [offset] , start[/time] , end[/time]]. */
#include "policy/zone_rule.h"

#include "algo/zone.h"

static bool take(struct text *left, char c)
{
	if (left->size == 0 || left->data[0] != c)
		return false;
	left->data++;
	left->size--;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Three letters or more; between < and > digits and signs too. */
static bool take_name(struct text *left)
{
	bool quoted = take(left, '<');
	size_t size = 0;
	for (; left->size; size++) {
		char c = left->data[0];
		if (!is_letter(c) && !(quoted && (is_digit(c) || c == '+' || c == '-')))
			break;
		take(left, c);
	}
	return size >= 3 && (!quoted || take(left, '>'));
}

static bool take_number(struct text *left, unsigned most, unsigned *out)
{
	unsigned digits = 0;
	for (*out = 0; left->size && is_digit(left->data[0]); digits++) {
		*out = *out * 10 + (unsigned)(left->data[0] - '0');
		if (*out > most)
			return false;
		take(left, left->data[0]);
	}
	return digits > 0;
}

/* [+-]hh[:mm[:ss]] in seconds */
static bool take_time(struct text *left, unsigned most_hours, int32_t *out)
{
	unsigned hours, minutes = 0, seconds = 0;
	bool minus = take(left, '-');
	if (!minus)
		take(left, '+');
	if (!take_number(left, most_hours, &hours))
		return false;
	if (take(left, ':')) {
		if (!take_number(left, 59, &minutes))
			return false;
		if (take(left, ':') && !take_number(left, 59, &seconds))
			return false;
	}
	*out = (int32_t)(hours * 3600 + minutes * 60 + seconds) * (minus ? -1 : 1);
	return true;
}

/* An offset west of UTC, as POSIX has it; *out is east of it. */
static bool take_offset(struct text *left, int32_t *out)
{
	bool good = take_time(left, 24, out);
	*out = -*out;
	return good;
}

static bool take_day(struct text *left, struct zone_day *out)
{
	*out = (struct zone_day){.time_s = 2 * 3600};
	bool good;
	if (!take(left, ','))
		return false;
	if (take(left, 'M')) {
		out->kind = ZONE_WEEKDAY;
		good = take_number(left, 12, &out->month) && take(left, '.') &&
		       take_number(left, 5, &out->week) && take(left, '.') &&
		       take_number(left, 6, &out->weekday);
	} else {
		out->kind = take(left, 'J') ? ZONE_JULIAN : ZONE_ORDINAL;
		good = take_number(left, 365, &out->day);
	}
	return good && (!take(left, '/') || take_time(left, 167, &out->time_s));
}

bool zone_rule_read(struct text text, uint64_t zone[2])
{
	int32_t standard = 0, summer;
	struct zone_day start, end;
	if (!take_name(&text) || !take_offset(&text, &standard))
		return false;
	if (text.size == 0)
		return zone_fixed(standard, zone);
	summer = standard + 3600;
	if (!take_name(&text))
		return false;
	if (text.size && text.data[0] != ',' && !take_offset(&text, &summer))
		return false;
	return take_day(&text, &start) && take_day(&text, &end) && text.size == 0 &&
	       zone_rule(standard, summer, &start, &end, zone);
}
