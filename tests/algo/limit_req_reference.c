/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * limit_req_reference: the kind `nginx` against what nginx keeps for a key: excess, in thousandths of a request, and the
 * ms of the last one that passed. Rates, bursts, delays and spacings at random, and several limit_req lines on one key:
 * the verdict, the excess and the delay are the same numbers, not nearly the same. On the ns clock, against a schedule of
 * departures, in ns.
 */
#include "tests/algo/random_counter.h"

#define LINES 3

/* ---- as nginx has it ---- */

struct node {
	bool known;
	int64_t excess, last;
};

struct line {
	int64_t burst, delay;
};

/* excess, or -1 - excess if that is too much. */
static int64_t nginx_asks(const struct node *node, int64_t rate, int64_t burst, int64_t now)
{
	if (!node->known)
		return 0;
	int64_t ms = now - node->last;
	if (ms < -60000)
		ms = 1;
	else if (ms < 0)
		ms = 0;
	int64_t excess = node->excess - rate * ms / 1000 + 1000;
	if (excess < 0)
		excess = 0;
	return excess > burst * 1000 ? -1 - excess : excess;
}

static void nginx_charges(struct node *node, int64_t excess, int64_t now)
{
	*node = (struct node){true, excess, now};
}

static int64_t nginx_delays(int64_t excess, int64_t rate, int64_t delay)
{
	return excess <= delay * 1000 ? 0 : (excess - delay * 1000) * 1000 / rate;
}

/* ---- rates that r/m cuts, and those at the ends ---- */

static const struct {
	uint32_t count;
	uint64_t period;
} rates[] = {
	{1, MINUTE},  {7, MINUTE},    {10, MINUTE},   {17, MINUTE},    {30, MINUTE},	{59, MINUTE},
	{61, MINUTE}, {1000, MINUTE}, {1, SECOND},    {2, SECOND},     {3, SECOND},	{7, SECOND},
	{10, SECOND}, {999, SECOND},  {1000, SECOND}, {59999, MINUTE}, {60000, MINUTE},
};

static void a_rate(int run, uint32_t *count, uint64_t *period)
{
	size_t known = sizeof rates / sizeof *rates;
	if ((size_t)run % (known + 4) < known) {
		*count = rates[(size_t)run % (known + 4)].count;
		*period = rates[(size_t)run % (known + 4)].period;
		return;
	}
	*period = random_below(2) ? SECOND : MINUTE;
	*count = (uint32_t)random_size(*period / MS);
}

static void lines(struct algo_bound bounds[LINES])
{
	for (int i = 0; i < LINES; i++) {
		uint32_t burst = random_below(4) ? (uint32_t)random_below(12)
						 : (uint32_t)random_size(ALGO_BURST_MAX) - 1;
		uint32_t at_once = random_below(3) == 0	  ? 0
				   : random_below(2) == 0 ? burst
							  : (uint32_t)random_below(burst + UINT64_C(1));
		bounds[i] = (struct algo_bound){.burst = burst, .at_once = at_once};
	}
}

static struct claim same = {"passes where nginx lets it pass, and is refused where nginx refuses", 0, 0};
static struct claim excess_passed = {
	"a request that passes has nginx's excess, before and after it is charged", 0, 0};
static struct claim excess_refused = {"one that is refused has the excess that nginx logs", 0, 0};
static struct claim delays = {"its delay is nginx's, to the ms", 0, 0};
static struct claim delayed = {"some are delayed", 0, 0};
static struct claim waits = {"after the wait nginx lets it pass, a ms earlier it does not", 0, 0};
static struct claim left = {"so many as remain pass in nginx at once, and no more", 0, 0};
static struct claim rows = {"several at once are as many one after another", 0, 0};

static void tell_left(const struct node *node, int64_t rate, int64_t burst, int64_t now, uint32_t remaining)
{
	struct node copy = *node;
	uint32_t passed = 0;
	for (int64_t excess; passed <= remaining; passed++) {
		excess = nginx_asks(&copy, rate, burst, now);
		if (excess < 0)
			break;
		nginx_charges(&copy, excess, now);
	}
	claim(&left, passed == remaining);
}

static void in_a_row(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	struct algo_outcome one = {state, true}, all;
	for (uint32_t i = 0; i < cost && one.allowed; i++)
		algo_step(n, one.state, t, 1, &one);
	algo_step(n, state, t, cost, &all);
	claim(&rows, all.allowed == one.allowed && all.state == (all.allowed ? one.state : state));
}

static void one_key(int run)
{
	uint32_t count;
	uint64_t period;
	struct algo_numbers row;
	struct algo_bound bounds[LINES];
	a_rate(run, &count, &period);
	lines(bounds);
	int64_t rate = (int64_t)count * 1000 / (period == SECOND ? 1 : 60);
	if (!algo_limit_req(count, period, bounds[0].burst, bounds[0].at_once, &row)) {
		ok(false, "numbers in range are built");
		return;
	}
	uint64_t one_ms = 1000000 / (uint64_t)rate + 1; /* ms for a request */
	struct algo_time t = {random_size(ALGO_TIME_MAX / 2), 0};
	struct node node = {0};
	uint64_t state = 0;
	for (int step = 0; step < 500; step++) {
		const struct algo_bound *bound = &bounds[random_below(LINES)];
		struct algo_numbers n;
		struct algo_outcome outcome;
		struct algo_report report;
		algo_bounded(&row, bound, &n);
		algo_describe(&n, state, &t, 1, false, &report);
		int64_t now = (int64_t)(t.now / MS), excess = nginx_asks(&node, rate, bound->burst, now);
		uint64_t told = algo_excess(&n, state, t.now, false);

		algo_step(&n, state, &t, 1, &outcome);
		claim(&same, outcome.allowed == (excess >= 0));
		if (step % 16 == 0)
			in_a_row(&n, state, &t, 1 + (uint32_t)random_below(8));
		if (report.remaining < 16)
			tell_left(&node, rate, bound->burst, now, report.remaining);
		if (!outcome.allowed) {
			claim(&excess_refused, told == (uint64_t)(-1 - excess));
			int64_t at = (int64_t)((t.now + report.wait_ns) / MS);
			claim(&waits, report.wait_ns > 0 && (t.now + report.wait_ns) % MS == 0 &&
					      nginx_asks(&node, rate, bound->burst, at) >= 0 &&
					      nginx_asks(&node, rate, bound->burst, at - 1) < 0);
		} else {
			nginx_charges(&node, excess, now);
			state = outcome.state;
			claim(&excess_passed,
			      told == (uint64_t)excess &&
				      algo_excess(&n, state, t.now, true) == (uint64_t)excess);
			struct algo_report charged;
			algo_describe(&n, state, &t, 1, true, &charged);
			int64_t delay = nginx_delays(excess, rate, bound->at_once);
			claim(&delays, charged.delay_ns == (uint64_t)delay * MS);
			if (delay)
				claim(&delayed, true);
		}

		uint64_t pause = 0;
		switch (random_below(8)) {
		case 0:
		case 1: /* the same ms, or the next */
			pause = random_below(MS);
			break;
		case 2:
			pause = MS;
			break;
		case 3: /* around the time at which the next one would pass */
			algo_describe(&n, state, &t, 1, false, &report);
			pause = report.wait_ns -
				(report.wait_ns > MS && random_below(2) ? 1 + random_below(MS) : 0);
			break;
		case 4:
		case 5:
			pause = random_below(2 * one_ms + 2) * MS;
			break;
		case 6:
			pause = random_size(MINUTE);
			break;
		default:
			pause = random_below(16) ? random_size(one_ms) * MS : random_size(DAY);
		}
		if (t.now + pause >= ALGO_TIME_MAX)
			break;
		t.now += pause;
	}
}

/* ---- on the ns clock: when the drain is free again, in ns. No debts, no virtual time ---- */

static struct claim exact = {"ns: passes exactly where the schedule has room", 0, 0};
static struct claim turns = {"ns: its delay is the schedule's", 0, 0};
static struct claim next = {"ns: the wait is the schedule's", 0, 0};
static struct claim queue = {"ns: the excess is the schedule's, in thousandths, rounded up", 0, 0};
static struct claim slower = {
	"ns: k requests of count per period take no longer than k * period / count, and no k ns less", 0, 0};

static void exact_key(void)
{
	uint32_t count;
	uint64_t period;
	struct algo_numbers row;
	struct algo_bound bounds[LINES];
	bool asks = random_below(3) == 0;
	random_rate(&count, &period);
	lines(bounds);
	if (!algo_limit_req_exact(asks ? 0 : count, period, bounds[0].burst, bounds[0].at_once, &row)) {
		ok(false, "numbers in range are built");
		return;
	}
	uint64_t token = period / count;
	if (!asks)
		claim(&slower,
		      (big)row.scale * count <= (big)period && (big)(row.scale + 1) * count > (big)period);
	for (int i = 0; i < LINES && asks; i++) /* each line its own rate, on one key */
		bounds[i].token_ns = random_below(2) ? token : 1000 + random_size(YEAR - 1000);
	struct algo_time t = {random_size(ALGO_TIME_MAX / 4), 0};
	uint64_t state = 0;
	big free_at = 0;
	for (int step = 0; step < 250; step++) {
		const struct algo_bound *bound = &bounds[random_below(LINES)];
		struct algo_numbers n;
		struct algo_outcome outcome;
		struct algo_report report;
		algo_bounded(&row, bound, &n);
		big each = asks ? (big)bound->token_ns : (big)token, most = (big)bound->burst;
		if ((most + 1) * each > (big)ALGO_DEBT_MAX / 2)
			most = (big)ALGO_DEBT_MAX / 2 / each - 1;
		big ahead = free_at > (big)t.now ? free_at - (big)t.now : 0, room = most * each - ahead;
		algo_describe(&n, state, &t, 1, false, &report);
		uint64_t told = algo_excess(&n, state, t.now, false);
		algo_step(&n, state, &t, 1, &outcome);
		claim(&exact, outcome.allowed == (room >= 0));
		claim(&queue, (big)told == (ahead * 1000 + each - 1) / each);
		claim(&next, (big)report.wait_ns == (room < 0 ? -room : 0));
		if (outcome.allowed) {
			free_at = (big)t.now + ahead + each;
			state = outcome.state;
			algo_describe(&n, state, &t, 1, true, &report);
			big turn = ahead - (big)bound->at_once * each;
			claim(&turns, (big)report.delay_ns == (turn > 0 ? turn : 0));
		}
		uint64_t pause = random_below(3)    ? random_below(2 * (uint64_t)each)
				 : random_below(2)  ? report.wait_ns - (report.wait_ns && random_below(2))
				 : random_below(64) ? 0
						    : random_size(4 * (uint64_t)each);
		if (pause > ALGO_TIME_MAX / 4 || t.now + pause >= ALGO_TIME_MAX)
			break;
		t.now += pause;
	}
}

int main(void)
{
	for (int run = 0; run < 6300; run++)
		one_key(run);
	for (int run = 0; run < 6000; run++)
		exact_key();
	claim_end(&same, 2500000);
	claim_end(&excess_passed, 1000000);
	claim_end(&excess_refused, 500000);
	claim_end(&delays, 1000000);
	claim_end(&delayed, 300000);
	claim_end(&waits, 500000);
	claim_end(&left, 500000);
	claim_end(&rows, 100000);
	claim_end(&exact, 500000);
	claim_end(&turns, 300000);
	claim_end(&next, 500000);
	claim_end(&queue, 500000);
	claim_end(&slower, 3000);
	return done_testing();
}
