/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carry: counters carried over to new numbers. The share that is used stays used, rounded towards more,
 * within one kind and across kinds; a window whose N changes keeps its end; nothing comes out that the new
 * limit would not allow.
 */
#include "tests/algo/random_counter.h"

static struct algo_numbers token(uint32_t count, uint64_t period, uint32_t burst)
{
	struct algo_numbers n = {0};
	algo_token_bucket(count, period, burst, &n);
	return n;
}

static struct algo_numbers leaky(uint32_t count, uint64_t period, uint32_t queue)
{
	struct algo_numbers n = {0};
	algo_leaky_bucket(count, period, queue, 0, 0, &n);
	return n;
}

static struct algo_numbers window(uint32_t count, uint64_t period, enum algo_align align)
{
	struct algo_numbers n = {0};
	algo_fixed_window(count, period, align, &n);
	return n;
}

static struct algo_numbers sliding(uint32_t count, uint64_t period)
{
	struct algo_numbers n = {0};
	algo_sliding_window(count, period, &n);
	return n;
}

static struct algo_numbers ring(uint32_t count, uint64_t period)
{
	struct algo_numbers n = {0};
	algo_sliding_log(count, period, &n);
	return n;
}

static struct algo_numbers flight(uint32_t count)
{
	struct algo_numbers n = {0};
	algo_concurrent(count, &n);
	return n;
}

static uint64_t use(const struct algo_numbers *n, const struct algo_time *t, uint32_t cost)
{
	struct algo_outcome outcome;
	algo_step(n, 0, t, cost, &outcome);
	return outcome.state;
}

static void examples(void)
{
	const struct {
		const char *what;
		struct algo_numbers from, to;
		uint32_t used;
		uint32_t remaining;
		uint64_t full_ns;
	} rows[] = {
		{"half stays half", token(10, SECOND, 10), token(10, SECOND, 20), 5, 10, SECOND},
		{"half stays half, at another rate", token(10, SECOND, 10), token(1, HOUR, 4), 5, 2,
		 2 * HOUR},
		{"half of less", token(10, SECOND, 20), token(10, SECOND, 10), 10, 5, SECOND / 2},
		{"a third stays a third", token(1, SECOND, 3), token(1, SECOND, 10), 1, 6, 10 * SECOND / 3},
		{"all stays all", token(10, SECOND, 10), token(1, HOUR, 100), 10, 0, 100 * HOUR},
		{"nothing stays nothing", token(10, SECOND, 10), token(1, SECOND, 5), 0, 5, 0},
		{"token to leaky", token(10, SECOND, 10), leaky(10, SECOND, 9), 5, 5, SECOND / 2},
		{"leaky to token", leaky(10, SECOND, 9), token(10, SECOND, 100), 5, 50, 5 * SECOND},
		{"bucket to window: half, and a new window", token(10, SECOND, 10),
		 window(100, MINUTE, ALGO_FIRST_REQUEST), 5, 50, MINUTE},
		{"window to bucket", window(100, MINUTE, ALGO_FIRST_REQUEST), token(10, SECOND, 10), 50, 5,
		 SECOND / 2},
		{"a window with another N", window(10, MINUTE, ALGO_FIRST_REQUEST),
		 window(20, MINUTE, ALGO_FIRST_REQUEST), 5, 10, MINUTE},
		{"a window with a smaller N", window(20, MINUTE, ALGO_FIRST_REQUEST),
		 window(3, MINUTE, ALGO_FIRST_REQUEST), 1, 2, MINUTE},
		{"another period: a new window", window(10, MINUTE, ALGO_FIRST_REQUEST),
		 window(10, HOUR, ALGO_FIRST_REQUEST), 4, 6, HOUR},
		{"another alignment: a new window, to the minute", window(10, MINUTE, ALGO_FIRST_REQUEST),
		 window(10, MINUTE, ALGO_CLOCK), 4, 6, 50 * SECOND},
		{"a calendar window whose nominal period changes", window(10, 30 * DAY, ALGO_CALENDAR_MONTH),
		 window(20, 31 * DAY, ALGO_CALENDAR_MONTH), 4, 12, 31 * DAY - 10 * SECOND},
		{"bucket to sliding window: half, in the window that holds", token(10, SECOND, 10),
		 sliding(100, MINUTE), 5, 50, 116 * SECOND},
		{"sliding window to bucket", sliding(100, MINUTE), token(10, SECOND, 10), 50, 5, SECOND / 2},
		{"a sliding window with another N", sliding(10, MINUTE), sliding(20, MINUTE), 5, 10,
		 116 * SECOND},
		{"a sliding window with a smaller N", sliding(20, MINUTE), sliding(3, MINUTE), 1, 2,
		 116 * SECOND},
		{"a sliding window of another period", sliding(10, MINUTE), sliding(10, HOUR), 4, 6,
		 6176 * SECOND},
		{"fixed window to sliding", window(10, MINUTE, ALGO_CLOCK), sliding(20, MINUTE), 5, 10,
		 116 * SECOND},
		{"sliding window to fixed", sliding(10, MINUTE), window(20, MINUTE, ALGO_FIRST_REQUEST), 5,
		 10, MINUTE},
		{"to a sliding window of 0", token(10, SECOND, 10), sliding(0, SECOND), 5, 0, 0},
		{"a bucket to a log: cells cannot be made of it", token(10, SECOND, 10), ring(10, SECOND), 10,
		 10, 0},
		{"a sliding window to requests in flight", sliding(10, SECOND), flight(10), 10, 10, 0},
		{"to a limit of 0", token(10, SECOND, 10), token(0, SECOND, 10), 5, 0, 0},
		{"to a window of 0", token(10, SECOND, 10), window(0, SECOND, ALGO_CLOCK), 5, 0, 0},
		{"from a limit of 0", token(0, SECOND, 10), token(10, SECOND, 10), 0, 10, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct algo_time t = {1024 * SECOND, 0}; /* ends of all these windows are whole ticks */
		t.wall = 10 * (int64_t)SECOND - (int64_t)t.now;
		uint64_t state = rows[i].used ? use(&rows[i].from, &t, rows[i].used) : 0;
		uint64_t carried = algo_convert(&rows[i].from, &rows[i].to, state, &t);
		struct algo_report report;
		algo_describe(&rows[i].to, carried, &t, 1, false, &report);
		is_u64(report.remaining, rows[i].remaining, rows[i].what);
		if (rows[i].full_ns == 0)
			is_u64(carried, 0, "nothing is remembered");
		else /* a unit of rounding is a few ns here */
			ok(report.full_ns + 10 > rows[i].full_ns && report.full_ns < rows[i].full_ns + 10,
			   "recovers when it should");
	}

	/* the window of 10 s keeps its end when 3 s of it are over, and a bucket is carried as it stands by
	 * then */
	struct algo_numbers ten = window(10, 10 * SECOND, ALGO_FIRST_REQUEST),
			    twenty = window(20, 10 * SECOND, ALGO_FIRST_REQUEST);
	struct algo_time t = {1024 * SECOND, 0};
	uint64_t state = use(&ten, &t, 10);
	t.now += 3 * SECOND;
	struct algo_report report;
	algo_describe(&twenty, algo_convert(&ten, &twenty, state, &t), &t, 1, false, &report);
	is_u64(report.wait_ns, 7 * SECOND, "a full window stays full until its old end");
	t.now += 7 * SECOND;
	is_u64(algo_convert(&ten, &twenty, state, &t), 0, "an ended window is nothing");
	struct algo_numbers one = token(1, SECOND, 10);
	t.now = 1024 * SECOND;
	state = use(&one, &t, 10);
	t.now += 10 * SECOND;
	is_u64(algo_convert(&one, &ten, state, &t), 0, "a recovered bucket is nothing");

	/* 90 in the minute before, 70 in this one, 40 s of which are over: 100. Another N keeps both in proportion */
	struct algo_numbers of_200 = sliding(200, MINUTE), of_20 = sliding(20, MINUTE);
	t.now = 1000 * MINUTE;
	state = use(&of_200, &t, 90);
	t.now += MINUTE + 40 * SECOND;
	struct algo_outcome outcome;
	algo_step(&of_200, state, &t, 70, &outcome);
	algo_describe(&of_200, outcome.state, &t, 1, false, &report);
	is_u64(report.remaining, 100, "90 before and 70 now leave 100 of 200");
	uint64_t fewer = algo_convert(&of_200, &of_20, outcome.state, &t);
	is_u64(fewer, (UINT64_C(1001) << of_20.count_bits | 9) << of_20.count_bits | 7, "of 20: 9 and 7");
	algo_describe(&of_20, fewer, &t, 1, false, &report);
	is_u64(report.remaining, 10, "which leave 10");

	/* a calendar window keeps its end when the wall clock has been corrected meanwhile */
	struct algo_numbers month = window(10, 30 * DAY, ALGO_CALENDAR_MONTH),
			    twice = window(20, 31 * DAY, ALGO_CALENDAR_MONTH);
	state = use(&month, &t, 5);
	uint64_t end = window_end(&month, state);
	t.wall = 600 * (int64_t)SECOND;
	is_u64(window_end(&twice, algo_convert(&month, &twice, state, &t)), end,
	       "a month with another N ends when it would have");
	t.wall = 0;
	is_u64(algo_convert(&one, &one, state, &(struct algo_time){1024 * SECOND, 0}), state,
	       "the same numbers: the same word");
}

/* Of requests the least that is no smaller, in the units of `to`; of a rate that nobody says, the time of recovery. */
static bool same_requests(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
			  uint64_t carried, uint64_t now)
{
	big before = (big)state - (big)limit_req_clock(from, now);
	big after = (big)carried - (big)limit_req_clock(to, now);
	if (before <= 0)
		return carried == 0;
	if (after == (big)ALGO_DEBT_MAX) /* what is more saturates */
		return true;
	if (limit_req_asks(from) || limit_req_asks(to)) {
		uint64_t was = algo_rank(from, state), is = algo_rank(to, carried);
		return is >= was && is - was < (to->align == ALGO_CLOCK_MS ? MS : 1);
	}
	big ask = before * (big)limit_req_token(to), give = after * (big)limit_req_token(from);
	return give >= ask && give - ask < (big)limit_req_token(from);
}

static void properties(void)
{
	struct claim share = {"the share that is used, no less, and more by a step at most", 0, 0};
	struct claim exact = {"without sliding windows: the least that is no smaller", 0, 0};
	struct claim full = {"never more used than all of it, unless it was already", 0, 0};
	struct claim allowed = {
		"refused before at the same share: never allowed by more than the old share left", 0, 0};
	struct claim debt = {"what exceeds the capacity keeps its proportion or saturates", 0, 0};
	struct claim round = {"there and back again frees nothing", 0, 0};
	struct claim requests = {"between two of nginx: the same number of requests, or the same time", 0, 0};
	struct claim keeps = {"bits 62 and 63 stay 0", 0, 0};
	for (int i = 0; i < 400000; i++) {
		uint64_t each, other;
		struct algo_numbers from = random_numbers(random_kind(i), &each);
		struct algo_numbers to = random_numbers(random_kind(i / KINDS), &other);
		if (from.kind == ALGO_FIXED_WINDOW && random_below(2)) { /* only N changes */
			enum algo_align align = from.align;
			algo_fixed_window((uint32_t)random_size(from.capacity), from.scale, align, &to);
		}
		bool same = from.kind == ALGO_SLIDING_WINDOW && random_below(2);
		if (same)
			algo_sliding_window((uint32_t)random_size(from.capacity), from.scale, &to);
		struct algo_time t = {random_below(ALGO_TIME_MAX - 4 * YEAR),
				      (int64_t)random_below(YEAR * 50)};
		uint64_t state = random_use(&from, each, &t, (int)random_below(6));
		big most, all;
		if (is_bucket(&from) && random_below(8) == 0)
			state = bucket_clock(&from, t.now) + from.capacity +
				random_size(ALGO_DEBT_MAX - from.capacity);
		else if (random_below(8) == 0)
			state = algo_settle(&from, state, &t, (uint32_t)random_size(ALGO_BURST_MAX));

		uint64_t carried = algo_convert(&from, &to, state, &t);
		big before = random_used(&from, state, t.now, &all);
		big after = random_used(&to, carried, t.now, &most);
		/* the least step of `to`: what a count of a sliding window weighs can be nearly one */
		big step = to.kind == ALGO_SLIDING_WINDOW ? (big)to.scale : 1;
		bool rounded = to.kind == ALGO_LIMIT_REQ && to.align == ALGO_CLOCK_MS;
		if (rounded)
			step = LIMIT_REQ_ROUND;
		claim(&keeps, carried >> 62 == 0);
		if (from.kind == ALGO_LIMIT_REQ && to.kind == ALGO_LIMIT_REQ) {
			claim(&requests, same_requests(&from, &to, state, carried, t.now));
			continue;
		}
		bool beyond = before > all;
		/* in parts of 2^-40, rounded down: of a sliding window the products do not fit */
		big units = (big)1 << 40, was = before / all * units + before % all * units / all;
		big is = after / most * units + after % most * units / most;
		if (beyond) {
			big bound = is_bucket(&to) || to.kind == ALGO_LIMIT_REQ ? (big)ALGO_DEBT_MAX
				    : to.kind == ALGO_SLIDING_WINDOW
					    ? (big)((UINT64_C(1) << to.count_bits) - 1) * step
					    : most;
			claim(&debt, after >= bound ||
					     (is + 1 >= was &&
					      is <= was + was / 1000000000 + 2 + (step + 1) * units / most));
			continue;
		}
		if (from.kind != ALGO_SLIDING_WINDOW && to.kind != ALGO_SLIDING_WINDOW && !rounded)
			claim(&exact, after * all >= before * most &&
					      (after == 0 || (after - 1) * all < before * most));
		claim(&share, is + 1 >= was && is <= was + 2 + step * units / most);
		claim(&full, after < most + step);
		struct algo_report report, told;
		algo_describe(&from, state, &t, 1, false, &report);
		algo_describe(&to, carried, &t, 1, false, &told);
		claim(&allowed, report.remaining || (big)told.remaining * units <=
							    (big)told.limit * (units - was + 1) + units);
		uint64_t again = algo_convert(&to, &from, carried, &t);
		claim(&round, random_used(&from, again, t.now, &all) >= before);
	}
	claim_end(&share, 300000);
	claim_end(&exact, 150000);
	claim_end(&full, 300000);
	claim_end(&allowed, 300000);
	claim_end(&debt, 20000);
	claim_end(&round, 300000);
	claim_end(&keeps, 400000);
	claim_end(&requests, 10000);
}

int main(void)
{
	examples();
	properties();
	return done_testing();
}
