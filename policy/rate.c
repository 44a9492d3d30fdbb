/* SPDX-License-Identifier: BSD-2-Clause */
/* rate: reading "5 per 15 minutes" and its spellings. */
#include "policy/rate.h"

#include <stdio.h>

#include "policy/suggest.h"

static const struct {
	const char *word;
	enum rate_unit unit;
} spellings[] = {
	{"ms", RATE_MS},      {"millisecond", RATE_MS}, {"milliseconds", RATE_MS}, {"s", RATE_S},
	{"sec", RATE_S},      {"secs", RATE_S},		{"second", RATE_S},	   {"seconds", RATE_S},
	{"min", RATE_MIN},    {"mins", RATE_MIN},	{"minute", RATE_MIN},	   {"minutes", RATE_MIN},
	{"h", RATE_HOUR},     {"hour", RATE_HOUR},	{"hours", RATE_HOUR},	   {"d", RATE_DAY},
	{"day", RATE_DAY},    {"days", RATE_DAY},	{"w", RATE_WEEK},	   {"week", RATE_WEEK},
	{"weeks", RATE_WEEK}, {"month", RATE_MONTH},	{"months", RATE_MONTH},	   {"y", RATE_YEAR},
	{"year", RATE_YEAR},  {"years", RATE_YEAR},
};

static const struct {
	const char *word;
	uint64_t ns;
} units[] = {
	[RATE_MS] = {"ms", 1000000},
	[RATE_S] = {"s", RATE_NS_S},
	[RATE_MIN] = {"min", 60 * RATE_NS_S},
	[RATE_HOUR] = {"hour", 3600 * RATE_NS_S},
	[RATE_DAY] = {"day", RATE_NS_DAY},
	[RATE_WEEK] = {"week", 7 * RATE_NS_DAY},
	[RATE_MONTH] = {"month", UINT64_C(2629746) * RATE_NS_S},
	[RATE_YEAR] = {"year", UINT64_C(31556952) * RATE_NS_S},
};

#define SHOWN(text) (int)((text).size < 40 ? (text).size : 40), ((text).data ? (text).data : "")

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static void skip_blanks(struct text *rest)
{
	while (rest->size && rest->data[0] == ' ')
		rest->data++, rest->size--;
}

static bool skip(struct text *rest, const char *word)
{
	size_t size = strlen(word);
	if (rest->size < size || !text_equal_folded((struct text){rest->data, size}, text_of(word)))
		return false;
	rest->data += size;
	rest->size -= size;
	return true;
}

bool rate_decimal(struct text *rest, uint64_t *thousandths)
{
	uint64_t value = 0;
	size_t at = 0, decimals = 0;
	while (at < rest->size && digit(rest->data[at]) && value < UINT64_C(10000000000000))
		value = value * 10 + (uint64_t)(rest->data[at++] - '0');
	if (at == 0 || (at < rest->size && digit(rest->data[at])))
		return false;
	if (at + 1 < rest->size && rest->data[at] == '.' && digit(rest->data[at + 1]))
		for (at++; at < rest->size && digit(rest->data[at]) && decimals < 3; decimals++)
			value = value * 10 + (uint64_t)(rest->data[at++] - '0');
	if (at < rest->size && digit(rest->data[at]))
		return false;
	for (; decimals < 3; decimals++)
		value *= 10;
	rest->data += at;
	rest->size -= at;
	*thousandths = value;
	return true;
}

static bool read_unit(struct text word, enum rate_unit *unit, char *why, size_t size)
{
	if (text_equal_folded(word, TEXT("m")) || text_equal_folded(word, TEXT("mo")) ||
	    text_equal_folded(word, TEXT("mon"))) {
		snprintf(why, size, "'%.*s' could be a minute or a month; write min or month", SHOWN(word));
		return false;
	}
	struct suggest suggest = suggest_begin(word);
	for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
		struct text spelling = text_of(spellings[i].word);
		if (text_equal_folded(word, spelling)) {
			*unit = spellings[i].unit;
			return true;
		}
		if (spelling.size > 2)
			suggest_offer(&suggest, spelling);
	}
	if (suggest.best.size)
		snprintf(why, size, "unknown unit '%.*s'; did you mean '%.*s'?", SHOWN(word),
			 SHOWN(suggest.best));
	else
		snprintf(why, size, "unknown unit '%.*s'; units are s, min, hour, day, week, month, year",
			 SHOWN(word));
	return false;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* What "N", already read, is not followed by. */
static bool complain(struct text text, struct text rest, char *why, size_t size)
{
	if (rest.size == 0)
		snprintf(why, size, "'%.*s' has no unit; write %.*s/s, %.*s/min or %.*s/hour", SHOWN(text),
			 SHOWN(text), SHOWN(text), SHOWN(text));
	else if (skip(&rest, "distinct"))
		snprintf(why, size, "different values are counted by a limit's own rate, and nowhere else");
	else
		snprintf(why, size, "'%.*s' is not a rate like 50/s, 100/15min or 5 per minute", SHOWN(text));
	return false;
}

/* The number is read; what follows up to the unit. */
static bool read_period(struct text text, struct text rest, struct rate *out, uint32_t *times, char *why,
			size_t size)
{
	bool nginx = false;
	skip_blanks(&rest);
	struct text plain = rest;
	static const char *const things[] = {"requests", "request", "req", "r"};
	for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
		struct text after = plain;
		if (!skip(&after, things[i]))
			continue;
		skip_blanks(&after);
		struct text ahead = after;
		if (!skip(&ahead, "/") && !skip(&ahead, "per "))
			continue;
		nginx = i == 3;
		rest = after;
		break;
	}
	if (!skip(&rest, "/") && !skip(&rest, "per "))
		return complain(text, rest, why, size);
	skip_blanks(&rest);
	uint64_t multiple = 1000;
	if (rest.size && digit(rest.data[0]) &&
	    (!rate_decimal(&rest, &multiple) || multiple % 1000 || multiple == 0 ||
	     multiple > UINT64_C(1000000000))) {
		snprintf(why, size,
			 "'%.*s': the number before the unit is a whole number from 1 to 1,000,000",
			 SHOWN(text));
		return false;
	}
	skip_blanks(&rest);
	if (rest.size == 0) {
		snprintf(why, size,
			 "'%.*s' ends without a unit; units are s, min, hour, day, week, month, year",
			 SHOWN(text));
		return false;
	}
	*times = (uint32_t)(multiple / 1000);
	if (nginx && text_equal(rest, TEXT("m"))) { /* nginx's own way to say minute, and it has no months */
		out->unit = RATE_MIN;
		return true;
	}
	return read_unit(rest, &out->unit, why, size);
}

bool rate_parse(struct arena *arena, struct text text, struct rate *out, char *why, size_t size)
{
	struct text rest = text;
	uint64_t thousandths;
	uint32_t times = 1;

	if (text_equal_folded(text, TEXT("unlimited")) || text_equal_folded(text, TEXT("none"))) {
		snprintf(why, size, "'%.*s' is no rate; to switch a limit off write mode: disabled",
			 SHOWN(text));
		return false;
	}
	if (!rate_decimal(&rest, &thousandths)) {
		snprintf(why, size,
			 "'%.*s' is not a rate like 50/s, 100/15min or 0.5/s (at most three decimals)",
			 SHOWN(text));
		return false;
	}
	if (!read_period(text, rest, out, &times, why, size))
		return false;

	uint64_t divisor = thousandths ? common_divisor(thousandths, 1000) : 1000;
	uint64_t count = thousandths / divisor, stretch = 1000 / divisor;
	unsigned __int128 period = (unsigned __int128)units[out->unit].ns * times * stretch;
	if (count > ALGO_COUNT_MAX || period > 1000 * (unsigned __int128)units[RATE_YEAR].ns / 3) {
		snprintf(why, size, "'%.*s' is out of range: up to 1,000,000,000 in up to 300 years",
			 SHOWN(text));
		return false;
	}
	out->count = (uint32_t)count;
	out->period_ns = (uint64_t)period;
	out->at_once = (uint32_t)((thousandths + 999) / 1000);
	out->single = period == units[out->unit].ns;
	out->name = times == 1 ? text_of(units[out->unit].word)
			       : arena_format(arena, "%u%s", times, units[out->unit].word);
	return true;
}

bool duration_parse(struct text text, uint64_t *ns, char *why, size_t size)
{
	struct text rest = text;
	uint64_t thousandths;
	enum rate_unit unit;

	if (!rate_decimal(&rest, &thousandths)) {
		snprintf(why, size, "'%.*s' is not a duration like 3s, 500ms or 15min", SHOWN(text));
		return false;
	}
	skip_blanks(&rest);
	if (rest.size == 0) {
		snprintf(why, size, "'%.*s' has no unit; write %.*ss, %.*smin or %.*shour", SHOWN(text),
			 SHOWN(text), SHOWN(text), SHOWN(text));
		return false;
	}
	if (!read_unit(rest, &unit, why, size))
		return false;
	unsigned __int128 length = (unsigned __int128)units[unit].ns * thousandths / 1000;
	if (length < units[RATE_MS].ns || length > 400 * (unsigned __int128)RATE_NS_DAY) {
		snprintf(why, size, "'%.*s' is out of range: 1 ms to 400 days", SHOWN(text));
		return false;
	}
	*ns = (uint64_t)length;
	return true;
}
