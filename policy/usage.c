/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: what is counted for the bill: per API key and month, whatever the limit's own windows are. Each month has a slot of its
 * own (flow/usage.h), so the numbers are those of a window that lasts until well after the month's end; whose months, says `seen`.
 */
#include "algo/align.h"
#include "policy/load.h"
#include "policy/rate.h"
#include "policy/sections.h"
#include "policy/value.h"

#define MONTH_NS (UINT64_C(2629746) * RATE_NS_S)
#define AFTER_NS (41 * RATE_NS_DAY) /* how long after its end a month can be read */

/* Who gets a bill can be listed: the keys of the database. With other parts beside, nobody knows which there are. */
static bool by_api_key(const struct model_limit *limit)
{
	return limit->key_count > 0 && limit->key[0].kind == IMAGE_KEY_API_KEY &&
	       limit->key_names[0].size == 0 &&
	       limit->key[0].alternative == limit->key[limit->key_count - 1].alternative;
}

static bool is_month(const struct model_rate *rate)
{
	return rate->what == IMAGE_RATE && rate->numbers.kind == ALGO_FIXED_WINDOW &&
	       (rate->by_day || rate->numbers.align == ALGO_CALENDAR_MONTH);
}

/* The month that the limit itself counts in, or none. */
static const struct model_rate *month_of(const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->rate_count; i++)
		if (is_month(&limit->rates[i]))
			return &limit->rates[i];
	return NULL;
}

/* Never refuses: a window as large as one can be. */
static bool build(const struct model_rate *month, struct model_rate *out)
{
	static const uint64_t utc[2];

	out->zone = month ? month->zone : (struct text){"", 0};
	return algo_calendar_window(ALGO_COUNT_MAX, MONTH_NS,
				    month ? (enum algo_align)month->numbers.align : ALGO_CALENDAR_MONTH,
				    month ? month->numbers.zone : utc, &out->seen) &&
	       algo_fixed_window(ALGO_COUNT_MAX, align_usual(ALGO_CALENDAR_MONTH, 0) + AFTER_NS,
				 ALGO_FIRST_REQUEST, &out->numbers);
}

void usage_read(struct load *load, const struct node *node, struct model_limit *limit)
{
	const struct model_rate *month = month_of(limit);
	struct model_rate out = {.mark = node ? node->mark : limit->mark,
				 .unit = TEXT("usage"),
				 .what = IMAGE_USAGE,
				 .period_ns = MONTH_NS};
	bool said = false, rates = false;

	if (node && !value_flag(load, node, "usage", &said))
		return;
	for (size_t i = 0; i < limit->rate_count; i++)
		rates |= limit->rates[i].what == IMAGE_RATE;
	if (said && !rates)
		diag_error(load, node->mark, "'usage' is for a rate, and this limit has none");
	else if (said && !by_api_key(limit))
		diag_error(load, node->mark, "'usage' is counted for each API key: say key: api-key");
	else if (said && limit->distinct.kind != IMAGE_KEY_SITE)
		diag_error(load, node->mark, "'usage' does not go with different values");
	else if ((said || (!node && month)) && by_api_key(limit) && limit->distinct.kind == IMAGE_KEY_SITE &&
		 build(month, &out))
		limit->rates[limit->rate_count++] = out;
}
