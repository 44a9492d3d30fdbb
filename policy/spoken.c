/* SPDX-License-Identifier: BSD-2-Clause */
/* spoken: durations and rates as people say them. */
#include "policy/spoken.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/model.h"

#define SECOND UINT64_C(1000000000)

void spoken_add(struct spoken *spoken, const char *format, ...)
{
	va_list arguments, again;
	int size;

	va_start(arguments, format);
	va_copy(again, arguments);
	size = vsnprintf(NULL, 0, format, arguments);
	if (size < 0 || spoken->failed) {
		spoken->failed = true;
	} else if (spoken->size + (size_t)size + 1 > spoken->capacity) {
		size_t capacity = 2 * (spoken->size + (size_t)size + 1);
		char *text = realloc(spoken->text, capacity);

		spoken->failed = text == NULL;
		if (text) {
			spoken->text = text;
			spoken->capacity = capacity;
		}
	}
	if (!spoken->failed)
		spoken->size += (size_t)vsnprintf(spoken->text + spoken->size, (size_t)size + 1, format,
						  again);
	va_end(again);
	va_end(arguments);
	if (spoken->failed) {
		free(spoken->text);
		*spoken = (struct spoken){.failed = true};
	}
}

void spoken_duration(uint64_t ns, char *out)
{
	static const struct {
		double below, unit;
		const char *name;
	} units[] = {
		{1e6, 1e3, "us"},      {1e8, 1e6, "ms"},	{120e9, 1e9, "s"},
		{7200e9, 60e9, "min"}, {172800e9, 3600e9, "h"}, {HUGE_VAL, 86400e9, "days"},
	};
	size_t i = 0;

	while ((double)ns >= units[i].below)
		i++;
	snprintf(out, SPOKEN_MAX, "%.4g %s", (double)ns / units[i].unit, units[i].name);
}

void spoken_period(uint64_t ns, char *out)
{
	static const struct {
		uint64_t seconds;
		const char *name;
	} units[] = {{604800, "week"}, {86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		uint64_t unit = units[i].seconds * SECOND, count = ns / unit;

		if (ns == unit)
			snprintf(out, SPOKEN_MAX, "%s", units[i].name);
		else if (count > 0 && ns % unit == 0 && (unit > SECOND || count < 120))
			snprintf(out, SPOKEN_MAX, "%llu %ss", (unsigned long long)count, units[i].name);
		else
			continue;
		return;
	}
	spoken_duration(ns, out);
}

uint64_t spoken_period_ns(const struct algo_numbers *n)
{
	static const uint64_t steps[] = {SECOND, SECOND / 1000, 1000};
	unsigned __int128 exact;
	uint64_t period;

	if (n->kind == ALGO_LIMIT_REQ && n->align == ALGO_CLOCK_MS) /* only r/m is cut */
		return n->scale == n->quantity * UINT64_C(1000) ? SECOND : 60 * SECOND;
	if (n->kind == ALGO_LIMIT_REQ)
		return n->scale * n->quantity;
	if (n->kind != ALGO_TOKEN_BUCKET && n->kind != ALGO_LEAKY_BUCKET)
		return n->scale;
	if (n->scale == 0)
		return 0;
	/* the scale was rounded to one part in 10^6: the round number nearby is what was written */
	exact = ((unsigned __int128)n->quantity << (64 + n->shift)) / n->scale;
	period = exact > ALGO_TIME_MAX ? ALGO_TIME_MAX : (uint64_t)exact;
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		uint64_t rounded = (period + steps[i] / 2) / steps[i] * steps[i];
		uint64_t off = rounded > period ? rounded - period : period - rounded;

		if (rounded > 0 && off <= period / 500000 + 1)
			return rounded;
	}
	return period;
}

/* "per minute"; calendar windows know their unit. */
static void rate_period(const struct algo_numbers *n, char *out)
{
	static const char *const calendar[] = {
		[ALGO_CALENDAR_DAY] = "day",   [ALGO_CALENDAR_WEEK] = "week", [ALGO_CALENDAR_MONTH] = "month",
		[ALGO_CALENDAR_YEAR] = "year", [ALGO_CALENDAR_HOUR] = "hour",
	};

	if (n->kind == ALGO_FIXED_WINDOW && algo_align_day(n->align))
		snprintf(out, SPOKEN_MAX, "billing month");
	else if (n->kind == ALGO_FIXED_WINDOW && n->align >= ALGO_CALENDAR_DAY &&
		 n->align <= ALGO_CALENDAR_HOUR)
		snprintf(out, SPOKEN_MAX, "%s", calendar[n->align]);
	else
		spoken_period(spoken_period_ns(n), out);
}

void spoken_bytes(uint64_t bytes, char *out)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = {{UINT64_C(1) << 30, "GiB"},
		     {1000000000, "GB"},
		     {UINT64_C(1) << 20, "MiB"},
		     {1000000, "MB"},
		     {1024, "KiB"},
		     {1000, "KB"}};

	/* up to three decimals, if they are all there is */
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		uint64_t whole = bytes / units[i].unit, rest = bytes % units[i].unit * 1000;
		uint64_t thousandths = rest / units[i].unit;

		if (whole == 0 || rest % units[i].unit != 0)
			continue;
		snprintf(out, SPOKEN_MAX, "%.10g %s", (double)whole + (double)thousandths / 1000,
			 units[i].name);
		return;
	}
	snprintf(out, SPOKEN_MAX, "%llu B", (unsigned long long)bytes);
}

static void speak_rate(const struct algo_numbers *n, char *out)
{
	uint64_t tokens = model_capacity(n);
	char period[SPOKEN_MAX], first[64];

	if (n->quantity == 0 || n->capacity == 0) {
		snprintf(out, SPOKEN_MAX, "0");
		return;
	}
	rate_period(n, period);
	snprintf(first, sizeof first, "%u per %.40s", n->quantity, period);
	if (n->kind == ALGO_FIXED_WINDOW)
		snprintf(out, SPOKEN_MAX, "%s in windows", first);
	else if (n->kind == ALGO_SLIDING_WINDOW)
		snprintf(out, SPOKEN_MAX, "%s in a sliding window", first);
	else if (n->kind == ALGO_SLIDING_LOG)
		snprintf(out, SPOKEN_MAX, "%s exactly", first);
	else if (n->kind == ALGO_LEAKY_BUCKET || n->kind == ALGO_LIMIT_REQ)
		snprintf(out, SPOKEN_MAX, "%s%s, queue %llu", first,
			 n->kind == ALGO_LIMIT_REQ ? " as nginx counts" : "",
			 (unsigned long long)(tokens ? tokens - 1 : 0));
	else if (tokens != n->quantity)
		snprintf(out, SPOKEN_MAX, "%s, burst %llu", first, (unsigned long long)tokens);
	else
		snprintf(out, SPOKEN_MAX, "%s", first);
}

/* As nginx.conf has it. A burst that nobody uses is 0. */
static void speak_zone(const struct image *image, const struct image_counter *counter, char *out)
{
	struct text written = image_text(image, counter->written);
	int size = (int)(written.size < 80 ? written.size : 80);

	if (counter->what == IMAGE_CONCURRENT)
		snprintf(out, SPOKEN_MAX, "%u connection%s at the same time", counter->capacity,
			 counter->capacity == 1 ? "" : "s");
	else if (counter->asker & IMAGE_ASKER_BURST)
		snprintf(out, SPOKEN_MAX, "%.*s, burst by variable", size, written.data);
	else if (counter->capacity > 1)
		snprintf(out, SPOKEN_MAX, "%.*s, burst %u", size, written.data, counter->capacity - 1);
	else
		snprintf(out, SPOKEN_MAX, "%.*s", size, written.data);
}

void spoken_counter(const struct image *image, const struct image_counter *counter, char *out)
{
	struct text zone = image_text(image, counter->zone);
	char words[SPOKEN_MAX], after[SPOKEN_MAX];

	if (image->kind == IMAGE_OF_ZONES) {
		speak_zone(image, counter, out);
		return;
	}
	switch (counter->what) {
	case IMAGE_CONCURRENT:
		snprintf(words, sizeof words, "%u at the same time", counter->capacity);
		spoken_duration(counter->wait_ns, after);
		if (counter->queue > 0)
			snprintf(out, SPOKEN_MAX, "%.40s, queue %u for %.40s", words, counter->queue, after);
		else
			snprintf(out, SPOKEN_MAX, "%s", words);
		break;
	case IMAGE_BANDWIDTH:
		spoken_bytes(counter->bytes_per_s, words);
		spoken_bytes(counter->free_bytes, after);
		if (counter->free_bytes > 0)
			snprintf(out, SPOKEN_MAX, "%.40s/s per response after the first %.40s", words, after);
		else
			snprintf(out, SPOKEN_MAX, "%.40s/s per response", words);
		break;
	case IMAGE_TOTAL:
		spoken_bytes(counter->bytes_per_s, words);
		snprintf(out, SPOKEN_MAX, "%.40s/s for all responses", words);
		break;
	default:
		speak_rate(&counter->numbers, words);
		if (zone.size > 0)
			snprintf(out, SPOKEN_MAX, "%.80s (%.*s)", words,
				 (int)(zone.size < 64 ? zone.size : 64), zone.data);
		else
			snprintf(out, SPOKEN_MAX, "%s", words);
	}
}
