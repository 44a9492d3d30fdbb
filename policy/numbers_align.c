/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers_align: where windows begin. */
#include "policy/numbers.h"
#include "policy/value.h"
#include "policy/words.h"
#include "policy/zone.h"

void numbers_align_read(struct numbers *n)
{
	struct text text;
	char why[256] = "";
	int number;

	if (!value_line(n->load, n->align, "align", &text))
		return;
	const char *blank = memchr(text.data, ' ', text.size);
	struct text word = {text.data, blank ? (size_t)(blank - text.data) : text.size};
	struct text zone = blank ? value_trim((struct text){blank, text.size - word.size}) : (struct text){0};
	if (!zone.size && memchr(word.data, '/', word.size)) {
		diag_error(n->load, n->align->mark, "'%.*s' is no value of 'align'; write calendar %.*s",
			   SHOW(word), SHOW(word));
		return;
	}
	if (!words_value_text(n->load, word, n->align->mark, "align", &number))
		return;
	if (zone.size && number != ALGO_CALENDAR_DAY && number != ALGO_BILLING) {
		diag_error(n->load, n->align->mark,
			   "'%.*s' takes no zone; only a calendar and a billing day have one", SHOW(word));
		return;
	}
	if (zone.size && !text_equal_folded(zone, TEXT("UTC"))) {
		/* from the moment on that the policy is judged by: a zone's rules change */
		if (!zone_read(zone, n->load->wall, n->clocks, why, sizeof why)) {
			diag_error(n->load, yaml_mark_part(n->align, zone), "%s", why);
			return;
		}
		n->zone = zone;
	}
	n->alignment = number;
}

/* The month begins on a day that the API key's record names. The numbers are those of the first; publication makes the others. */
static bool billing_day(struct numbers *n, const struct rate *rate, enum algo_align *out)
{
	struct model_mark mark = numbers_inherited(n, n->align) ? n->rate->mark : n->align->mark;
	bool key = false;

	for (size_t i = 0; i < n->limit->key_count; i++)
		key |= n->limit->key[i].kind == IMAGE_KEY_API_KEY;
	*out = ALGO_BILLING_DAY(1);
	if (!rate->single || rate->unit != RATE_MONTH)
		diag_error(n->load, mark,
			   "from one billing day to the next is a month; for this rate say align: "
			   "calendar UTC");
	else if (!key)
		diag_error(n->load, mark, "a billing day is that of an API key: say key: api-key");
	else
		return true;
	return false;
}

bool numbers_align(struct numbers *n, const struct rate *rate, enum algo_align *out)
{
	static const enum algo_align calendars[] = {
		[RATE_MS] = ALGO_CLOCK,		  [RATE_S] = ALGO_CLOCK,
		[RATE_MIN] = ALGO_CLOCK, /* clocks differ by whole minutes */
		[RATE_HOUR] = ALGO_CLOCK,	  [RATE_DAY] = ALGO_CALENDAR_DAY,
		[RATE_WEEK] = ALGO_CALENDAR_WEEK, [RATE_MONTH] = ALGO_CALENDAR_MONTH,
		[RATE_YEAR] = ALGO_CALENDAR_YEAR,
	};
	if (n->alignment == ALGO_BILLING)
		return billing_day(n, rate, out);
	if (n->alignment < 0) {
		*out = rate->period_ns < RATE_NS_DAY ? ALGO_FIRST_REQUEST
		       : rate->single		     ? calendars[rate->unit]
						     : ALGO_CLOCK;
	} else if (n->alignment != ALGO_CALENDAR_DAY) {
		*out = (enum algo_align)n->alignment;
	} else if (rate->single) {
		bool hour = rate->unit == RATE_HOUR && n->zone.size > 0;
		*out = hour ? ALGO_CALENDAR_HOUR : calendars[rate->unit];
	} else {
		diag_error(n->load, numbers_inherited(n, n->align) ? n->rate->mark : n->align->mark,
			   "a calendar has single hours, days, weeks, months and years; for this rate say "
			   "align: clock");
		return false;
	}
	return true;
}
