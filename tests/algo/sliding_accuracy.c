/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sliding_accuracy: how far the estimate of a sliding window is from the truth, an exact log of what it admitted.
 *
 * However requests come: N in each window of its own, and less than 2N in any period, wherever it begins; both are
 * reached. If they come evenly, from the beginning of a window on: N + 1 in any period at most, and in the long run N in
 * each.
 */
#include "tests/algo/common.h"

#define LOG 20000

static uint64_t times[LOG];
static size_t logged;

static struct claim own = {"no window of its own holds more than N", 0, 0};
static struct claim twice = {"no period anywhere holds 2N", 0, 0};
static struct claim even = {"who asks evenly gets N + 1 in any period at most", 0, 0};
static struct claim share = {"and over many periods N in each, less what one period weighs", 0, 0};
static struct claim reached = {"2N - 1 is reached, and nothing more", 0, 0};

static uint64_t since(uint64_t from) /* admitted at `from` or later */
{
	size_t first = logged;
	while (first > 0 && times[first - 1] >= from)
		first--;
	return logged - first;
}

/* Whether one request passes; the log keeps it. */
static bool ask(const struct algo_numbers *n, uint64_t *state, uint64_t now)
{
	struct algo_time t = {now, 0};
	struct algo_outcome outcome;
	algo_step(n, *state, &t, 1, &outcome);
	if (!outcome.allowed || logged == LOG)
		return false;
	*state = outcome.state;
	times[logged++] = now;
	return true;
}

/* Bursts, floods and pauses of random length, most of them around the edges. */
static void anyhow(uint32_t count, uint64_t period)
{
	struct algo_numbers n;
	if (!algo_sliding_window(count, period, &n)) {
		ok(false, "numbers in range are built");
		return;
	}
	uint64_t state = 0, now = 100 * period + random_below(period), pace = 1;
	logged = 0;
	for (int step = 0; step < 3000; step++) {
		if (random_below(20) == 0)
			pace = 1 + random_below(2 * period / count + 1);
		if (random_below(40) == 0) /* up to the last instants of a window */
			now += period - now % period - 1 - random_below(random_below(2) ? 4 : period / 8);
		else
			now += random_below(pace);
		if (!ask(&n, &state, now))
			continue;
		claim(&twice, since(now - period + 1) < 2 * (uint64_t)count);
		claim(&own, since(now - now % period) <= count);
	}
}

/* One request each `gap`, from the first on: more than fit. */
static void evenly(uint32_t count, uint64_t period)
{
	struct algo_numbers n;
	if (!algo_sliding_window(count, period, &n)) {
		ok(false, "numbers in range are built");
		return;
	}
	uint64_t gap = period / (count + 1 + random_below(3 * count)), start = 100 * period, state = 0,
		 now = start;
	logged = 0;
	for (; now < start + 12 * period && logged < LOG; now += gap)
		if (ask(&n, &state, now))
			claim(&even, since(now - period + 1) <= count + 1u);
	claim(&share, logged <= 12 * (uint64_t)count && logged + count + 12 >= 12 * (uint64_t)count);
}

/* N at the very end of a window, then all that comes free, until the period is over. */
static void worst(uint32_t count, uint64_t period)
{
	struct algo_numbers n;
	if (!algo_sliding_window(count, period, &n)) {
		ok(false, "numbers in range are built");
		return;
	}
	uint64_t state = 0, first = 101 * period - 1, now = first;
	logged = 0;
	while (ask(&n, &state, now))
		;
	claim(&reached, logged == count);
	while (now < first + period) {
		struct algo_time t = {now, 0};
		struct algo_report report;
		algo_describe(&n, state, &t, 1, false, &report);
		now += report.wait_ns;
		if (now < first + period)
			claim(&reached, ask(&n, &state, now));
	}
	claim(&reached, logged == 2 * count - 1);
}

int main(void)
{
	for (int i = 0; i < 400; i++) {
		static const uint64_t periods[] = {MS, SECOND, MINUTE, HOUR, DAY};
		uint64_t period = random_below(2) ? periods[i % 5] : MS + random_size(DAY);
		uint64_t most = period / 1000 < 400 ? period / 1000 : 400;
		uint32_t count = (uint32_t)random_size(most);
		anyhow(count, period);
		evenly(count, period);
		worst(count, period);
	}
	claim_end(&own, 100000);
	claim_end(&twice, 100000);
	claim_end(&even, 50000);
	claim_end(&share, 400);
	claim_end(&reached, 20000);
	return done_testing();
}
