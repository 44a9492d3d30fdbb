/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sliding_reference: the sliding window against lists of admissions, of several keys under one clock, over random
 * numbers, costs, pauses, edges, give-backs, settlements, counted refusals, changes of N and clocks that go
 * back by up to a second.
 *
 * The reference keeps what was admitted, when, and in which window it was counted; it adds up and divides each
 * time. Decision, remaining, wait, reset and word must agree exactly.
 */
#include "tests/algo/common.h"

#include "algo/sliding.h"

#define LOG  512
#define KEYS 6

struct key {
	struct algo_numbers n;
	uint64_t state;
	struct {
		uint64_t at, window;
		uint64_t cost;
	} entry[LOG];
	size_t count;
	uint64_t newest; /* window last written; 0: nothing is remembered */
};

/* The reference's view at a time: the window that holds, how far into it, what it and the one before counted. */
struct seen {
	uint64_t window, elapsed, previous, current;
};

static uint64_t sum(const struct key *k, uint64_t window)
{
	uint64_t all = 0;
	for (size_t i = k->count; i-- > 0 && k->entry[i].window + 1 >= window;)
		all += k->entry[i].window == window ? k->entry[i].cost : 0;
	return all;
}

static struct seen look(const struct key *k, uint64_t now)
{
	uint64_t period = k->n.scale, window = now / period;
	struct seen s = {window, now % period, 0, 0};
	if (window < k->newest) {
		s.window = k->newest;
		s.elapsed = 0;
	}
	s.previous = sum(k, s.window - 1);
	s.current = sum(k, s.window);
	return s;
}

static big estimate(const struct key *k, const struct seen *s) /* times the period */
{
	return (big)s->previous * (k->n.scale - s->elapsed) + (big)s->current * k->n.scale;
}

static bool room(const struct key *k, uint64_t now, uint64_t cost)
{
	struct seen s = look(k, now);
	return estimate(k, &s) + (big)cost * k->n.scale <= (big)k->n.capacity * k->n.scale;
}

static void add(struct key *k, uint64_t at, uint64_t window, uint64_t cost)
{
	if (k->count == LOG) { /* start over with the sums, the counter lives on */
		uint64_t sums[2] = {sum(k, k->newest - 1), sum(k, k->newest)};
		k->count = 0;
		for (uint64_t i = 0; i < 2; i++)
			add(k, (k->newest - 1 + i) * k->n.scale, k->newest - 1 + i, sums[i]);
	}
	k->entry[k->count].at = at;
	k->entry[k->count].window = window;
	k->entry[k->count++].cost = cost;
}

/* The word was written while `window` held. */
static void written(struct key *k, uint64_t window)
{
	k->newest = window;
	if (sum(k, window) == 0 && sum(k, window - 1) == 0)
		k->newest = 0, k->count = 0;
}

static uint64_t word_of(const struct key *k)
{
	unsigned bits = k->n.count_bits;
	if (k->newest == 0)
		return 0;
	return (k->newest << 2 * bits) + (sum(k, k->newest - 1) << bits) + sum(k, k->newest);
}

static struct claim same = {"allowed exactly when the list has room", 0, 0};
static struct claim left = {"remaining and limit are the list's", 0, 0};
static struct claim waits = {"waits end in the nanosecond in which the list has room", 0, 0};
static struct claim resets = {"recovered in the nanosecond in which nothing weighs any more", 0, 0};
static struct claim windows = {"no window holds more than N, settlements apart", 0, 0};
static struct claim word = {"the word is window and sums, bits 62 and 63 are 0", 0, 0};
static struct claim back = {"give-backs: the list without the entry", 0, 0};
static struct claim old = {"give-backs of windows that no longer weigh change nothing", 0, 0};
static struct claim late_back = {"what a late clock charged never gives back more than it took", 0, 0};
static struct claim late = {"a late clock keeps to the stored window", 0, 0};
static struct claim settled = {"settlements count in full, or saturate", 0, 0};
static struct claim punished = {"counted refusals: the whole units that still fitted", 0, 0};
static struct claim carried = {"another N: the least counts with which the share is no smaller", 0, 0};
static struct claim later = {"and at no later time is it smaller", 0, 0};

static void check_word(struct key *k, uint64_t state)
{
	claim(&word, state == word_of(k) && state >> 62 == 0);
	k->state = state;
}

static void give_back(struct key *k, uint64_t now)
{
	struct seen s = look(k, now);
	size_t i = k->count - 1 - (random_below(2) ? 0 : random_below(k->count));
	uint64_t at = k->entry[i].at, window = at / k->n.scale, counted = k->entry[i].window;
	uint64_t cost = k->entry[i].cost;
	if (cost > ALGO_BURST_MAX)
		return;
	struct algo_time t = {now, 0};
	big before = estimate(k, &s), weighs = 0;
	if (counted == s.window || counted + 1 == s.window)
		weighs = (big)cost * (counted == s.window ? k->n.scale : k->n.scale - s.elapsed);
	uint64_t given = algo_give_back(&k->n, k->state, &t, at, (uint32_t)cost);
	bool lasts = window == s.window || window + 1 == s.window;
	if (!lasts || sum(k, window) == 0 || cost == 0) {
		claim(&old, given == k->state);
		return;
	}
	if (counted == window) {
		k->entry[i].cost = 0;
	} else { /* from whatever else its window counted */
		for (size_t e = k->count; cost > 0 && e-- > 0;) {
			uint64_t part = k->entry[e].window == window ? k->entry[e].cost : 0;
			part = part < cost ? part : cost;
			k->entry[e].cost -= part;
			cost -= part;
		}
	}
	written(k, s.window);
	claim(&back, given == word_of(k));
	struct seen after = look(k, now);
	if (counted != window)
		claim(&late_back, before - estimate(k, &after) <= weighs);
	check_word(k, given);
}

static void settle(struct key *k, uint64_t now, uint32_t cost)
{
	struct seen s = look(k, now);
	uint64_t most = (UINT64_C(1) << k->n.count_bits) - 1, charged = cost;
	if (s.current + charged > most)
		charged = most - s.current;
	struct algo_time t = {now, 0};
	uint64_t state = algo_settle(&k->n, k->state, &t, cost);
	if (cost == 0) {
		claim(&settled, state == k->state);
		return;
	}
	add(k, now, s.window, charged);
	written(k, s.window);
	claim(&settled, state == word_of(k));
	check_word(k, state);
}

static void punish(struct key *k, uint64_t now, uint32_t cost)
{
	struct seen s = look(k, now);
	uint64_t fits = 0, high = cost;
	while (fits < high) { /* bisection: the most that has room */
		uint64_t middle = fits + (high - fits + 1) / 2;
		if (room(k, now, middle))
			fits = middle;
		else
			high = middle - 1;
	}
	struct algo_time t = {now, 0};
	uint64_t state = algo_punish(&k->n, k->state, &t, cost);
	if (fits == 0) {
		claim(&punished, state == k->state);
		return;
	}
	add(k, now, s.window, fits);
	written(k, s.window);
	claim(&punished, state == word_of(k));
	check_word(k, state);
}

static void convert(struct key *k, uint64_t now, uint32_t count)
{
	struct algo_numbers to;
	struct seen s = look(k, now);
	struct algo_time t = {now, 0};
	if (!algo_sliding_window(count, k->n.scale, &to)) {
		ok(false, "numbers in range are built");
		return;
	}
	uint64_t state = algo_convert(&k->n, &to, k->state, &t);
	big was = estimate(k, &s);
	if (was == 0) {
		claim(&carried, state == 0);
		k->count = 0;
		k->newest = 0;
	} else {
		uint64_t mask = (UINT64_C(1) << to.count_bits) - 1, current = state & mask,
			 previous = state >> to.count_bits & mask;
		big old_n = k->n.capacity, new_n = count, whole = (big)current * to.scale,
		    part = k->n.scale - s.elapsed;
		bool full = current == mask || previous == mask; /* settled far beyond N before */
		claim(&carried,
		      state >> 2 * to.count_bits == s.window &&
			      (full ||
			       (current == (uint64_t)((s.current * new_n + old_n - 1) / old_n) &&
				(previous * part + whole) * old_n >= was * new_n &&
				(previous == 0 || ((previous - 1) * part + whole) * old_n < was * new_n))));
		struct seen end = {s.window, k->n.scale - 1, s.previous, s.current};
		claim(&later, full || (previous + whole) * old_n >= estimate(k, &end) * new_n);
		k->count = 0;
		if (previous)
			add(k, (s.window - 1) * to.scale, s.window - 1, previous);
		if (current)
			add(k, s.window * to.scale, s.window, current);
		k->newest = s.window;
	}
	k->n = to;
	check_word(k, state);
}

static uint64_t charge(struct key *k, uint64_t now, uint64_t high, uint32_t cost, bool *beyond)
{
	struct algo_time t = {now, 0};
	struct algo_report report;
	struct algo_outcome outcome;
	struct seen s = look(k, now);
	big free = (big)k->n.capacity * k->n.scale - estimate(k, &s);
	algo_describe(&k->n, k->state, &t, cost, false, &report);
	claim(&left, report.limit == k->n.capacity && report.delay_ns == 0 &&
			     report.remaining == (free > 0 ? (uint64_t)(free / k->n.scale) : 0));
	bool fits = room(k, now, cost);
	if (cost > k->n.capacity)
		claim(&waits, report.wait_ns == ALGO_NEVER);
	else if (fits)
		claim(&waits, report.wait_ns == 0);
	else
		claim(&waits, report.wait_ns != 0 && room(k, now + report.wait_ns, cost) &&
				      !room(k, now + report.wait_ns - 1, cost));
	struct seen then = look(k, now + report.full_ns);
	bool recovered = estimate(k, &then) == 0;
	if (report.full_ns) {
		then = look(k, now + report.full_ns - 1);
		recovered = recovered && estimate(k, &then) > 0 &&
			    !algo_recovered(&k->n, k->state, now + report.full_ns - 1);
	}
	claim(&resets, recovered && algo_recovered(&k->n, k->state, now + report.full_ns) &&
			       (algo_rank(&k->n, k->state) == now + report.full_ns || report.full_ns == 0));

	algo_step(&k->n, k->state, &t, cost, &outcome);
	claim(&same, outcome.allowed == fits && ((fits && cost) || outcome.state == k->state));
	if (fits && cost) {
		if (now / k->n.scale < k->newest && now < high)
			claim(&late, outcome.state - k->state == cost);
		add(k, now, s.window, cost);
		written(k, s.window);
		claim(&windows, *beyond || sum(k, s.window) <= k->n.capacity);
		check_word(k, outcome.state);
	}
	return report.wait_ns;
}

static void run(uint64_t period, uint64_t most)
{
	static struct key keys[KEYS];
	bool beyond[KEYS] = {false};
	uint64_t high = period * 2 + random_below(ALGO_TIME_MAX - 2 * period), wait = 0;
	if (random_below(8) == 0)
		high = ALGO_TIME_MAX - random_size(period * 20 < ALGO_TIME_MAX / 2 ? period * 20 : period);
	for (int i = 0; i < KEYS; i++) {
		keys[i].state = keys[i].newest = keys[i].count = 0;
		if (!algo_sliding_window((uint32_t)random_size(random_below(4) && most > 50 ? 50 : most),
					 period, &keys[i].n)) {
			ok(false, "numbers in range are built");
			return;
		}
	}
	for (int step = 0; step < 1500; step++) {
		size_t which = random_below(KEYS);
		struct key *k = &keys[which];
		uint64_t limit = k->n.capacity < ALGO_BURST_MAX ? k->n.capacity : ALGO_BURST_MAX - 1;
		uint32_t cost = random_below(2) ? 1 : (uint32_t)random_size(limit + 1);
		if (random_below(32) == 0)
			cost = 0;
		uint64_t pause = 0;
		switch (random_below(10)) {
		case 0:
			pause = random_below(random_below(8) ? period : 4 * period);
			break;
		case 1: /* to the edge, or just before it */
			pause = period - high % period - random_below(2);
			break;
		case 2:
			pause = random_below(4);
			break;
		case 3:
			pause = wait < 3 * period ? wait - (wait && random_below(2)) : 0;
			break;
		default:
			pause = random_below(1 + period / (1 + random_below(limit + 1)) / 2);
		}
		if (high + pause >= ALGO_TIME_MAX)
			break;
		high += pause;
		uint64_t now = high;
		if (random_below(4) == 0 && high > SECOND)
			now -= random_below(random_below(2) ? SECOND : 100);
		if (random_below(16) == 0 && high % period < SECOND) /* just before this window */
			now = high - high % period - 1;
		switch (random_below(24)) {
		case 0:
			if (k->count)
				give_back(k, now);
			break;
		case 1:
			if (random_below(4) == 0) {
				settle(k, now, cost);
				beyond[which] = true;
			}
			break;
		case 2:
			punish(k, now, cost);
			break;
		case 3:
			if (random_below(4) == 0) {
				convert(k, now,
					(uint32_t)random_size(random_below(2) && most > 50 ? 50 : most));
				beyond[which] = true;
			}
			break;
		default:
			wait = charge(k, now, high, cost, &beyond[which]);
		}
	}
}

int main(void)
{
	for (int i = 0; i < 2500; i++) {
		static const uint64_t usual[] = {MS, SECOND, MINUTE, HOUR, DAY, 7 * DAY, 400 * DAY};
		uint64_t period = random_below(2) ? usual[random_below(7)] : MS + random_size(400 * DAY - MS);
		struct algo_numbers n;
		uint64_t most = period / 1000 < ALGO_COUNT_MAX ? period / 1000 : ALGO_COUNT_MAX;
		while (!algo_sliding_window((uint32_t)most, period, &n))
			most /= 2;
		run(period, most);
	}
	claim_end(&same, 1000000);
	claim_end(&left, 1000000);
	claim_end(&waits, 1000000);
	claim_end(&resets, 1000000);
	claim_end(&windows, 100000);
	claim_end(&word, 400000);
	claim_end(&back, 20000);
	claim_end(&old, 2000);
	claim_end(&late_back, 40);
	claim_end(&late, 5000);
	claim_end(&settled, 10000);
	claim_end(&punished, 40000);
	claim_end(&carried, 10000);
	claim_end(&later, 5000);
	return done_testing();
}
