/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settlement: costs that are known only afterwards (`algo_settle`) among ordinary charges, of several keys, against
 * lists of everything that was charged, replayed from the first for each answer. (Sliding windows:
 * sliding_reference.c.) Clocks are late by up to a second.
 *
 * A bucket's list counts in exact fractions: a token is `period` parts, a nanosecond drains `count` of them. What it
 * has room for must pass; what passes may exceed it by the rounding of the virtual clock: a unit and a quarter.
 */
#include "tests/algo/random_counter.h"

#define LOG  160
#define KEYS 4

struct key {
	struct algo_numbers n;
	uint32_t count, capacity; /* as the builder was told */
	uint64_t period, state;
	struct {
		uint64_t at;
		uint32_t cost;
	} entry[LOG];
	size_t entries;
	bool settled;
};

static struct claim room = {"what the list has room for passes", 0, 0};
static struct claim over = {"what passes exceeds the list by at most the rounding", 0, 0};
static struct claim left = {"remaining is the list's", 0, 0};
static struct claim waits = {"the wait is the list's", 0, 0};
static struct claim debts = {"debts beyond the capacity are remembered in full", 0, 0};
static struct claim most = {"up to ALGO_DEBT_MAX, and a window's up to its bits", 0, 0};
static struct claim words = {"bits 62 and 63 are 0", 0, 0};
static struct claim nothing = {"settling nothing changes nothing", 0, 0};

/* When the bucket is whole again, in parts: time * count. */
static big whole_at(const struct key *k)
{
	big whole = 0, bound = ((big)ALGO_DEBT_MAX >> k->n.shift) * (big)k->period;
	for (size_t i = 0; i < k->entries; i++) {
		big now = (big)k->entry[i].at * k->count, owed = whole > now ? whole - now : 0;
		big more = owed + (big)k->entry[i].cost * (big)k->period;
		more = more < bound ? more : bound;
		whole = now + (more > owed ? more : owed); /* a late clock may see more owed than that */
	}
	return whole;
}

static void ask_bucket(const struct key *k, uint64_t now, uint32_t cost, const struct algo_outcome *outcome,
		       const struct algo_report *report)
{
	big debt = whole_at(k) - (big)now * k->count, full = (big)k->capacity * (big)k->period;
	big rounding = ((big)5 * (big)k->period >> (k->n.shift + 2)) + 1;
	debt = debt > 0 ? debt : 0;
	big missing = debt + (big)cost * (big)k->period - full;
	if (missing <= 0)
		claim(&room, outcome->allowed);
	if (outcome->allowed)
		claim(&over, missing <= rounding);
	big free = debt < full ? (full - debt) / (big)k->period : 0;
	big freer = debt - rounding < full ? (full - debt + rounding) / (big)k->period : 0;
	claim(&left, report->remaining >= free && report->remaining <= freer);
	big wait = missing > 0 ? (missing + k->count - 1) / k->count : 0;
	if (cost > k->capacity)
		claim(&waits, report->wait_ns == ALGO_NEVER);
	else if (wait < (big)ALGO_TIME_MAX)
		claim(&waits, report->wait_ns <= wait && report->wait_ns + rounding / k->count + 1 >= wait);
	if (debt > full + rounding)
		claim(&debts, !outcome->allowed && report->remaining == 0);
}

/* End of the window and what it counted. */
static uint64_t window_of(const struct key *k, uint64_t now, uint64_t *end)
{
	uint64_t used = 0, tick = UINT64_C(1) << k->n.shift, bound = (UINT64_C(1) << k->n.count_bits) - 1;
	*end = 0;
	for (size_t i = 0; i < k->entries; i++) {
		if (k->entry[i].at >= *end) {
			*end = (k->entry[i].at + k->period + tick - 1) / tick * tick;
			used = 0;
		}
		used += k->entry[i].cost;
		used = used < bound ? used : bound;
	}
	return now < *end ? used : 0;
}

static void ask_window(const struct key *k, uint64_t now, uint32_t cost, const struct algo_outcome *outcome,
		       const struct algo_report *report)
{
	uint64_t end, used = window_of(k, now, &end);
	bool fits = used + cost <= k->capacity;
	claim(&room, outcome->allowed == fits);
	claim(&left, report->remaining == (used < k->capacity ? k->capacity - used : 0));
	claim(&waits, report->wait_ns == (fits ? 0 : cost > k->capacity ? ALGO_NEVER : end - now));
	if (used > k->capacity)
		claim(&debts, !outcome->allowed && report->remaining == 0);
}

static void add(struct key *k, uint64_t now, uint32_t cost, uint64_t state)
{
	k->entry[k->entries].at = now;
	k->entry[k->entries++].cost = cost;
	k->state = state;
	claim(&words, state >> 62 == 0);
}

static void settle(struct key *k, const struct algo_time *t, uint32_t cost)
{
	uint64_t end, state = algo_settle(&k->n, k->state, t, cost);
	if (cost == 0) {
		claim(&nothing, state == k->state);
		return;
	}
	bool changed = state != k->state;
	add(k, t->now, cost, state);
	if (is_bucket(&k->n)) {
		uint64_t debt = bucket_debt(state, bucket_clock(&k->n, t->now));
		big units = ((whole_at(k) - (big)t->now * k->count) << k->n.shift) / (big)k->period;
		claim(&most, (debt <= ALGO_DEBT_MAX || !changed) && debt + 2 >= units && debt <= units + 2);
	} else {
		claim(&most, window_count(&k->n, state) == window_of(k, t->now, &end));
	}
}

static void begin(struct key *k)
{
	memset(k, 0, sizeof *k);
	bool built = false;
	random_rate(&k->count, &k->period);
	k->capacity = (uint32_t)random_size(random_below(4) ? 100 : ALGO_BURST_MAX);
	switch (random_below(3)) {
	case 0:
		built = algo_token_bucket(k->count, k->period, k->capacity, &k->n);
		break;
	case 1:
		built = algo_leaky_bucket(k->count, k->period, k->capacity - 1,
					  (uint32_t)random_below(k->capacity), 0, &k->n);
		break;
	default:
		k->period = MS + random_size(400 * DAY - MS);
		k->count = k->capacity = k->capacity * UINT64_C(1000) > k->period ? 1 : k->capacity;
		built = algo_fixed_window(k->capacity, k->period, ALGO_FIRST_REQUEST, &k->n);
	}
	if (!built)
		ok(false, "numbers in range are built");
}

static void run(void)
{
	static struct key keys[KEYS];
	uint64_t high = SECOND + random_below(ALGO_TIME_MAX / 2), wait = 0;
	for (int i = 0; i < KEYS; i++)
		begin(&keys[i]);
	for (int step = 0; step < 700; step++) {
		struct key *k = &keys[random_below(KEYS)];
		uint64_t each = k->period / k->count + 1, pause = random_below(each);
		uint32_t cost = random_below(2) ? 1 : (uint32_t)random_size(k->capacity);
		if (random_below(64) == 0)
			cost = 0;
		if (random_below(8) == 0)
			pause = random_below(k->period < DAY ? 2 * k->period : DAY);
		if (random_below(4) == 0)
			pause = random_below(4) ? 0 : wait;
		if (pause > ALGO_TIME_MAX / 4 || high + pause >= ALGO_TIME_MAX || k->entries == LOG)
			continue;
		high += pause;
		struct algo_time t = {random_below(4) ? high : high - random_below(SECOND), 0};
		if (random_below(6) == 0) { /* more than fits, now and then far more */
			settle(k, &t, random_below(8) ? cost : (uint32_t)random_size(ALGO_BURST_MAX));
			continue;
		}
		struct algo_outcome outcome;
		struct algo_report report;
		algo_describe(&k->n, k->state, &t, cost, false, &report);
		algo_step(&k->n, k->state, &t, cost, &outcome);
		if (is_bucket(&k->n))
			ask_bucket(k, t.now, cost, &outcome, &report);
		else
			ask_window(k, t.now, cost, &outcome, &report);
		wait = report.wait_ns;
		if (outcome.allowed && cost)
			add(k, t.now, cost, outcome.state);
	}
}

/* Until it saturates, at the beginning and the end of table time: the largest words there are. */
static void extremes(void)
{
	struct claim full = {"a saturated word keeps bits 62 and 63 clear, and stays as it is", 0, 0};
	struct claim drains = {"a saturated debt drains like any other", 0, 0};
	static const struct {
		uint32_t count;
		uint64_t period;
	} rates[] = {{1000000, SECOND}, {1, 1000},	{1, SECOND}, {5, MINUTE},
		     {1, YEAR},		{999983, YEAR}, {1, 1 << 20}};
	static const uint64_t times[] = {
		0, 1, SECOND, UINT64_C(1) << 40, ALGO_TIME_MAX / 2, ALGO_TIME_MAX - 1};
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		for (size_t k = 0; k < sizeof times / sizeof *times; k++)
			for (uint32_t burst = 1; burst <= ALGO_BURST_MAX;
			     burst = burst < 1000 ? burst * 10 : burst * 1000) {
				struct algo_numbers n;
				struct algo_time t = {times[k], 0};
				if (!algo_token_bucket(rates[i].count, rates[i].period, burst, &n)) {
					ok(false, "numbers in range are built");
					return;
				}
				uint64_t clock = bucket_clock(&n, t.now), state = 0, before = 1;
				uint64_t one = (uint64_t)ALGO_BURST_MAX << n.shift;
				for (uint64_t settled = 0;
				     state != before && settled <= ALGO_DEBT_MAX / one + 1; settled++) {
					before = state;
					state = algo_settle(&n, state, &t, ALGO_BURST_MAX);
					claim(&full, state >> 62 == 0);
					if (settled == 2000) /* a coarse unit: straight to the end */
						state = clock + ALGO_DEBT_MAX - one / 2;
				}
				claim(&full, state == clock + ALGO_DEBT_MAX && clock < ALGO_TIME_MAX &&
						     algo_settle(&n, state, &t, UINT32_MAX) == state &&
						     algo_settle(&n, state, &t, 1) == state &&
						     algo_used(&n, state, t.now) == UINT32_MAX);
				uint64_t part = ALGO_DEBT_MAX / 2;
				claim(&drains, bucket_debt(state, clock + part) == ALGO_DEBT_MAX - part);
				t.now = ALGO_TIME_MAX -
					1; /* and later on more may be owed again, no more than that */
				state = algo_settle(&n, state, &t, ALGO_BURST_MAX);
				claim(&full,
				      state >> 62 == 0 &&
					      bucket_debt(state, bucket_clock(&n, t.now)) <= ALGO_DEBT_MAX);
			}
	for (uint32_t count = 0; count <= ALGO_COUNT_MAX / 10; count = count * 10 + 1)
		for (size_t k = 0; k < sizeof times / sizeof *times; k++)
			for (int align = ALGO_FIRST_REQUEST; align <= ALGO_CALENDAR_HOUR; align++) {
				struct algo_numbers n;
				struct algo_time t = {times[k], (int64_t)(40 * YEAR)};
				if (!algo_fixed_window(count, 400 * DAY, (enum algo_align)align, &n))
					ok(false, "numbers in range are built");
				uint64_t state = 0;
				for (int settled = 0; settled < 1100; settled++) {
					state = algo_settle(&n, state, &t, ALGO_BURST_MAX);
					claim(&full, state >> 62 == 0);
				}
				claim(&full, count == 0
						     ? state == 0
						     : window_count(&n, state) == (1u << n.count_bits) - 1 &&
							       t.now < window_end(&n, state));
			}
	static const uint64_t periods[] = {MS,	1 << 20,	   SECOND,   MINUTE, HOUR,
					   DAY, UINT64_C(1) << 54, 400 * DAY};
	for (size_t i = 0; i < sizeof periods / sizeof *periods; i++)
		for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
			struct algo_numbers n;
			struct algo_time t = {times[k], 0};
			if (!algo_sliding_window(1, periods[i], &n))
				ok(false, "numbers in range are built");
			uint64_t state = 0, bound = (UINT64_C(1) << n.count_bits) - 1;
			for (uint64_t settled = 0; settled <= bound; settled += ALGO_BURST_MAX) {
				state = algo_settle(&n, state, &t, ALGO_BURST_MAX);
				claim(&full, state >> 62 == 0);
			}
			uint64_t word = (t.now / periods[i]) << 2 * n.count_bits | bound;
			claim(&full, state == word && algo_settle(&n, state, &t, UINT32_MAX) == word);
			if (t.now + periods[i] >= ALGO_TIME_MAX)
				continue;
			t.now += periods[i]; /* and the next one too */
			for (uint64_t settled = 0; settled <= bound; settled += ALGO_BURST_MAX)
				state = algo_settle(&n, state, &t, ALGO_BURST_MAX);
			word = ((t.now / periods[i]) << n.count_bits | bound) << n.count_bits | bound;
			claim(&full, state == word && state >> 62 == 0);
		}
	claim_end(&full, 100000);
	claim_end(&drains, 100);
}

int main(void)
{
	struct algo_numbers n;
	struct algo_time t = {1000 * SECOND, 0};
	struct algo_report report;
	algo_token_bucket(10, SECOND, 10, &n);
	algo_describe(&n, algo_settle(&n, 0, &t, 35), &t, 1, false, &report);
	is_u64(report.remaining, 0, "35 of 10 at once, 10 a second: nothing left");
	is_u64(report.wait_ns, 2600 * MS, "and 2.6 s to wait for one");
	is_u64(report.full_ns, 3500 * MS, "and 3.5 s until all is well");
	algo_fixed_window(10, MINUTE, ALGO_FIRST_REQUEST, &n);
	algo_describe(&n, algo_settle(&n, 0, &t, 35), &t, 1, false, &report);
	is_u64(report.remaining, 0, "35 of 10 a minute");
	is_u64((report.wait_ns + 15) / 16, MINUTE / 16, "are forgotten with the minute");
	algo_token_bucket(0, SECOND, 10, &n);
	is_u64(algo_settle(&n, 0, &t, 35), 0, "a limit of 0 has nothing to remember");
	algo_sliding_window(0, SECOND, &n);
	is_u64(algo_settle(&n, 0, &t, 35), 0, "no window of 0 either");

	for (int i = 0; i < 2600; i++)
		run();
	claim_end(&room, 800000);
	claim_end(&over, 400000);
	claim_end(&left, 1000000);
	claim_end(&waits, 1000000);
	claim_end(&debts, 50000);
	claim_end(&most, 100000);
	claim_end(&words, 500000);
	claim_end(&nothing, 1000);
	extremes();
	return done_testing();
}
