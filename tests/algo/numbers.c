/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers: what the builders accept and what they make of it: ranges, the rate to one part in 10^6, room in
 * the word. */
#include "tests/algo/random_counter.h"

#include "algo/log.h"
#include "algo/sliding.h"

static const struct {
	const char *what;
	uint32_t count;
	uint64_t period;
	uint32_t burst;
	bool good;
} rates[] = {
	{"1,000,000 a second", 1000000, SECOND, 1, true},
	{"1 a microsecond", 1, 1000, 1000000, true},
	{"1 in 999 ns", 1, 999, 1, false},
	{"1,000,000 in a second less 1 ns", 1000000, SECOND - 1, 1, false},
	{"1,000,001 in two seconds", 1000001, 2 * SECOND, 1, false},
	{"1 a year", 1, YEAR, 1, true},
	{"1 a year, burst 1,000,000", 1, YEAR, 1000000, true},
	{"1 in a year and 1 ns", 1, YEAR + 1, 1, false},
	{"2 in two years", 2, 2 * YEAR, 1, true},
	{"500 in 500 years", 500, 500 * YEAR, 1000000, true},
	{"1,000,000 in 2^64 - 1 ns", 1000000, UINT64_MAX, 7, true},
	{"583 in 2^64 - 1 ns", 583, UINT64_MAX, 7, false},
	{"no period", 1, 0, 1, false},
	{"burst 0", 1, SECOND, 0, false},
	{"burst 1,000,001", 1, SECOND, 1000001, false},
	{"0 a second", 0, SECOND, 5, true},
	{"0 a second, burst 0", 0, SECOND, 0, false},
	{"0 in no period", 0, 0, 5, false},
	{"0 in more than a year", 0, YEAR + 1, 5, false},
};

static const struct {
	const char *what;
	uint32_t queue, at_once;
	uint64_t max_wait;
	bool good;
	uint32_t limit;
} queues[] = {
	{"no queue", 0, 0, 0, true, 1},
	{"queue 5", 5, 0, 0, true, 6},
	{"queue 5, all at once", 5, 5, 0, true, 6},
	{"queue 5, 6 at once", 5, 6, 0, false, 0},
	{"queue 999,999", 999999, 999999, 0, true, 1000000},
	{"queue 1,000,000", 1000000, 0, 0, false, 0},
	{"2/s, wait 3s: six wait", 100, 0, 3 * SECOND, true, 7},
	{"2/s, wait a nanosecond less: five and a bit", 100, 0, 3 * SECOND - 1, true, 6},
	{"2/s, 4 at once, wait 3s", 100, 4, 3 * SECOND, true, 11},
	{"2/s, queue shorter than the wait", 5, 0, 3 * SECOND, true, 6},
	{"2/s, wait 1 ns", 5, 0, 1, true, 1},
	{"2/s, wait for ever", 5, 0, UINT64_MAX, true, 6},
};

static const struct {
	const char *what;
	uint32_t count;
	uint64_t period;
	int align;
	bool good;
} windows[] = {
	{"1 a millisecond", 1, MS, ALGO_FIRST_REQUEST, true},
	{"1,000 a millisecond", 1000, MS, ALGO_FIRST_REQUEST, true},
	{"1,001 a millisecond", 1001, MS, ALGO_FIRST_REQUEST, false},
	{"less than a millisecond", 1, MS - 1, ALGO_FIRST_REQUEST, false},
	{"1,000,000,000 in 400 days", 1000000000, 400 * DAY, ALGO_CALENDAR_YEAR, true},
	{"1,000,000,001 in 400 days", 1000000001, 400 * DAY, ALGO_CALENDAR_YEAR, false},
	{"400 days and 1 ns", 1, 400 * DAY + 1, ALGO_FIRST_REQUEST, false},
	{"0 a day", 0, DAY, ALGO_CLOCK, true},
	{"an alignment that does not exist", 1, DAY, ALGO_CALENDAR_HOUR + 1, false},
};

static bool untouched(const struct algo_numbers *n)
{
	const unsigned char *bytes = (const unsigned char *)n;
	for (size_t i = 0; i < sizeof *n; i++)
		if (bytes[i] != 0x5a)
			return false;
	return true;
}

/* How far two counts and an index fit one word: what N may be, at 1,000,000 a second at most. */
static const struct {
	const char *what;
	uint64_t period;
	uint32_t most;
} slides[] = {
	{"a millisecond", MS, 1000},
	{"a second", SECOND, (1 << 15) - 1},
	{"ten seconds", 10 * SECOND, (1 << 17) - 1},
	{"a minute", MINUTE, (1 << 18) - 1},
	{"an hour", HOUR, (1 << 21) - 1},
	{"a day", DAY, (1 << 24) - 1},
	{"400 days", 400 * DAY, (1 << 28) - 1},
};

static void slides_and_cells(void)
{
	struct algo_numbers n;
	for (size_t i = 0; i < sizeof slides / sizeof *slides; i++) {
		ok(algo_sliding_window(slides[i].most, slides[i].period, &n) && algo_valid(&n),
		   slides[i].what);
		memset(&n, 0x5a, sizeof n);
		ok(!algo_sliding_window(slides[i].most + 1, slides[i].period, &n) && untouched(&n),
		   "one more does not fit");
		ok(algo_sliding_window(0, slides[i].period, &n) && algo_valid(&n), "0 does");
		is_u64(algo_window_ns(&n), slides[i].period, "its w");
	}
	memset(&n, 0x5a, sizeof n);
	ok(!algo_sliding_window(1, MS - 1, &n) && !algo_sliding_window(1, 400 * DAY + 1, &n) &&
		   !algo_sliding_log(1, MS - 1, &n) && !algo_sliding_log(1, 400 * DAY + 1, &n) &&
		   !algo_sliding_log(1001, MS, &n) && !algo_sliding_log(ALGO_LOG_MAX + 1, DAY, &n) &&
		   !algo_concurrent(ALGO_LOG_MAX + 1, &n) && untouched(&n),
	   "out of range");
	ok(algo_sliding_log(ALGO_LOG_MAX, 400 * DAY, &n) && algo_valid(&n), "the largest log");
	is_u64(algo_window_ns(&n), 400 * DAY, "its w");
	ok(algo_sliding_log(0, MS, &n) && algo_valid(&n), "a log of 0");
	ok(algo_concurrent(ALGO_LOG_MAX, &n) && algo_valid(&n), "the most in flight");
	is_u64(algo_window_ns(&n), 0, "no w");
	ok(algo_concurrent(0, &n) && algo_valid(&n), "none in flight");

	algo_sliding_window(100, MINUTE, &n);
	n.inverse++;
	ok(!algo_valid(&n), "a wrong reciprocal is not valid");
	algo_sliding_window(100, MINUTE, &n);
	n.count_bits--;
	ok(!algo_valid(&n), "nor are other bits");

	struct claim index = {"windows without a division are those of the division", 0, 0};
	for (int i = 0; i < 400000; i++) {
		uint64_t period = i % 16 ? MS + random_size(400 * DAY - MS)
					 : UINT64_C(1) << (20 + i / 16 % 35);
		if (!algo_sliding_window(1, period, &n))
			ok(false, "numbers in range are built");
		uint64_t now = random_below(8) ? random_below(ALGO_TIME_MAX) : ALGO_TIME_MAX - 1;
		if (random_below(2)) /* an edge, or one beside it */
			now = now / period * period + random_below(3) - (now >= period);
		claim(&index, sliding_index(&n, now) == now / period);
	}
	claim_end(&index, 400000);
}

static void ranges(void)
{
	struct algo_numbers n;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		memset(&n, 0x5a, sizeof n);
		bool built = algo_token_bucket(rates[i].count, rates[i].period, rates[i].burst, &n);
		ok(built == rates[i].good && (built ? algo_valid(&n) : untouched(&n)), rates[i].what);
		if (rates[i].burst == 0 || rates[i].burst > ALGO_BURST_MAX)
			continue;
		memset(&n, 0x5a, sizeof n);
		built = algo_leaky_bucket(rates[i].count, rates[i].period, rates[i].burst - 1, 0, 0, &n);
		ok(built == rates[i].good && (built ? algo_valid(&n) : untouched(&n)), "leaky, the same");
	}
	for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
		memset(&n, 0x5a, sizeof n);
		bool built = algo_leaky_bucket(2, SECOND, queues[i].queue, queues[i].at_once,
					       queues[i].max_wait, &n);
		ok(built == queues[i].good && (built ? algo_valid(&n) : untouched(&n)), queues[i].what);
		struct algo_report report = {0};
		if (built)
			algo_describe(&n, 0, &(struct algo_time){SECOND, 0}, 1, false, &report);
		is_u64(report.limit, queues[i].limit, "its limit");
	}
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		memset(&n, 0x5a, sizeof n);
		bool built = algo_fixed_window(windows[i].count, windows[i].period,
					       (enum algo_align)windows[i].align, &n);
		ok(built == windows[i].good && (built ? algo_valid(&n) : untouched(&n)), windows[i].what);
	}
	memset(&n, 0, sizeof n);
	ok(!algo_valid(&n), "no numbers at all are not valid");
	algo_leaky_bucket(2, SECOND, 5, 0, 0, &n);
	n.at_once = n.capacity + 1;
	ok(!algo_valid(&n), "more at once than the queue holds is not valid");
	ok(sizeof(struct algo_numbers) == 40, "the layout is a file format");
}

/* scale / 2^64 units per ns against count * 2^shift / period, in integers. */
static void rate_error(struct claim *c, uint32_t count, uint64_t period, uint32_t burst)
{
	struct algo_numbers n;
	if (!claim(c, algo_token_bucket(count, period, burst, &n)))
		return;
	unsigned __int128 exact = (unsigned __int128)count << (n.shift + 64);
	unsigned __int128 made = (unsigned __int128)n.scale * period;
	/* never slower, and less than 10^-6 faster; in fact less than a quarter of a unit in all of table
	 * time */
	unsigned __int128 fast = made - exact;
	claim(c, made >= exact && fast < exact / 1000000 + (exact == 0) && fast < period);
	/* the word has room for all of table time, the largest debt and the largest cost; a token is not too
	 * coarse */
	uint64_t clock = bucket_clock(&n, ALGO_TIME_MAX - 1);
	claim(c, clock < ALGO_TIME_MAX && clock + ALGO_DEBT_MAX < UINT64_C(1) << 62);
	claim(c, n.capacity <= ALGO_DEBT_MAX / 2 && ((uint64_t)ALGO_BURST_MAX << n.shift) <= ALGO_DEBT_MAX);
	claim(c, n.shift >= 9 && n.capacity == (uint64_t)burst << n.shift);
	/* in the period of a whole bucket, the bucket passes once more */
	unsigned __int128 nominal = ((unsigned __int128)burst * period + count - 1) / count;
	uint64_t told = algo_window_ns(&n);
	claim(c, nominal > UINT64_MAX ? told > UINT64_MAX / 1000 * 999
				      : told <= nominal && nominal - told <= (nominal >> 40));
}

/* A customer who takes each token as soon as it is there: the k-th comes at k * period / count. */
static void measured(struct claim *c, uint32_t count, uint64_t period)
{
	struct algo_numbers n;
	algo_token_bucket(count, period, 1, &n);
	struct algo_time t = {random_below(ALGO_TIME_MAX / 2), 0};
	const uint64_t start = t.now;
	uint64_t state = 0;
	for (uint64_t k = 0; k < 200; k++) {
		struct algo_outcome outcome;
		struct algo_report report;
		algo_step(&n, state, &t, 1, &outcome);
		unsigned __int128 due = (unsigned __int128)k * period; /* in 1/count ns */
		unsigned __int128 got = (unsigned __int128)(t.now - start) * count;
		/* on time; early by the rounding of one unit at most */
		claim(c, outcome.allowed && got < due + count && got + 2 * (period >> n.shift) + 2 >= due);
		state = outcome.state;
		algo_describe(&n, state, &t, 1, true, &report);
		if (report.wait_ns > ALGO_TIME_MAX - YEAR - t.now)
			return;
		t.now += report.wait_ns;
	}
}

int main(void)
{
	ranges();
	slides_and_cells();

	struct claim grid = {"grid: rate to 10^-6, room in the word", 0, 0};
	static const uint32_t counts[] = {1,   2,    3,	   5,	 7,	10,    59,     60,     97,     100,
					  997, 1000, 3600, 9999, 86400, 99991, 123457, 999983, 1000000};
	static const uint64_t periods[] = {
		1000,	1001, 999983, MS,      SECOND - 1, SECOND,    SECOND + 1, 7 * SECOND,
		MINUTE, HOUR, DAY,    7 * DAY, 30 * DAY,   365 * DAY, YEAR,	  1000 * YEAR / 2};
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		for (size_t k = 0; k < sizeof periods / sizeof *periods; k++) {
			if (counts[i] * UINT64_C(1000) > periods[k] || periods[k] > (big)counts[i] * YEAR)
				continue;
			rate_error(&grid, counts[i], periods[k], 1);
			rate_error(&grid, counts[i], periods[k], ALGO_BURST_MAX);
		}
	claim_end(&grid, 2000);

	struct claim random = {"random rates: the same", 0, 0},
		     customer = {"the k-th token is there at k * period / count", 0, 0};
	for (int i = 0; i < 200000; i++) {
		uint32_t count;
		uint64_t period;
		random_rate(&count, &period);
		rate_error(&random, count, period, (uint32_t)random_size(ALGO_BURST_MAX));
		if (i % 40 == 0)
			measured(&customer, count, period);
	}
	claim_end(&random, 1000000);
	claim_end(&customer, 500000);

	/* windows: the end is late by less than 2N ns, and has room */
	struct claim ends = {"ends: never early, late by less than 2N ns, bits 62 and 63 are 0", 0, 0};
	for (int i = 0; i < 200000; i++) {
		uint64_t each;
		struct algo_numbers n = random_numbers(ALGO_FIXED_WINDOW, &each);
		n.align = ALGO_FIRST_REQUEST;
		struct algo_time t = {ALGO_TIME_MAX - 1 - random_below(ALGO_TIME_MAX), 0};
		if (random_below(8) == 0)
			t.now = ALGO_TIME_MAX - 1;
		struct algo_outcome outcome;
		algo_step(&n, 0, &t, 1, &outcome);
		uint64_t end = window_end(&n, outcome.state);
		claim(&ends, end >= t.now + n.scale && end - t.now - n.scale < 2 * n.capacity &&
				     outcome.state >> 62 == 0 && end - t.now - n.scale <= n.scale / 500);
	}
	claim_end(&ends, 200000);
	return done_testing();
}
