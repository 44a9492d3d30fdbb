/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_bill: the slots of a key, by month. */
#include "control/usage_bill.h"

#include <stdlib.h>

#include "algo/align.h"
#include "algo/days.h"
#include "algo/zone.h"
#include "flow/usage.h"

#define READABLE_S (72 * DAYS_DAY_S) /* a slot is gone so long after it was charged first */

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* The ends of the months of that day, from the oldest that can be read to the one that goes on. */
static void add_ends(struct usage_months *months, unsigned day, int64_t now)
{
	const struct algo_numbers *billed = &months->counter->seen;
	int64_t end = usage_period(billed, day, now - READABLE_S).end;
	for (;;) {
		bool known = false;
		for (size_t i = 0; i < months->count; i++)
			known |= months->ends[i] == end;
		if (!known && months->count < USAGE_ENDS_MAX)
			months->ends[months->count++] = end;
		if (end > now)
			return;
		end = usage_period(billed, day, end).end;
	}
}

size_t usage_months(const struct image *image, int64_t now, struct usage_months *out, size_t max)
{
	size_t count = 0;
	for (uint32_t i = 0; i < image->counters.count; i++) {
		const struct image_counter *counter = image_counter_at(image, i);
		if (counter->what != IMAGE_USAGE || count++ >= max)
			continue;
		struct usage_months *months = &out[count - 1];
		*months = (struct usage_months){
			.counter = counter,
			.limit = image_text(image, image_limit_at(image, counter->limit)->name)};
		unsigned days = algo_align_day(counter->seen.align) ? ALGO_BILLING_DAYS : 1;
		for (unsigned day = 1; day <= days; day++)
			add_ends(months, day, now);
		qsort(months->ends, months->count, sizeof *months->ends, by_time);
	}
	return count;
}

/* When the month began that ends at `end`: by the key's own day, or, if that ends none there, by one that does. */
static int64_t start_of(const struct algo_numbers *billed, unsigned own, int64_t end)
{
	struct usage_period period = usage_period(billed, own, end - 1);
	for (unsigned day = 1; period.end != end && day <= ALGO_BILLING_DAYS; day++)
		period = usage_period(billed, day, end - 1);
	return period.start;
}

static uint64_t units_of(struct table *table, const struct algo_time *t, const struct image_counter *counter,
			 struct text name, int64_t end)
{
	struct table_key key = usage_key(table, counter->identity, name, end);
	struct table_look look;
	struct algo_report report;
	table_peek(table, &key, counter->row, t, 0, &look);
	if (!look.found || look.numbers.kind != ALGO_FIXED_WINDOW)
		return 0;
	table_describe(&look, t, 0, false, &report);
	return report.limit - report.remaining;
}

size_t usage_live(struct table *table, const struct algo_time *t, const struct usage_months *months,
		  const char *name, int billing_day, struct usage_line out[USAGE_ENDS_MAX])
{
	const struct image_counter *counter = months->counter;
	unsigned day = billing_day >= 1 && billing_day <= 31 ? (unsigned)billing_day : 1;
	size_t count = 0;
	for (size_t i = 0; i < months->count; i++) {
		int64_t end = months->ends[i];
		uint64_t units = units_of(table, t, counter, text_of(name), end);
		if (units == 0)
			continue;
		struct usage_line line = {start_of(&counter->seen, day, end), end, units};
		/* two days of the end of a month begin on one: 31 March, and 30, both on 28 February */
		if (count > 0 && out[count - 1].start == line.start) {
			line.units += out[count - 1].units;
			count--;
		}
		out[count++] = line;
	}
	return count;
}

int64_t usage_month(const struct usage_months *months, int64_t start)
{
	const uint64_t *zone = months->counter->seen.zone;
	int64_t local = start + zone_offset_at(zone, start * DAYS_SECOND_NS),
		day = days_floor(local, DAYS_DAY_S), year = days_year_of(day);
	return 12 * year + days_month_of(year, day);
}
