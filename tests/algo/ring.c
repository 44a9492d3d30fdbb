/* SPDX-License-Identifier: BSD-2-Clause */
/* ring: the word of a sliding log: what it says about when and where, and that it says nothing else. */
#include "tests/algo/common.h"

#include "algo/log.h"

static struct algo_numbers log_of(uint32_t count, uint64_t period)
{
	struct algo_numbers n = {0};
	ok(algo_sliding_log(count, period, &n), "log built");
	return n;
}

static void said(void)
{
	struct algo_numbers n = log_of(4, MINUTE), none = log_of(0, MINUTE), flight = {0};
	struct algo_time t = {1000 * SECOND, 0};
	struct algo_report report;
	struct algo_outcome outcome;
	uint64_t word = log_word(&n, 1030 * SECOND, 3), until = log_until(&n, word);

	ok(until >= 1030 * SECOND && until < 1030 * SECOND + 131072, "until: rounded up by less than a tick");
	is_u64(log_next(&n, word), 3, "the next cell");
	is_u64(log_next(&n, word | 0xffff), 0, "a cell beyond N is none: the first");
	is_u64(log_next(&none, word), 0, "of none too");
	ok(!algo_recovered(&n, word, until - 1) && algo_recovered(&n, word, until), "recovered at until");
	is_u64(algo_rank(&n, word), until, "which is its rank");
	is_u64(algo_used(&n, word, t.now), UINT32_C(1) << 30, "at least one of 4 is used");
	is_u64(algo_used(&n, word, until), 0, "none when it has recovered");
	is_u64(algo_used(&none, word, t.now), UINT32_MAX, "of 0 all");

	algo_describe(&n, word, &t, 1, false, &report);
	is_u64(report.limit, 4, "limit");
	is_u64(report.remaining, 0, "what is left the word does not say");
	is_u64(report.wait_ns, until - t.now, "not longer than this");
	is_u64(report.full_ns, until - t.now, "nothing counts any more then");
	algo_describe(&n, word, &t, 5, false, &report);
	is_u64(report.wait_ns, ALGO_NEVER, "5 of 4 never fit");
	algo_describe(&n, 0, &t, 4, false, &report);
	is_u64(report.remaining, 4, "a log that is not there: all of it");
	is_u64(report.wait_ns + report.full_ns + report.delay_ns, 0, "now");

	algo_step(&n, word, &t, 0, &outcome);
	ok(outcome.allowed && outcome.state == word, "nothing always fits");
	algo_step(&n, 0, &t, 1, &outcome);
	ok(!outcome.allowed && outcome.state == 0, "whether one fits only the table can say");
	is_u64(algo_settle(&n, word, &t, 2), word, "settling is the table's");
	is_u64(algo_punish(&n, word, &t, 2), word, "so is counting refusals");
	is_u64(algo_give_back(&n, word, &t, t.now, 2), word, "and giving back");

	ok(algo_concurrent(4, &flight), "four in flight built");
	ok(algo_recovered(&flight, word, t.now), "a word of a concurrent limit is worth nothing");
	is_u64(algo_used(&flight, word, t.now) + algo_rank(&flight, word), 0, "nothing at all");
	algo_describe(&flight, word, &t, 4, false, &report);
	is_u64(report.remaining, 4, "as if nothing were in flight");
	is_u64(report.wait_ns + report.full_ns + report.delay_ns, 0, "now");
	algo_describe(&flight, word, &t, 5, false, &report);
	is_u64(report.wait_ns, ALGO_NEVER, "5 of 4 never");
	algo_step(&flight, 0, &t, 1, &outcome);
	ok(!outcome.allowed, "whether one fits only the table can say");
	algo_step(&flight, word, &t, 0, &outcome);
	ok(outcome.allowed && outcome.state == word, "nothing always fits");
}

static void carried(void)
{
	struct algo_numbers ten = log_of(10, MINUTE), four = log_of(4, HOUR), none = log_of(0, MINUTE);
	struct algo_numbers bucket = {0}, flight = {0};
	struct algo_time t = {1000 * SECOND, 0};
	algo_token_bucket(10, SECOND, 10, &bucket);
	algo_concurrent(10, &flight);
	uint64_t word = log_word(&ten, 1030 * SECOND, 7), other = algo_convert(&ten, &four, word, &t);
	is_u64(log_until(&four, other), log_until(&ten, word), "a log with another N: the same until");
	is_u64(log_next(&four, other), 3, "next modulo N");
	is_u64(algo_convert(&ten, &ten, word, &t), word, "the same numbers: the same word");
	is_u64(algo_convert(&ten, &none, word, &t), 0, "to none: nothing");
	is_u64(algo_convert(&ten, &bucket, word, &t), 0, "to a bucket: its cells are not in the word");
	is_u64(algo_convert(&ten, &flight, word, &t), 0, "to requests in flight");
	is_u64(algo_convert(&flight, &ten, word, &t), 0, "from requests in flight");
	is_u64(algo_convert(&bucket, &ten, algo_settle(&bucket, 0, &t, 10), &t), 0, "from a bucket");
	t.now = 1031 * SECOND;
	is_u64(algo_convert(&ten, &four, word, &t), 0, "a recovered one: nothing");
}

int main(void)
{
	said();
	carried();
	struct claim round = {"what goes in comes out: next exactly, until rounded up by less than a tick", 0,
			      0};
	struct claim bits = {"bits 60 to 63 are 0", 0, 0};
	for (int i = 0; i < 200000; i++) {
		struct algo_numbers n = {0};
		uint32_t count = (uint32_t)random_size(ALGO_LOG_MAX), next = (uint32_t)random_below(count);
		uint64_t period = count * UINT64_C(1000) + MS + random_below(399 * DAY);
		if (!algo_sliding_log(count, period, &n))
			ok(false, "numbers in range are built");
		uint64_t until = random_below(8) ? random_below(ALGO_TIME_MAX) + period
						 : random_u64() >> random_below(64);
		uint64_t word = log_word(&n, until, next);
		claim(&bits, word >> 60 == 0);
		if (until < (UINT64_C(1) << 61) - (UINT64_C(1) << LOG_SHIFT))
			claim(&round, log_next(&n, word) == next && log_until(&n, word) >= until &&
					      log_until(&n, word) - until < UINT64_C(1) << LOG_SHIFT);
	}
	claim_end(&round, 100000);
	claim_end(&bits, 200000);
	return done_testing();
}
