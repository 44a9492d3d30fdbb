/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window_reference: the fixed window against a list of admissions, over random numbers, costs, pauses,
 * give-backs and clocks that go back by up to a second.
 *
 * The reference keeps what was admitted, when, in which window, and adds it up each time. Its ends come from
 * divisions and, for the calendar, from the C library. Decision, remaining, wait and word must agree exactly.
 */
#include "tests/algo/common.h"

#include <time.h>

#define LOG 512

struct log {
	struct {
		uint64_t at, end;
		uint32_t cost;
	} entry[LOG];
	size_t count, first; /* entries; the first that was not forgotten with its window */
	uint64_t end;	     /* of the newest window; 0: none */
};

static int64_t library_end(enum algo_align align, time_t at)
{
	struct tm tm, next = {.tm_mday = 1};
	gmtime_r(&at, &tm);
	next.tm_year = tm.tm_year + (align == ALGO_CALENDAR_YEAR);
	if (align == ALGO_CALENDAR_MONTH)
		next.tm_mon = tm.tm_mon + 1;
	if (align == ALGO_CALENDAR_DAY || align == ALGO_CALENDAR_WEEK) {
		next.tm_mon = tm.tm_mon;
		next.tm_mday = tm.tm_mday + (align == ALGO_CALENDAR_DAY ? 1 : 7 - (tm.tm_wday + 6) % 7);
	}
	return timegm(&next);
}

static uint64_t reference_end(enum algo_align align, uint64_t period, uint64_t now, int64_t offset,
			      uint64_t tick)
{
	uint64_t wall = now + (uint64_t)offset, end;
	if (align == ALGO_FIRST_REQUEST) {
		end = now + period;
	} else if (align == ALGO_CLOCK) {
		uint64_t origin = period % (7 * DAY) == 0 ? 4 * DAY : 0; /* wall is after 1970 in this test */
		end = (wall - origin) / period * period + period + origin - (uint64_t)offset;
	} else {
		end = (uint64_t)library_end(align, (time_t)(wall / SECOND)) * SECOND - (uint64_t)offset;
	}
	return (end + tick - 1) / tick * tick;
}

static uint64_t used(const struct log *log, uint64_t now)
{
	uint64_t sum = 0;
	if (now >= log->end)
		return 0;
	for (size_t i = log->count; i-- > log->first && log->entry[i].end == log->end;)
		sum += log->entry[i].cost;
	return sum;
}

static struct claim same = {"allowed exactly when the list has room", 0, 0};
static struct claim left = {"remaining, limit, wait and reset are the list's", 0, 0};
static struct claim sums = {"no window ever holds more than N", 0, 0};
static struct claim word = {"the word is end and sum, bit 63 is 0", 0, 0};
static struct claim back = {"give-backs: the list without the entry", 0, 0};
static struct claim old = {"give-backs of ended windows change nothing", 0, 0};
static struct claim late = {"a late clock keeps to the stored window", 0, 0};

static void run(uint32_t count, uint64_t period, enum algo_align align)
{
	static struct log log;
	struct algo_numbers n;
	if (!algo_fixed_window(count, period, align, &n)) {
		ok(false, "numbers in range are built");
		return;
	}
	uint64_t state = 0, high = random_below(ALGO_TIME_MAX / 2);
	uint64_t tick = UINT64_C(1) << n.shift;
	const int64_t offset = (int64_t)random_below(UINT64_C(3000000000) * SECOND);
	uint64_t length = align < ALGO_CALENDAR_DAY ? period : align == ALGO_CALENDAR_YEAR ? YEAR : 7 * DAY;
	log.count = log.first = 0;
	log.end = 0;
	while (log.count < LOG && high < ALGO_TIME_MAX - 3 * YEAR) {
		uint32_t cost = random_below(2)
					? 1
					: (uint32_t)random_size(count < ALGO_BURST_MAX ? count + 1
										       : ALGO_BURST_MAX);
		switch (random_below(8)) {
		case 0:
			high += random_below(2 * length);
			break;
		case 1:
			high = log.end > high ? log.end : high;
			break;
		case 2:
			high = log.end > high ? log.end - 1 : high;
			break;
		case 3:
			high += random_below(8);
			break;
		default:
			high += random_below(1 + length / (1 + random_below(count + 1u)));
		}
		struct algo_time t = {high, offset};
		if (random_below(4) == 0 && high > SECOND)
			t.now -= random_below(SECOND);
		if (random_below(16) == 0 &&
		    log.count > log.first) { /* take back something, most often the newest */
			size_t i = log.count - 1 -
				   (random_below(2) ? 0 : random_below(log.count - log.first));
			bool running = t.now < log.end && log.entry[i].end == log.end;
			uint32_t gift = log.entry[i].cost;
			uint64_t given = algo_give_back(&n, state, &t, log.entry[i].at, gift);
			if (!running) {
				/* an entry less than a tick before the window may pass for one of its own */
				bool near = reference_end(align, period, log.entry[i].at, offset, tick) ==
					    log.end;
				claim(&old, given == state || near);
				continue;
			}
			/* charged by a late clock, as if before its window: not given back */
			if (reference_end(align, period, log.entry[i].at, offset, tick) < log.end) {
				claim(&old, given == state);
				continue;
			}
			log.entry[i].cost = 0;
			state = given;
			if (used(&log, t.now) == 0) /* the window never began: a late clock knows of none */
				log.end = 0, log.first = log.count;
			claim(&back,
			      given == (log.end ? (log.end / tick << n.count_bits) + used(&log, t.now) : 0));
			continue;
		}
		uint64_t sum = used(&log, t.now);
		struct algo_report report;
		algo_describe(&n, state, &t, cost, false, &report);
		bool fits = sum + cost <= count;
		uint64_t wait = fits ? 0 : cost > count ? ALGO_NEVER : log.end - t.now;
		claim(&left, report.limit == count && report.remaining == count - sum &&
				     report.wait_ns == wait && report.delay_ns == 0 &&
				     report.full_ns == (log.end > t.now ? log.end - t.now : 0));
		struct algo_outcome outcome;
		algo_step(&n, state, &t, cost, &outcome);
		claim(&same, outcome.allowed == fits && (fits || outcome.state == state));
		if (!outcome.allowed)
			continue;
		if (t.now >= log.end)
			log.end = reference_end(align, period, t.now, offset, tick);
		else if (t.now < high)
			claim(&late, (outcome.state >> n.count_bits) == (state >> n.count_bits));
		log.entry[log.count].at = t.now;
		log.entry[log.count].end = log.end;
		log.entry[log.count++].cost = cost;
		state = outcome.state;
		claim(&sums, used(&log, t.now) <= count);
		claim(&word,
		      state == (log.end / tick << n.count_bits) + used(&log, t.now) && state >> 63 == 0);
		if (log.count == LOG - 1 && random_below(2)) /* start over, the counter lives on */
			log.entry[0] = log.entry[log.count - 1],
			log.entry[0].cost = (uint32_t)used(&log, t.now), log.count = 1, log.first = 0;
	}
}

int main(void)
{
	for (int i = 0; i < 1800; i++) {
		uint64_t period = 1 * MS + random_size(400 * DAY - 1 * MS);
		static const uint64_t usual[] = {SECOND, MINUTE, HOUR, DAY, 7 * DAY, 30 * DAY, 14 * DAY};
		if (random_below(2))
			period = usual[random_below(7)];
		uint64_t most = period / 1000 < ALGO_COUNT_MAX ? period / 1000 : ALGO_COUNT_MAX;
		/* mostly small: a window that never fills tests little */
		uint32_t count = (uint32_t)random_size(random_below(4) && most > 50 ? 50 : most);
		run(count, period, (enum algo_align)(i % 6));
	}
	claim_end(&same, 1000000);
	claim_end(&left, 1000000);
	claim_end(&sums, 500000);
	claim_end(&word, 500000);
	claim_end(&back, 10000);
	claim_end(&old, 10000);
	claim_end(&late, 20000);
	return done_testing();
}
