/* SPDX-License-Identifier: BSD-2-Clause */
/* experiments: request sequences people know, with the answers they expect: stock nginx's, five logins a
 * minute, windows with their known flaw. Each row is one or more requests at once; an answer is '.', refused,
 * or ms of delay. */
#include "tests/algo/common.h"

enum { REFUSED = -1 };

struct row {
	uint64_t at_ms;
	uint32_t cost;
	int expect[12]; /* delay in ms, REFUSED; ends with END */
};
#define END   -2
#define ALLOW 0

struct story {
	const char *what;
	struct algo_numbers numbers;
	const struct row *rows;
	size_t count;
	int64_t wall; /* of table time 0 */
};

static void tell(const struct story *story)
{
	uint64_t state = 0;
	for (size_t i = 0; i < story->count; i++) {
		const struct row *row = &story->rows[i];
		struct algo_time t = {1000 * SECOND + row->at_ms * MS,
				      story->wall - (int64_t)(1000 * SECOND)};
		for (size_t k = 0; row->expect[k] != END; k++) {
			struct algo_outcome outcome;
			struct algo_report report;
			int got = REFUSED;
			algo_step(&story->numbers, state, &t, row->cost, &outcome);
			if (outcome.allowed) {
				algo_describe(&story->numbers, outcome.state, &t, row->cost, true, &report);
				got = (int)(report.delay_ns / MS);
			}
			char what[200];
			snprintf(what, sizeof what, "%s: request %zu at %" PRIu64 " ms: %d", story->what,
				 k + 1, row->at_ms, row->expect[k]);
			if (!ok(got == row->expect[k], what))
				note("got %d", got);
			ok(outcome.allowed || outcome.state == state, "a refusal leaves the word alone");
			state = outcome.state;
		}
	}
}

static struct algo_numbers token(uint32_t count, uint64_t period, uint32_t burst)
{
	struct algo_numbers n = {0};
	ok(algo_token_bucket(count, period, burst, &n), "token bucket built");
	return n;
}

static struct algo_numbers leaky(uint32_t count, uint64_t period, uint32_t queue, uint32_t at_once,
				 uint64_t max_wait)
{
	struct algo_numbers n = {0};
	ok(algo_leaky_bucket(count, period, queue, at_once, max_wait, &n), "leaky bucket built");
	return n;
}

static struct algo_numbers window(uint32_t count, uint64_t period, enum algo_align align)
{
	struct algo_numbers n = {0};
	ok(algo_fixed_window(count, period, align, &n), "window built");
	return n;
}

static struct algo_numbers sliding(uint32_t count, uint64_t period)
{
	struct algo_numbers n = {0};
	ok(algo_sliding_window(count, period, &n), "sliding window built");
	return n;
}

/* clang-format off */
static const struct row c1[] = {
	{0, 1, {ALLOW, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, END}},
	{600, 1, {ALLOW, END}}, {1200, 1, {ALLOW, END}}, {1800, 1, {ALLOW, END}},
	{2400, 1, {ALLOW, END}}, {3000, 1, {ALLOW, END}}, {3600, 1, {ALLOW, END}},
	{4099, 1, {REFUSED, END}}, {4100, 1, {ALLOW, END}}, {4600, 1, {ALLOW, REFUSED, END}},
};
static const struct row c3[] = {
	{0, 1, {0, 500, 1000, 1500, 2000, 2500, REFUSED, REFUSED, REFUSED, REFUSED, END}},
	{499, 1, {REFUSED, END}}, {500, 1, {2500, REFUSED, END}}, {100000, 1, {0, 500, END}},
};
static const struct row c4[] = {
	{0, 1, {0, 0, 0, 0, 0, 0, REFUSED, REFUSED, REFUSED, REFUSED, END}},
	{1, 1, {REFUSED, END}}, {1001, 1, {0, 0, REFUSED, END}},
};
static const struct row c5[] = {
	{0, 1, {0, 0, 0, 0, 0, REFUSED, REFUSED, END}}, {13000, 1, {0, REFUSED, END}},
};
static const struct row c8[] = {
	{0, 1, {0, END}}, {50, 1, {450, END}}, {100, 1, {900, END}}, {150, 1, {REFUSED, END}}, {200, 1, {REFUSED, END}},
};
static const struct row c13[] = {{0, 1, {0, 0, 0, 0, REFUSED, REFUSED, END}}};
static const struct row c17[] = { /* six connections fetch 30 files */
	{0, 1, {0, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, END}}, {20, 1, {REFUSED, REFUSED, REFUSED, END}},
};
static const struct row login[] = { /* five at once, then one every 12 s */
	{0, 1, {0, 0, 0, 0, 0, REFUSED, REFUSED, END}}, {11999, 1, {REFUSED, END}}, {12000, 1, {0, REFUSED, END}},
	{23999, 1, {REFUSED, END}}, {24000, 1, {0, REFUSED, END}}, {48000, 1, {0, 0, REFUSED, END}},
	{108000, 1, {0, 0, 0, 0, 0, REFUSED, END}},
};
static const struct row costs[] = { /* 10 per second, 10 at once */
	{0, 3, {0, 0, 0, REFUSED, END}}, {0, 0, {0, END}}, {0, 1, {0, REFUSED, END}}, {0, 0, {0, END}}, {299, 3, {REFUSED, END}},
	{300, 3, {0, REFUSED, END}}, {1300, 11, {REFUSED, END}}, {1300, 10, {0, REFUSED, END}},
};
static const struct row at_once[] = { /* nginx: burst=5 delay=2 */
	{0, 1, {0, 0, 0, 500, 1000, 1500, REFUSED, END}}, {1000, 1, {1000, 1500, REFUSED, END}},
};
static const struct row patient[] = { /* 2/s, queue 100, wait 3s: six wait, no more */
	{0, 1, {0, 500, 1000, 1500, 2000, 2500, 3000, REFUSED, END}}, {499, 1, {REFUSED, END}}, {500, 1, {3000, END}},
	{60000, 7, {0, END}}, {120000, 8, {REFUSED, END}},
};
static const struct row zero[] = {{0, 1, {REFUSED, END}}, {0, 0, {0, END}}, {1000000, 1, {REFUSED, END}}};
static const struct row first[] = { /* 3 a minute: the window begins with its first request, wherever that is */
	{7000, 1, {0, 0, 0, REFUSED, END}}, {66999, 1, {REFUSED, END}}, {67000, 2, {0, REFUSED, END}}, {67000, 1, {0, REFUSED, END}},
	{200000, 0, {0, END}}, {210000, 4, {REFUSED, END}}, {259999, 3, {0, REFUSED, END}}, {319998, 1, {REFUSED, END}},
	{319999, 1, {0, END}},
};
static const struct row flaw[] = { /* the known flaw: 2N around an edge. 5 a minute, ten within one second */
	{0, 1, {0, END}}, {59500, 1, {0, 0, 0, 0, REFUSED, END}}, {60001, 1, {0, 0, 0, 0, 0, REFUSED, END}},
};
static const struct row clock_flaw[] = { /* table time 0 is 30 s past the minute */
	{29500, 1, {0, 0, 0, 0, 0, REFUSED, END}}, {29999, 1, {REFUSED, END}}, {30000, 1, {0, 0, 0, 0, 0, REFUSED, END}},
	{89999, 1, {REFUSED, END}}, {90000, 1, {0, END}},
};
static const struct row spread[] = { /* a bucket of the same numbers does not have the flaw */
	{0, 1, {0, END}}, {59500, 1, {0, 0, 0, 0, 0, REFUSED, END}}, {60001, 1, {REFUSED, END}},
};
/* Sliding windows of a minute: one begins at 20 s, the next at 80 s (table time 1020 s and 1080 s). */
static const struct row weighted[] = { /* 90 before, 70 now, 40 s into 60 s: 90 * (1 - 40/60) + 70 = 100, so no more of 100 */
	{70000, 90, {0, END}}, {110000, 50, {0, END}}, {120000, 20, {0, END}}, {120000, 1, {REFUSED, REFUSED, END}},
	{120666, 1, {REFUSED, END}}, {120667, 1, {0, REFUSED, END}},
};
static const struct row weighted_101[] = { /* and one more of 101 */
	{70000, 90, {0, END}}, {110000, 50, {0, END}}, {120000, 20, {0, END}}, {120000, 1, {0, REFUSED, END}},
};
static const struct row no_flaw[] = { /* 5 a minute around an edge: not 2N within one second; each comes back after 12 s */
	{79500, 1, {0, 0, 0, 0, 0, REFUSED, END}}, {80001, 1, {REFUSED, END}}, {91999, 1, {REFUSED, END}}, {92000, 1, {0, REFUSED, END}},
	{103999, 1, {REFUSED, END}}, {104000, 1, {0, REFUSED, END}}, {139999, 2, {0, REFUSED, END}}, {140000, 1, {0, REFUSED, END}},
};
static const struct row slid_flaw[] = { /* its own flaw: nine of 5 a minute in a minute, the last instant of one and all of the next */
	{79999, 5, {0, END}}, {139998, 4, {0, END}}, {139998, 1, {REFUSED, END}},
};
static const struct row slid_long[] = { /* its other flaw: five at the beginning of a minute still weigh two minutes later */
	{20000, 5, {0, END}}, {80000, 1, {REFUSED, END}}, {91999, 1, {REFUSED, END}}, {92000, 1, {0, END}}, {139999, 4, {REFUSED, END}},
	{140000, 4, {0, END}},
};
static const struct row midnight[] = { /* table time 0 is 2023-12-31 23:00: day, week, month and year end in an hour */
	{0, 2, {0, REFUSED, END}}, {3599999, 2, {REFUSED, END}}, {3600000, 2, {0, REFUSED, END}}, {90000000 - 1, 2, {REFUSED, END}},
};
static const struct row next_day[] = { {90000000, 2, {0, REFUSED, END}} };
/* clang-format on */

#define STORY(what, rows, wall, ...)                                                                         \
	{                                                                                                    \
		what, __VA_ARGS__, rows, sizeof(rows) / sizeof *(rows), wall                                 \
	}

int main(void)
{
	const int64_t new_year = INT64_C(1704063600) * (int64_t)SECOND; /* 2023-12-31 23:00 UTC, a Sunday */
	struct story stories[] = {
		STORY("2/s, burst 1", c1, 0, token(2, SECOND, 1)),
		STORY("2/s, no queue", c1, 0, leaky(2, SECOND, 0, 0, 0)),
		STORY("2/s, queue 5", c3, 0, leaky(2, SECOND, 5, 0, 0)),
		STORY("2/s, queue 5, all at once", c4, 0, leaky(2, SECOND, 5, 5, 0)),
		STORY("2/s, burst 6", c4, 0, token(2, SECOND, 6)),
		STORY("5/min, queue 4 at once", c5, 0, leaky(5, MINUTE, 4, 4, 0)),
		STORY("2/s, queue 2", c8, 0, leaky(2, SECOND, 2, 0, 0)),
		STORY("1/s, burst 4", c13, 0, token(1, SECOND, 4)),
		STORY("1/s, queue 3 at once", c13, 0, leaky(1, SECOND, 3, 3, 0)),
		STORY("2/s, a page with 30 files", c17, 0, token(2, SECOND, 1)),
		STORY("5/min login", login, 0, token(5, MINUTE, 5)),
		STORY("10/s, costs", costs, 0, token(10, SECOND, 10)),
		STORY("2/s, queue 5, 2 at once", at_once, 0, leaky(2, SECOND, 5, 2, 0)),
		STORY("2/s, wait 3s", patient, 0, leaky(2, SECOND, 100, 0, 3 * SECOND)),
		STORY("0/s", zero, 0, token(0, SECOND, 5)),
		STORY("0/s leaky", zero, 0, leaky(0, SECOND, 5, 2, SECOND)),
		STORY("0 a minute", zero, 0, window(0, MINUTE, ALGO_FIRST_REQUEST)),
		STORY("3 a minute", first, 0, window(3, MINUTE, ALGO_FIRST_REQUEST)),
		STORY("5 a minute, 2N", flaw, 0, window(5, MINUTE, ALGO_FIRST_REQUEST)),
		STORY("5 a minute :00, 2N", clock_flaw, 30 * (int64_t)SECOND, window(5, MINUTE, ALGO_CLOCK)),
		STORY("100 in a sliding minute", weighted, 0, sliding(100, MINUTE)),
		STORY("101 in a sliding minute", weighted_101, 0, sliding(101, MINUTE)),
		STORY("5 in a sliding minute, no 2N", no_flaw, 0, sliding(5, MINUTE)),
		STORY("5 in a sliding minute, nearly 2N", slid_flaw, 0, sliding(5, MINUTE)),
		STORY("5 in a sliding minute, nearly two", slid_long, 0, sliding(5, MINUTE)),
		STORY("0 in a sliding minute", zero, 0, sliding(0, MINUTE)),
		STORY("5/min, no 2N", spread, 0, token(5, MINUTE, 5)),
		STORY("2 a day", midnight, new_year, window(2, DAY, ALGO_CALENDAR_DAY)),
		STORY("2 a week", midnight, new_year, window(2, 7 * DAY, ALGO_CALENDAR_WEEK)),
		STORY("2 a month", midnight, new_year, window(2, 30 * DAY, ALGO_CALENDAR_MONTH)),
		STORY("2 a year", midnight, new_year, window(2, YEAR, ALGO_CALENDAR_YEAR)),
		STORY("2 a day, the next", next_day, new_year, window(2, DAY, ALGO_CALENDAR_DAY)),
	};
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
		tell(&stories[i]);
	return done_testing();
}
