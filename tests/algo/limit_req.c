/* SPDX-License-Identifier: BSD-2-Clause */
/* limit_req: the kind `nginx` in examples: what is built, what a zone lets pass and when, one key asked by several, and
 * what becomes of it when the rate changes. */
#include "tests/algo/common.h"

#include "algo/limit_req.h"

#define PASS (-1)

/* ---- what is built ---- */

static const struct {
	const char *what;
	uint32_t count;
	uint64_t period;
	uint32_t burst, at_once;
	bool ms, ns; /* in range of algo_limit_req, of algo_limit_req_exact */
	uint64_t scale;
} built[] = {
	{"1r/m is 16 thousandths a second", 1, MINUTE, 0, 0, true, true, 16},
	{"7r/m", 7, MINUTE, 0, 0, true, true, 116},
	{"59r/m", 59, MINUTE, 5, 5, true, true, 983},
	{"60r/m is 1r/s", 60, MINUTE, 5, 2, true, true, 1000},
	{"1000r/s", 1000, SECOND, 999999, 0, true, true, 1000000},
	{"60000r/m", 60000, MINUTE, 0, 0, true, true, 1000000},
	{"1001r/s: only in ns", 1001, SECOND, 0, 0, false, true, 0},
	{"60001r/m: only in ns", 60001, MINUTE, 0, 0, false, true, 0},
	{"1r/h: only in ns", 1, HOUR, 0, 0, false, true, 0},
	{"1 in 2 s: only in ns", 1, 2 * SECOND, 0, 0, false, true, 0},
	{"1 a year", 1, YEAR, 0, 0, false, true, 0},
	{"1 in a year and 1 ns", 1, YEAR + 1, 0, 0, false, false, 0},
	{"1,000,000 a second", 1000000, SECOND, 0, 0, false, true, 0},
	{"1,000,001 a second", 1000001, SECOND, 0, 0, false, false, 0},
	{"burst 1,000,000", 1, SECOND, 1000000, 0, false, false, 0},
	{"more at once than burst", 1, SECOND, 5, 6, false, false, 0},
	{"no period", 1, 0, 0, 0, false, false, 0},
};

static bool untouched(const struct algo_numbers *n)
{
	const unsigned char *bytes = (const unsigned char *)n;
	for (size_t i = 0; i < sizeof *n; i++)
		if (bytes[i] != 0x5a)
			return false;
	return true;
}

static void ranges(void)
{
	struct algo_numbers n;
	for (size_t i = 0; i < sizeof built / sizeof *built; i++) {
		memset(&n, 0x5a, sizeof n);
		bool good = algo_limit_req(built[i].count, built[i].period, built[i].burst, built[i].at_once,
					   &n);
		ok(good == built[i].ms &&
			   (good ? algo_valid(&n) && n.scale == built[i].scale : untouched(&n)),
		   built[i].what);
		memset(&n, 0x5a, sizeof n);
		good = algo_limit_req_exact(built[i].count, built[i].period, built[i].burst, built[i].at_once,
					    &n);
		ok(good == built[i].ns &&
			   (good ? algo_valid(&n) && n.scale == built[i].period / built[i].count
				 : untouched(&n)),
		   "  and in ns");
	}
	struct algo_report report;
	const struct algo_time t = {77 * SECOND, 0};
	ok(algo_limit_req(0, SECOND, 5, 0, &n) && algo_valid(&n), "0r/s");
	algo_describe(&n, 0, &t, 1, false, &report);
	ok(report.limit == 0 && report.wait_ns == ALGO_NEVER, "  lets nothing pass, ever");
	algo_bounded(&n, &(struct algo_bound){.burst = 5}, &n);
	is_u64(n.capacity, 0, "  whoever asks");
	ok(algo_limit_req_exact(1, YEAR, 999999, 0, &n) && algo_valid(&n), "a burst of a million years");
	is_u64(n.capacity, 18 * YEAR, "  is one of 18");
	algo_limit_req(2, SECOND, 5, 0, &n);
	is_u64(algo_window_ns(&n), 3 * SECOND, "six pass in 3 s of 2r/s burst=5: its w");
	algo_limit_req_exact(1, HOUR, 5, 0, &n);
	is_u64(algo_window_ns(&n), 6 * HOUR, "and in 6 h of 1r/h");

	struct algo_numbers flight = {0};
	algo_concurrent(10, &flight);
	algo_bounded(&flight, &(struct algo_bound){.burst = 2}, &n);
	is_u64(n.capacity, 3, "limit_conn: this line lets three be in flight");
	algo_bounded(&flight, &(struct algo_bound){.burst = UINT32_MAX}, &n);
	ok(n.capacity == ALGO_LOG_MAX && algo_valid(&n), "  no more than can be counted");
	algo_token_bucket(5, SECOND, 5, &flight);
	algo_bounded(&flight, &(struct algo_bound){.burst = 2}, &n);
	ok(memcmp(&n, &flight, sizeof n) == 0, "other kinds are as they are");
	is_u64(algo_excess(&n, UINT64_MAX / 4, 0, false), 0, "  and have no excess");
	algo_limit_req_exact(0, 0, 0, 0, &flight);
	algo_bounded(&flight, &(struct algo_bound){.burst = UINT32_MAX, .at_once = UINT32_MAX, .token_ns = 1},
		     &n);
	ok(algo_valid(&n) && n.scale == 1000 && n.capacity == 1000 * UINT64_C(1000000),
	   "a bound out of range is cut to it");
	algo_bounded(&flight, &(struct algo_bound){.token_ns = UINT64_MAX}, &n);
	ok(algo_valid(&n) && n.scale == YEAR, "  at the other end too");
	algo_bounded(&flight, &(struct algo_bound){.burst = 1}, &n);
	is_u64(n.capacity, 2 * SECOND, "who does not say either takes a second for each");
}

/* ---- one key of a zone ---- */

struct ask {
	uint64_t at_ms;
	uint32_t burst, at_once;
	int32_t refused;	/* excess in thousandths that is logged, PASS: not refused */
	uint64_t excess, delay; /* of one that passes; delay in ms */
};

static void play(const char *what, uint32_t count, uint64_t period, const struct ask *asks, size_t size)
{
	struct algo_numbers row, n;
	uint64_t state = 0;
	note("%s", what);
	if (!algo_limit_req(count, period, 0, 0, &row)) {
		ok(false, "numbers in range are built");
		return;
	}
	for (size_t i = 0; i < size; i++) {
		struct algo_bound bound = {.burst = asks[i].burst, .at_once = asks[i].at_once};
		struct algo_time t = {1000 * SECOND + asks[i].at_ms * MS + 999999, 0};
		struct algo_outcome out;
		struct algo_report report;
		algo_bounded(&row, &bound, &n);
		algo_step(&n, state, &t, 1, &out);
		state = out.state;
		ok(out.allowed == (asks[i].refused == PASS), "verdict");
		is_u64(algo_excess(&n, state, t.now, out.allowed),
		       out.allowed ? asks[i].excess : (uint64_t)asks[i].refused, "  excess");
		if (!out.allowed)
			continue;
		algo_describe(&n, state, &t, 1, true, &report);
		is_u64(report.delay_ns, asks[i].delay * MS, "  delay");
	}
}
#define PLAY(what, count, period, asks) play(what, count, period, asks, sizeof(asks) / sizeof *(asks))

static void stories(void)
{
	static const struct ask queue[] = {
		{0, 5, 0, PASS, 0, 0},	     {0, 5, 0, PASS, 1000, 500},   {0, 5, 0, PASS, 2000, 1000},
		{0, 5, 0, PASS, 3000, 1500}, {0, 5, 0, PASS, 4000, 2000},  {0, 5, 0, PASS, 5000, 2500},
		{0, 5, 0, 6000, 0, 0},	     {499, 5, 0, 5002, 0, 0},	   {500, 5, 0, PASS, 5000, 2500},
		{3500, 5, 0, PASS, 0, 0},    {3501, 5, 0, PASS, 998, 499},
	};
	PLAY("rate=2r/s burst=5: five wait, the seventh is refused", 2, SECOND, queue);
	static const struct ask slow[] = {
		{0, 0, 0, PASS, 0, 0},
		{60000, 0, 0, 40, 0, 0},
		{62499, 0, 0, 1, 0, 0},
		{62500, 0, 0, PASS, 0, 0},
	};
	PLAY("rate=1r/m is one in 62.5 s", 1, MINUTE, slow);
	static const struct ask cut[] = {
		{0, 1, 0, PASS, 0, 0},	{1, 1, 0, PASS, 1000, 62500}, {2, 1, 0, 2000, 0, 0},
		{62, 1, 0, 2000, 0, 0}, {64, 1, 0, 1999, 0, 0},	      {62501, 1, 0, PASS, 1000, 62500},
	};
	PLAY("what has drained is cut to thousandths", 1, MINUTE, cut);
	static const struct ask lines[] = {
		{0, 4, 4, PASS, 0, 0},	  {0, 4, 4, PASS, 1000, 0},	  {0, 4, 4, PASS, 2000, 0},
		{0, 1, 0, 3000, 0, 0},	  {0, 0, 0, 3000, 0, 0},	  {0, 4, 1, PASS, 3000, 2000},
		{3000, 0, 0, 1000, 0, 0}, {3000, 1, 0, PASS, 1000, 1000},
	};
	PLAY("several lines, one excess", 1, SECOND, lines);
	static const struct ask fast[] = {
		{0, 0, 0, PASS, 0, 0},
		{0, 0, 0, 1000, 0, 0},
		{1, 0, 0, PASS, 0, 0},
		{1, 0, 0, 1000, 0, 0},
	};
	PLAY("rate=1000r/s without burst: one a ms", 1000, SECOND, fast);
}

/* ---- another rate ---- */

static uint64_t used(const struct algo_numbers *n, const struct algo_time *t, uint32_t cost)
{
	struct algo_outcome out;
	algo_step(n, 0, t, cost, &out);
	return out.state;
}

static void carried(void)
{
	struct algo_numbers two, ten, hour, asks, leaky;
	const struct algo_time t = {1000 * SECOND + 500, 0};
	algo_limit_req(2, SECOND, 9, 0, &two);
	algo_limit_req(10, SECOND, 3, 0, &ten);
	algo_limit_req_exact(1, HOUR, 9, 0, &hour);
	algo_limit_req_exact(0, 0, 9, 0, &asks);
	algo_leaky_bucket(2, SECOND, 9, 0, 0, &leaky);
	uint64_t state = used(&two, &t, 6);
	is_u64(algo_excess(&two, state, t.now, true), 5000, "six of 2r/s");
	is_u64(algo_excess(&ten, algo_convert(&two, &ten, state, &t), t.now, true), 5000,
	       "are six of 10r/s, more than its burst");
	is_u64(algo_excess(&hour, algo_convert(&two, &hour, state, &t), t.now, true), 5000,
	       "and six of 1r/h");
	is_u64(algo_convert(&hour, &two, algo_convert(&two, &hour, state, &t), &t), state, "and back");
	is_u64(algo_rank(&asks, algo_convert(&two, &asks, state, &t)), 1003 * SECOND,
	       "where only the asker knows the rate, what has 3 s to drain has 3 s");
	is_u64(algo_convert(&asks, &two, 1003 * SECOND, &t), state, "and back");
	is_u64(algo_convert(&two, &two, state, &t), state, "the same numbers: the same word");
	struct algo_report report;
	algo_describe(&leaky, algo_convert(&two, &leaky, state, &t), &t, 1, false, &report);
	is_u64(report.remaining, 4, "of another kind it is the share: six of ten");
	algo_describe(&two, algo_convert(&leaky, &two, used(&leaky, &t, 5), &t), &t, 1, false, &report);
	is_u64(report.remaining, 5, "from another kind too: half");
	algo_limit_req(0, SECOND, 9, 0, &ten);
	is_u64(algo_convert(&two, &ten, state, &t), 0, "0r/s has nothing to remember");
	is_u64(algo_settle(&ten, 0, &t, 5), 0, "  and settles nothing");
}

/* What a race charged and gave back has cost less than a thousandth of a request. */
static void given_back(void)
{
	struct algo_numbers n;
	struct algo_time t = {1000 * SECOND, 0};
	algo_limit_req(7, MINUTE, 3, 0, &n);
	uint64_t state = used(&n, &t, 2);
	t.now += MS; /* 116 millionths have drained */
	struct algo_outcome out;
	algo_step(&n, state, &t, 1, &out);
	is_u64(algo_give_back(&n, out.state, &t, t.now, 1) - state, 116,
	       "given back at once: but for the rounding");
	is_u64(algo_excess(&n, algo_give_back(&n, out.state, &t, t.now, 1), t.now, false), 2000,
	       "which nginx has too");
}

int main(void)
{
	ranges();
	stories();
	carried();
	given_back();
	return done_testing();
}
