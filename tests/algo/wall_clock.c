/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wall_clock: aligned windows when the wall clock is corrected. Table time goes on; the wall clock is set
 * back or forward. A clock set back by less than half a window must not show the same boundary twice and so
 * give N twice.
 */
#include "tests/algo/common.h"

#include "algo/align.h"
#include "algo/window.h"

struct row {
	uint64_t at_s;	/* table time */
	int64_t wall_s; /* wall clock minus table time */
	uint32_t cost;
	bool expect;
};

struct story {
	const char *what;
	uint32_t count;
	uint64_t period;
	enum algo_align align;
	struct row rows[8];
};

/* clang-format off */
static const struct story stories[] = {
	{"a steady clock", 2, HOUR, ALGO_CLOCK,
	 {{3000, 0, 2, true}, {3599, 0, 1, false}, {3600, 0, 2, true}, {7199, 0, 1, false}, {7200, 0, 2, true}}},
	{"set back ten minutes just after the hour", 2, HOUR, ALGO_CLOCK,
	 {{3000, 0, 2, true}, {3601, -600, 2, true}, {4201, -600, 1, false}, {7799, -600, 1, false}, {7800, -600, 2, true}}},
	{"set back in the window: its end stays", 2, HOUR, ALGO_CLOCK,
	 {{3000, 0, 2, true}, {3599, -600, 1, false}, {3600, -600, 2, true}, {4199, -600, 1, false}, {4200, -600, 1, false},
	  {7799, -600, 1, false}, {7800, -600, 2, true}}},
	{"set back by more than half a window: that hour once more", 2, HOUR, ALGO_CLOCK,
	 {{3000, 0, 2, true}, {3601, -3000, 2, true}, {6599, -3000, 1, false}, {6600, -3000, 2, true}}},
	{"set forward in the window: its end stays, then the new clock holds", 2, HOUR, ALGO_CLOCK,
	 {{3000, 0, 2, true}, {3100, 600, 1, false}, {3599, 600, 1, false}, {3600, 600, 2, true}, {6599, 600, 1, false},
	  {6600, 600, 2, true}}},
	{"a second too early at midnight, day", 1, DAY, ALGO_CALENDAR_DAY,
	 {{100, 0, 1, true}, {86400, -1, 1, true}, {86402, -1, 1, false}, {172800, -1, 1, false}, {172801, -1, 1, true}}},
	{"the same, week", 1, 7 * DAY, ALGO_CALENDAR_WEEK,
	 {{100, 0, 1, true}, {345600, -1, 1, true}, {345602, -1, 1, false}, {950400, -1, 1, false}, {950401, -1, 1, true}}},
	{"the same, month", 1, 30 * DAY, ALGO_CALENDAR_MONTH,
	 {{100, 0, 1, true}, {31 * 86400, -1, 1, true}, {31 * 86400 + 2, -1, 1, false}, {59 * 86400, -1, 1, false},
	  {59 * 86400 + 1, -1, 1, true}}},
	{"the same, year", 1, YEAR, ALGO_CALENDAR_YEAR,
	 {{100, 0, 1, true}, {365 * 86400, -1, 1, true}, {365 * 86400 + 2, -1, 1, false}, {730 * 86400, -1, 1, false},
	  {730 * 86400 + 1, -1, 1, true}}},
	{"before 1970", 1, DAY, ALGO_CALENDAR_DAY,
	 {{100, -86500, 1, true}, {86499, -86500, 1, false}, {86500, -86500, 1, true}}},
};
/* clang-format on */

int main(void)
{
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		struct algo_numbers n = {0};
		const struct story *story = &stories[i];
		algo_fixed_window(story->count, story->period, story->align, &n);
		uint64_t state = 0;
		for (size_t k = 0; k < 8 && story->rows[k].cost; k++) {
			const struct row *row = &story->rows[k];
			struct algo_time t = {row->at_s * SECOND, row->wall_s * (int64_t)SECOND};
			struct algo_outcome outcome;
			char what[160];
			algo_step(&n, state, &t, row->cost, &outcome);
			snprintf(what, sizeof what, "%s: at %" PRIu64 " s", story->what, row->at_s);
			ok(outcome.allowed == row->expect, what);
			state = outcome.state;
		}
	}

	/* a clock that is slewed all the time, by random amounts below half a window: N per window all the
	 * same */
	struct claim slewed = {"a new window ends at least half a window after the one before", 0, 0};
	struct claim bounded = {"and no window is longer than one and a half", 0, 0};
	for (int run = 0; run < 2000; run++) {
		uint64_t period = random_below(2) ? HOUR : MINUTE, end = 0, state = 0;
		struct algo_numbers n = {0};
		algo_fixed_window(1, period, ALGO_CLOCK, &n);
		struct algo_time t = {random_below(YEAR), (int64_t)random_below(40 * YEAR)};
		const int64_t offset = t.wall;
		for (int step = 0; step < 100; step++) {
			struct algo_outcome outcome;
			/* off by up to a fifth of a window either way */
			t.wall = offset + (int64_t)random_below(period / 5 * 2) - (int64_t)(period / 5);
			algo_step(&n, state, &t, 1, &outcome);
			if (outcome.allowed) {
				uint64_t next = window_end(&n, outcome.state);
				claim(&slewed, end == 0 || next - end >= period / 2);
				claim(&bounded, next - t.now <= period + period / 2 + 2);
				end = next;
			}
			state = outcome.state;
			t.now = random_below(2) ? window_end(&n, state) : t.now + random_below(period);
		}
	}
	claim_end(&slewed, 100000);
	claim_end(&bounded, 100000);

	/* clocks that are plainly wrong: some window in the future, no overflow */
	struct claim wrong = {"an absurd wall clock still makes a window", 0, 0};
	for (int i = 0; i < 100000; i++) {
		struct algo_numbers n = {0};
		algo_fixed_window(5, MS + random_size(399 * DAY), (enum algo_align)random_below(6), &n);
		struct algo_time t = {random_below(ALGO_TIME_MAX), (int64_t)random_u64()};
		if (i % 8 == 0)
			t = (struct algo_time){t.now >> random_below(63), i % 16 ? INT64_MAX : INT64_MIN};
		struct algo_outcome outcome;
		algo_step(&n, 0, &t, 3, &outcome);
		uint64_t end = window_end(&n, outcome.state);
		claim(&wrong, outcome.allowed && end > t.now && end <= t.now + 400 * DAY + 8 &&
				      outcome.state >> 63 == 0);
		uint64_t given = algo_give_back(&n, outcome.state, &t, t.now, 2);
		claim(&wrong, window_used(&n, given, t.now) == 1);
	}
	claim_end(&wrong, 200000);
	return done_testing();
}
