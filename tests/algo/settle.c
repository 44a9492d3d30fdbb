/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settle: charges taken back (`algo_give_back`) and refusals that count (`algo_punish`). A charge that
 * another limit's refusal undoes must leave no trace, and must never give more than it took, whatever
 * happened in between.
 */
#include "tests/algo/random_counter.h"

static uint64_t charge(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		       bool *allowed)
{
	struct algo_outcome outcome;
	algo_step(n, state, t, cost, &outcome);
	*allowed = outcome.allowed;
	return outcome.state;
}

static uint32_t remaining(const struct algo_numbers *n, uint64_t state, const struct algo_time *t)
{
	struct algo_report report;
	algo_describe(n, state, t, 1, false, &report);
	return report.remaining;
}

static uint64_t wait(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	struct algo_report report;
	algo_describe(n, state, t, cost, false, &report);
	return report.wait_ns;
}

/* Stories in which giving back everything would have been wrong. */
static void stories(void)
{
	struct algo_numbers n = {0};
	bool allowed;
	algo_token_bucket(1, SECOND, 5, &n);
	struct algo_time t = {100 * SECOND, 0};
	uint64_t state = charge(&n, 0, &t, 5, &allowed);
	is_u64(remaining(&n, algo_give_back(&n, state, &t, t.now, 5), &t), 5, "at once: all of it");
	is_u64(algo_give_back(&n, state, &t, t.now, 5), 0, "and nothing is remembered");
	is_u64(remaining(&n, algo_give_back(&n, state, &t, t.now, 2), &t), 2, "a part of it");
	is_u64(remaining(&n, algo_give_back(&n, state, &t, t.now, 9), &t), 5,
	       "never more than the bucket holds");
	t.now += 2 * SECOND;
	is_u64(remaining(&n, algo_give_back(&n, state, &t, 100 * SECOND, 5), &t), 5,
	       "two seconds later: what is left of it");
	t.now = 105 * SECOND; /* the bucket is whole again; someone else empties it */
	state = charge(&n, state, &t, 5, &allowed);
	ok(allowed, "a whole bucket after five seconds");
	is_u64(remaining(&n, algo_give_back(&n, state, &t, 100 * SECOND, 5), &t), 0,
	       "what had drained is not given back again");
	t.now = 104 * SECOND;
	is_u64(algo_give_back(&n, state, &t, 105 * SECOND, 0), state, "nothing: nothing");

	algo_fixed_window(5, MINUTE, ALGO_FIRST_REQUEST, &n);
	t.now = 100 * SECOND;
	state = charge(&n, 0, &t, 3, &allowed);
	is_u64(algo_give_back(&n, state, &t, t.now, 3), 0,
	       "a window all of whose charges were taken back never began");
	is_u64(remaining(&n, algo_give_back(&n, state, &t, t.now, 1), &t), 3, "a part of it");
	t.now = 159 * SECOND;
	is_u64(remaining(&n, algo_give_back(&n, state, &t, 100 * SECOND, 2), &t), 4,
	       "while the window lasts");
	t.now = 161 * SECOND;
	state = charge(&n, state, &t, 5, &allowed);
	is_u64(algo_give_back(&n, state, &t, 159 * SECOND, 3), state,
	       "a charge of the window before owes nothing");
	is_u64(algo_give_back(&n, state, &t, 221 * SECOND + 8, 3), state, "nor does one of the future");
	t.now = 222 * SECOND;
	is_u64(algo_give_back(&n, state, &t, 161 * SECOND, 3), state, "nor one of a window that has ended");

	is_u64(algo_punish(&n, state, &t, 0), state, "counting nothing begins no window");
	is_u64(algo_punish(&n, 0, &t, 0), 0, "on a fresh counter neither");
	algo_fixed_window(0, MINUTE, ALGO_FIRST_REQUEST, &n);
	is_u64(algo_punish(&n, 0, &t, 3), 0, "of 0 a minute there is nothing to count");
	algo_token_bucket(0, MINUTE, 5, &n);
	is_u64(algo_punish(&n, 0, &t, 3), 0, "in a bucket neither");

	algo_fixed_window(5, 30 * DAY, ALGO_CALENDAR_MONTH, &n);
	t = (struct algo_time){100 * SECOND, 0}; /* 1970-01-01 */
	state = charge(&n, 0, &t, 5, &allowed);
	t.now = 31 * DAY - SECOND;
	is_u64(remaining(&n, algo_give_back(&n, state, &t, 100 * SECOND, 5), &t), 5,
	       "January, until its end");
	t.now = 31 * DAY + SECOND;
	state = charge(&n, state, &t, 5, &allowed);
	is_u64(algo_give_back(&n, state, &t, 31 * DAY - SECOND, 5), state, "January's are not February's");
	is_u64(remaining(&n, algo_give_back(&n, state, &t, t.now, 5), &t), 5, "February's are");
}

/* Two histories of the same requests: in one a charge is made and given back later, in the other it never
 * was. The first must never be ahead, and must be level if nothing happened in between. */
static void against_never(void)
{
	struct claim ahead = {"with a charge given back there is never more room than had it never been", 0,
			      0};
	struct claim level = {"given back at once there is exactly as much", 0, 0};
	struct claim less = {"giving back never uses", 0, 0};
	for (int i = 0; i < 160000; i++) {
		uint64_t each;
		struct algo_numbers n = random_numbers(random_kind(i), &each);
		if (n.kind == ALGO_FIXED_WINDOW)
			n.align = ALGO_FIRST_REQUEST;
		struct algo_time t = {SECOND + random_below(ALGO_TIME_MAX - 4 * YEAR), 0};
		uint64_t with = random_use(&n, each, &t, (int)random_below(6)), never = with;
		uint32_t cost = random_cost(&n);
		bool allowed, same;
		with = charge(&n, with, &t, cost, &allowed);
		if (!allowed)
			continue;
		uint64_t charged_at = t.now, window = window_end(&n, with);
		uint64_t at_once = algo_give_back(&n, with, &t, charged_at, cost);
		if (n.kind == ALGO_LIMIT_REQ) /* as much as nginx would have made of it by now */
			claim(&level, limit_req_debt(&n, at_once, t.now) == limit_req_debt(&n, never, t.now));
		else
			claim(&level, wait(&n, at_once, &t, cost) == wait(&n, never, &t, cost));
		claim(&level, remaining(&n, at_once, &t) == remaining(&n, never, &t));
		for (int k = (int)random_below(4); k > 0; k--) {
			uint64_t pause = random_below(each * (random_below(3) ? 2 : random_below(cost) + 2));
			if (pause < YEAR)
				t.now += pause;
			uint32_t others = random_cost(&n);
			uint64_t next = charge(&n, with, &t, others, &allowed);
			if (!allowed)
				continue;
			with = next;
			never = charge(&n, never, &t, others, &same);
		}
		uint64_t given = algo_give_back(&n, with, &t, charged_at, cost);
		claim(&less, remaining(&n, given, &t) >= remaining(&n, with, &t) &&
				     wait(&n, given, &t, cost) <= wait(&n, with, &t, cost));
		/* a window that began with the charge would have begun later: its end cannot be compared */
		if (n.kind == ALGO_FIXED_WINDOW && window_end(&n, never) != window)
			continue;
		claim(&ahead, remaining(&n, given, &t) <= remaining(&n, never, &t) &&
				      wait(&n, given, &t, cost) >= wait(&n, never, &t, cost));
	}
	claim_end(&ahead, 60000);
	claim_end(&level, 160000);
	claim_end(&less, 80000);
}

static void punished(void)
{
	struct claim full = {"a counted refusal fills the counter and no more", 0, 0};
	struct claim more = {"it never frees, and a debt beyond the capacity stays", 0, 0};
	struct claim one = {"a bucket's next request waits one full cost from the last try", 0, 0};
	for (int i = 0; i < 160000; i++) {
		uint64_t each;
		struct algo_numbers n = random_numbers(random_kind(i), &each);
		struct algo_time t = {SECOND + random_below(ALGO_TIME_MAX - 4 * YEAR),
				      (int64_t)random_below(40 * YEAR)};
		uint64_t state = random_use(&n, each, &t, (int)random_below(6));
		if (is_bucket(&n) && random_below(8) == 0)
			state = bucket_clock(&n, t.now) + random_size(ALGO_DEBT_MAX);
		uint32_t cost = random_cost(&n);
		bool allowed;
		uint64_t charged = charge(&n, state, &t, cost, &allowed),
			 next = algo_punish(&n, state, &t, cost);
		if (allowed) { /* not what it is for, but then it is a charge */
			claim(&more, next == charged);
			continue;
		}
		big all, used = random_used(&n, next, t.now, &all), unit = 1;
		if (n.kind == ALGO_SLIDING_WINDOW)
			unit = (big)n.scale;
		claim(&more, remaining(&n, next, &t) <= remaining(&n, state, &t) && next >> 62 == 0 &&
				     wait(&n, next, &t, cost) >= wait(&n, state, &t, cost));
		claim(&full, remaining(&n, next, &t) == 0);
		/* a sliding window takes whole units: less than one is left */
		claim(&full, (used <= all && used > all - unit) || (used > all && next == state));
		if (n.kind == ALGO_LIMIT_REQ && used == all && (big)limit_req_token(&n) * cost <= all) {
			uint64_t units = limit_req_token(&n) * cost, told = wait(&n, next, &t, cost);
			claim(&one, n.align == ALGO_CLOCK_NS
					    ? told == units
					    : told + t.now % MS == (units + n.scale - 1) / n.scale * MS);
		}
		if (is_bucket(&n) && used == all && bucket_units(&n, cost) <= n.capacity) {
			uint64_t told = wait(&n, next, &t, cost);
			big cost_ns = ((big)bucket_units(&n, cost) << 64) / n.scale;
			/* to one unit: the virtual clock has passed a part of the present one */
			big unit_ns = ((big)1 << 64) / n.scale + 1;
			claim(&one,
			      told == ALGO_NEVER || (told <= cost_ns + 1 && (big)told + unit_ns >= cost_ns));
		}
	}
	claim_end(&full, 40000);
	claim_end(&more, 100000);
	claim_end(&one, 10000);
}

int main(void)
{
	stories();
	against_never();
	punished();
	return done_testing();
}
