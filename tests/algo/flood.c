/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flood: what an attacker can get out of a bucket. In no interval, wherever it starts, passes more than burst
 * + rate * time, whatever the pattern and however the clock jumps back; whoever only polls, however often,
 * loses and gains nothing.
 */
#include "tests/algo/common.h"

#define LOG 4096

/* Sums of what passed, and when: in parts of 1/period tokens, as big integers. */
static struct {
	big passed; /* before this one */
	big clock;  /* time * count */
	uint32_t cost;
} entry[LOG];

/* Every interval at once: with a clock that only goes forward, the worst start for each end is the one with
 * the least passed - rate * time so far. */
static void any_interval(struct claim *c)
{
	for (int run = 0; run < 500; run++) {
		uint32_t count, burst = (uint32_t)random_size(ALGO_BURST_MAX);
		uint64_t period;
		struct algo_numbers n;
		random_rate(&count, &period);
		algo_token_bucket(count, period, burst, &n);
		struct algo_time t = {random_below(ALGO_TIME_MAX / 4), 0};
		uint64_t state = 0, each = period / count + 1;
		big passed = 0, least = 0;
		bool begun = false;
		big slack = ((big)5 * (big)period >> (n.shift + 2)) + 1; /* a unit and a quarter */
		for (int step = 0; step < 2000; step++) {
			struct algo_outcome outcome;
			uint32_t cost = random_below(4) ? 1 : (uint32_t)random_size(burst);
			algo_step(&n, state, &t, cost, &outcome);
			if (outcome.allowed) {
				big start = passed * (big)period - (big)t.now * count;
				least = begun && least < start ? least : start;
				begun = true;
				passed += cost;
				state = outcome.state;
				claim(c, passed * (big)period - (big)t.now * count - least <=
						 (big)burst * (big)period + slack);
			}
			uint64_t pause = random_below(4)
						 ? 0
						 : random_below(random_below(2) ? each * 2
										: each * 2 * burst / 7 + 2);
			if (t.now < ALGO_TIME_MAX / 2)
				t.now += pause;
		}
	}
}

/* The clock jumps: within any run of requests, no more than burst + rate * (latest - earliest reading). */
static void jumping_clock(struct claim *c)
{
	for (int run = 0; run < 200; run++) {
		uint32_t count = (uint32_t)random_size(1000000), burst = (uint32_t)random_size(100);
		uint64_t period = random_below(2) ? SECOND : MINUTE;
		struct algo_numbers n;
		if (!algo_token_bucket(count, period, burst, &n))
			continue;
		uint64_t high = SECOND * 10 + random_below(ALGO_TIME_MAX / 2), state = 0,
			 each = period / count + 1;
		big slack = ((big)5 * (big)period >> (n.shift + 2)) + 1, passed = 0;
		size_t logged = 0;
		for (int step = 0; step < 3000 && logged < LOG; step++) {
			high += random_below(3) ? 0 : random_below(each * 3);
			struct algo_time t = {high - (random_below(3) ? 0 : random_below(SECOND)), 0};
			struct algo_outcome outcome;
			uint32_t cost = random_below(4) ? 1 : (uint32_t)random_size(burst);
			algo_step(&n, state, &t, cost, &outcome);
			if (!outcome.allowed)
				continue;
			state = outcome.state;
			entry[logged].passed = passed;
			entry[logged].clock = (big)t.now * count;
			entry[logged++].cost = cost;
			passed += cost;
			big earliest = (big)t.now * count, latest = earliest;
			for (size_t back = 0; back < 200 && back < logged; back++) {
				size_t i = logged - 1 - back;
				earliest = entry[i].clock < earliest ? entry[i].clock : earliest;
				latest = entry[i].clock > latest ? entry[i].clock : latest;
				claim(c, (passed - entry[i].passed - burst) * (big)period <=
						 latest - earliest + slack);
			}
		}
	}
}

/* An earlier clock is never kinder than a later one, for any kind, whatever the word. */
static void earlier_is_stricter(struct claim *c)
{
	for (int run = 0; run < 200000; run++) {
		struct algo_numbers n[3];
		uint32_t count;
		uint64_t period;
		random_rate(&count, &period);
		algo_token_bucket(count, period, (uint32_t)random_size(ALGO_BURST_MAX), &n[0]);
		algo_fixed_window((uint32_t)random_size(1000), MS + random_size(DAY), ALGO_FIRST_REQUEST,
				  &n[1]);
		algo_sliding_window((uint32_t)random_size(1000), SECOND + random_size(DAY), &n[2]);
		for (int k = 0; k < 3; k++) {
			struct algo_time late = {random_below(ALGO_TIME_MAX), 0}, early = late;
			struct algo_outcome then, now;
			uint64_t state = random_below(8) ? random_u64() >> 2 : 0;
			uint32_t cost = (uint32_t)random_size(20);
			if (k && random_below(2)) { /* a window around now */
				algo_step(&n[k], 0, &late, cost, &then);
				state = then.state;
				late.now += random_below(2 * n[k].scale);
			} else if (random_below(2)) {
				algo_step(&n[k], 0, &late, cost, &then);
				state = then.state;
				late.now += random_below(2 * period / count);
			}
			early.now = late.now - random_below(late.now + 1 < SECOND ? late.now + 1 : SECOND);
			algo_step(&n[k], state, &late, cost, &then);
			algo_step(&n[k], state, &early, cost, &now);
			claim(c, then.allowed || !now.allowed);
		}
	}
}

/* A client polls at its own pace, faster than tokens come: it gets exactly burst + rate * time, rounded down. */
static void polling(struct claim *c)
{
	static const struct {
		uint32_t count;
		uint64_t period;
		uint32_t burst;
	} slow[] = {{1, SECOND, 2},    {3, 7 * SECOND, 2},    {1, 3 * SECOND, 5}, {7, MINUTE, 7},
		    {5, MINUTE, 5},    {997, SECOND, 10},     {1, YEAR, 2},	  {1000, HOUR, 2},
		    {1, DAY, 1000000}, {1, 86399 * SECOND, 3}};
	for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
		struct algo_numbers n;
		algo_token_bucket(slow[i].count, slow[i].period, slow[i].burst, &n);
		uint64_t each = slow[i].period / slow[i].count;
		struct algo_time t = {random_below(ALGO_TIME_MAX / 4), 0};
		const uint64_t start = t.now;
		struct algo_outcome outcome;
		uint64_t state = 0, passed = 0;
		algo_step(&n, state, &t, slow[i].burst, &outcome); /* empty it */
		state = outcome.state;
		for (int poll = 0; poll < 150000 && t.now < ALGO_TIME_MAX - YEAR; poll++) {
			t.now += random_below(each / 50) + 1;
			algo_step(&n, state, &t, 1, &outcome);
			state = outcome.state;
			passed += outcome.allowed;
			big due = (big)(t.now - start) * slow[i].count / slow[i].period;
			big early = ((big)(t.now - start) * slow[i].count +
				     (5 * (big)slow[i].period >> (n.shift + 2)) + 1) /
				    slow[i].period;
			claim(c, passed >= due && passed <= early);
		}
	}
}

int main(void)
{
	struct claim interval = {"in any interval at most burst + rate * time", 0, 0};
	struct claim jumps = {"a clock that jumps back up to a second earns nothing", 0, 0};
	struct claim early = {"an earlier clock is never kinder", 0, 0};
	struct claim polls = {"no fraction is lost, however often it is polled", 0, 0};
	any_interval(&interval);
	jumping_clock(&jumps);
	earlier_is_stricter(&early);
	polling(&polls);
	claim_end(&interval, 200000);
	claim_end(&jumps, 1000000);
	claim_end(&early, 600000);
	claim_end(&polls, 1000000);
	return done_testing();
}
