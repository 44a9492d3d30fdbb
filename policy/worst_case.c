/* SPDX-License-Identifier: BSD-2-Clause */
/* worst_case: what a counter lets through, in words, with the most that passes at the worst moment. */
#include "policy/worst_case.h"

#include <stdio.h>

#include "algo/zone.h"
#include "policy/model.h"

#define SECOND	  UINT64_C(1000000000)
#define HOUR_S	  INT64_C(3600)
#define LOG_BYTES 40u /* what a slot takes of a table that is filled as recommended */

/* Units that one request of cost 1 takes. */
static uint64_t token_of(const struct algo_numbers *n)
{
	return n->kind == ALGO_LIMIT_REQ ? limit_req_token(n) : UINT64_C(1) << n->shift;
}

/* The time in which `units` drain or refill. */
static uint64_t time_of(const struct algo_numbers *n, unsigned __int128 units)
{
	unsigned __int128 ns = n->kind != ALGO_LIMIT_REQ   ? (units << 64) / n->scale
			       : n->align == ALGO_CLOCK_MS ? units * 1000000 / n->scale
							   : units;

	return ns > ALGO_TIME_MAX ? ALGO_TIME_MAX : (uint64_t)ns;
}

/* "one every 12 s": the time between two requests of this cost. */
static void say_interval(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	char every[SPOKEN_MAX];
	unsigned __int128 ns = (unsigned __int128)spoken_period_ns(n) * cost / n->quantity;

	if (n->kind == ALGO_LIMIT_REQ) /* as it is cut, not as it is written */
		ns = time_of(n, (unsigned __int128)token_of(n) * cost);
	spoken_duration(ns > ALGO_TIME_MAX ? ALGO_TIME_MAX : (uint64_t)ns, every);
	spoken_add(s, "one every %s", every);
}

/* In any half-open stretch of the period: what was saved up, and what refills before its end. On a clock of whole ms
 * a stretch can begin at the end of one and end in the same ms of the next period, and a delay is cut to ms. */
static void say_most(struct spoken *s, const struct algo_numbers *n, uint64_t saved, uint32_t cost)
{
	uint64_t most = (saved + n->quantity - 1) / cost;
	char period[SPOKEN_MAX];

	if (n->kind == ALGO_LIMIT_REQ && n->align == ALGO_CLOCK_MS) {
		uint64_t ms = spoken_period_ns(n) / 1000000 + (saved < n->capacity / LIMIT_REQ_REQUEST);
		most = (saved * LIMIT_REQ_REQUEST + n->scale * ms) / LIMIT_REQ_REQUEST / cost;
	}
	if (most <= 1)
		return;
	spoken_period(spoken_period_ns(n), period);
	spoken_add(s, "; at most %llu in any %s", (unsigned long long)most, period);
}

static void say_token_bucket(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	uint64_t tokens = n->capacity >> n->shift;

	if (tokens / cost > 1)
		spoken_add(s, "%llu at once, then ", (unsigned long long)(tokens / cost));
	say_interval(s, n, cost);
	say_most(s, n, tokens, cost);
}

static void say_leaky_bucket(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	uint64_t tokens = model_capacity(n), free_tokens = n->at_once / token_of(n);
	uint64_t taken = tokens / cost, at_once = free_tokens / cost + 1;
	char wait[SPOKEN_MAX];

	if (at_once > taken)
		at_once = taken;
	if (at_once > 1)
		spoken_add(s, "%llu at once, then ", (unsigned long long)at_once);
	say_interval(s, n, cost);
	if (taken > at_once) {
		spoken_duration(time_of(n, (unsigned __int128)(taken - 1) * cost * token_of(n) - n->at_once),
				wait);
		spoken_add(s, ", up to %llu waiting at most %s", (unsigned long long)(taken - at_once), wait);
	}
	say_most(s, n, free_tokens + cost, cost);
}

/* The most, in seconds, by which the clocks of a zone are set forward at once in the ten years from `from_s` on: so
 * much shorter can a day be. */
static int64_t forward_s(const uint64_t zone[2], int64_t from_s)
{
	struct zone_span span;
	int64_t most = 0;

	if (from_s < 0 || from_s > ZONE_FAR / 2) /* an image's moment of compiling can be anything */
		from_s = 0;
	span = zone_span_at(zone, from_s);

	for (unsigned i = 0; i < 32 && span.until_s < from_s + HOUR_S * 24 * 366 * 10; i++) {
		struct zone_span next = zone_span_at(zone, span.until_s);

		if (next.offset_s - span.offset_s > most)
			most = next.offset_s - span.offset_s;
		span = next;
	}
	return most;
}

struct calendar {
	const char *window, *from, *edge, *stretch;
	const char *shorter; /* the stretch where clocks are set forward; NULL: so many hours, less that */
	unsigned hours;
};
static const struct calendar calendars[] = {
	[ALGO_CALENDAR_HOUR] = {"an hour", "", "its end", "hour", NULL, 1},
	[ALGO_CALENDAR_DAY] = {"a day", "", "midnight", "24 hours", NULL, 24},
	[ALGO_CALENDAR_WEEK] = {"a week", "from Monday, ", "Monday", "7 days", "6 days", 0},
	/* 28 days are the longest that cannot reach into three months */
	[ALGO_CALENDAR_MONTH] = {"a month", "", "its end", "28 days", "27 days", 0},
	[ALGO_CALENDAR_YEAR] = {"a year", "", "New Year", "365 days", "364 days", 0},
	[ALGO_BILLING] = {"a month", "from each key's billing day, ", "that day", "28 days", "27 days", 0},
};

static void say_calendar(struct spoken *s, const struct image *image, const struct image_counter *counter,
			 unsigned long long count)
{
	const struct algo_numbers *n = &counter->numbers;
	const struct calendar *calendar = &calendars[algo_align_day(n->align) ? ALGO_BILLING : n->align];
	struct text zone = image_text(image, counter->zone);
	int64_t shift = zone_is_utc(n->zone) ? 0 : forward_s(n->zone, image->compiled_at);
	char stretch[SPOKEN_MAX];

	if (zone.size == 0)
		zone = TEXT("UTC");
	snprintf(stretch, sizeof stretch, "%s", calendar->stretch);
	if (calendar->hours == 1) /* an hour that is left out altogether is nobody's */
		shift %= HOUR_S;
	if (shift > 0 && calendar->shorter)
		snprintf(stretch, sizeof stretch, "%s", calendar->shorter);
	else if (shift > 0 && shift < calendar->hours * HOUR_S)
		spoken_duration((uint64_t)(calendar->hours * HOUR_S - shift) * SECOND, stretch);
	spoken_add(s, "at most %llu in %s (%s%.*s); around %s at most %llu in any %s", count,
		   calendar->window, calendar->from, (int)zone.size, zone.data, calendar->edge, 2 * count,
		   stretch);
}

static void say_window(struct spoken *s, const struct image *image, const struct image_counter *counter,
		       uint32_t cost)
{
	const struct algo_numbers *n = &counter->numbers;
	unsigned long long count = n->capacity / cost;
	char period[SPOKEN_MAX];

	spoken_period(n->scale, period);
	switch (n->align) {
	case ALGO_FIRST_REQUEST: /* the first request is what opened the window: it lies a whole period back
				  */
		spoken_add(s, "at most %llu in the %s from the first request", count, period);
		if (count > 1)
			spoken_add(s, "; around its end at most %llu in any %s", 2 * count - 1, period);
		break;
	case ALGO_CLOCK:
		spoken_add(
			s,
			"at most %llu in each %s of the clock (UTC); around its edges at most %llu in any %s",
			count, period, 2 * count, period);
		break;
	default:
		if (algo_align_day(n->align) ||
		    (n->align >= ALGO_CALENDAR_DAY && n->align <= ALGO_CALENDAR_HOUR))
			say_calendar(s, image, counter, count);
	}
}

/* All of it in the last instant of one window, and what becomes free in the next before those are a period old: it is
 * all but one, or all if the capacity is no whole number of requests. */
static void say_sliding_window(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	unsigned long long count = n->capacity / cost, most = 2 * count - (n->capacity % cost == 0);
	char period[SPOKEN_MAX];

	spoken_period(n->scale, period);
	if (most <= 1)
		spoken_add(s, "at most %llu in any %s", count, period);
	else
		spoken_add(s, "about %llu in any %s; where two windows meet at most %llu", count, period,
			   most);
}

static void say_sliding_log(struct spoken *s, const struct algo_numbers *n, uint32_t cost)
{
	unsigned long long slots = n->capacity + 1, bytes = slots * LOG_BYTES;
	char period[SPOKEN_MAX];

	spoken_period(n->scale, period);
	spoken_add(s,
		   "at most %llu in any %s, exactly; up to %llu slots of 16 bytes a key, %llu %s at the "
		   "recommended filling",
		   (unsigned long long)(n->capacity / cost), period, slots,
		   bytes < 1000 ? bytes : bytes / 1000, bytes < 1000 ? "bytes" : "KB");
}

static void say_rate(struct spoken *s, const struct image *image, const struct image_counter *counter,
		     uint32_t cost)
{
	const struct algo_numbers *n = &counter->numbers;
	uint64_t most = model_capacity(n);

	if (cost == 0)
		spoken_add(s, "never refused: a request costs nothing");
	else if (most == 0 || n->quantity == 0)
		spoken_add(s, "every request is refused");
	else if (cost > most)
		spoken_add(s, "every request is refused: it costs %u and at most %llu fit", cost,
			   (unsigned long long)most);
	else if (n->kind == ALGO_FIXED_WINDOW)
		say_window(s, image, counter, cost);
	else if (n->kind == ALGO_SLIDING_WINDOW)
		say_sliding_window(s, n, cost);
	else if (n->kind == ALGO_SLIDING_LOG)
		say_sliding_log(s, n, cost);
	else if (n->scale == 0)
		spoken_add(s, "%llu and never again", (unsigned long long)(most / cost));
	else if (n->kind == ALGO_LEAKY_BUCKET || n->kind == ALGO_LIMIT_REQ)
		say_leaky_bucket(s, n, cost);
	else
		say_token_bucket(s, n, cost);
}

static void say_concurrent(struct spoken *s, const struct image_counter *counter)
{
	char wait[SPOKEN_MAX];

	if (counter->capacity == 0) {
		spoken_add(s, "every request is refused");
		return;
	}
	spoken_add(s, "at most %u at the same time", counter->capacity);
	if (counter->queue == 0)
		return;
	spoken_duration(counter->wait_ns, wait);
	spoken_add(s, "; up to %u wait%s up to %s", counter->queue, counter->queue == 1 ? "s" : "", wait);
}

static void say_total(struct spoken *s, const struct image_counter *counter)
{
	char rate[SPOKEN_MAX], at_once[SPOKEN_MAX];

	spoken_bytes(counter->bytes_per_s, rate);
	spoken_bytes((counter->numbers.capacity >> counter->numbers.shift) * 1024, at_once);
	spoken_add(s, "%s at once, then %s/s for all responses together", at_once, rate);
}

void worst_case_say(struct spoken *s, const struct image *image, const struct image_counter *counter,
		    uint32_t cost)
{
	char words[SPOKEN_MAX];

	switch (counter->what) {
	case IMAGE_CONCURRENT:
		say_concurrent(s, counter);
		break;
	case IMAGE_BANDWIDTH:
		spoken_counter(image, counter, words);
		spoken_add(s, "%s", words);
		break;
	case IMAGE_TOTAL:
		say_total(s, counter);
		break;
	default:
		say_rate(s, image, counter, cost);
	}
}
