/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * carry: counters carried over to new numbers. The share that is used stays used, rounded towards more,
 * within one kind and across kinds; a window whose N changes keeps its end; nothing comes out that the new
 * limit would not allow.
 */
#include "tests/algo/random_counter.h"

#include "algo/bucket.h"
#include "algo/window.h"

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

/* What is used of it, in units of its own. */
static uint64_t used(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	return n->kind == ALGO_FIXED_WINDOW ? window_used(n, state, now)
					    : bucket_debt(state, bucket_clock(n, now));
}

static void properties(void)
{
	struct claim share = {"the share that is used: the least that is no smaller", 0, 0};
	struct claim full = {"never more used than all of it, unless it was already", 0, 0};
	struct claim allowed = {
		"refused before at the same share: never allowed by more than the old share left", 0, 0};
	struct claim debt = {"debts beyond the capacity keep their proportion or saturate", 0, 0};
	struct claim round = {"there and back again frees nothing", 0, 0};
	struct claim keeps = {"bit 63 stays 0", 0, 0};
	for (int i = 0; i < 400000; i++) {
		uint64_t each, other;
		struct algo_numbers from = random_numbers((enum algo_kind)(1 + i % 3), &each);
		struct algo_numbers to = random_numbers((enum algo_kind)(1 + i / 3 % 3), &other);
		if (from.kind == ALGO_FIXED_WINDOW && random_below(2)) { /* only N changes */
			enum algo_align align = from.align;
			algo_fixed_window((uint32_t)random_size(from.capacity), from.scale, align, &to);
		}
		struct algo_time t = {random_below(ALGO_TIME_MAX - 4 * YEAR),
				      (int64_t)random_below(YEAR * 50)};
		uint64_t state = random_use(&from, each, &t, (int)random_below(6));
		bool beyond = from.kind != ALGO_FIXED_WINDOW && random_below(8) == 0;
		if (beyond)
			state = bucket_clock(&from, t.now) + from.capacity +
				random_size(ALGO_DEBT_MAX - from.capacity);

		uint64_t carried = algo_convert(&from, &to, state, &t);
		big before = used(&from, state, t.now), after = used(&to, carried, t.now);
		claim(&keeps, carried >> 63 == 0);
		if (beyond) {
			big most = to.kind == ALGO_FIXED_WINDOW ? (big)to.capacity : (big)ALGO_DEBT_MAX;
			claim(&debt, after == most || (after * from.capacity >= before * to.capacity &&
						       (after - 1) * from.capacity < before * to.capacity));
			continue;
		}
		claim(&share, after * from.capacity >= before * to.capacity &&
				      (after == 0 || (after - 1) * from.capacity < before * to.capacity));
		claim(&full, after <= to.capacity);
		struct algo_report report, told;
		algo_describe(&from, state, &t, 1, false, &report);
		algo_describe(&to, carried, &t, 1, false, &told);
		claim(&allowed, report.remaining || (big)told.remaining * from.capacity <=
							    (big)told.limit * ((big)from.capacity - before) +
								    from.capacity);
		uint64_t again = algo_convert(&to, &from, carried, &t);
		claim(&round, used(&from, again, t.now) >= before);
	}
	claim_end(&share, 300000);
	claim_end(&full, 300000);
	claim_end(&allowed, 300000);
	claim_end(&debt, 20000);
	claim_end(&round, 300000);
	claim_end(&keeps, 400000);
}

int main(void)
{
	examples();
	properties();
	return done_testing();
}
