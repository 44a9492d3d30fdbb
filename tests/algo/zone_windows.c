/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone_windows: counters of calendar windows in zones, against a slow reference: the local hour or day at each request.
 * Exactly N pass in each, however long or short the clocks make it; what is given back leaves another window alone.
 */
#include "algo/window.h"
#include "algo/zone.h"
#include "tests/algo/zone_clocks.h"

#define SINCE (77 * DAY + 12345) /* table time of the first request: not where ends are exact */

static const enum place places[] = {BERLIN, DUBLIN, LORD_HOWE, KATHMANDU, SANTIAGO,  HAVANA,
				    BEIRUT, GAZA,   NEW_YORK,  BACK,	  CASABLANCA};

/* How often the local hour or day has become a later one: a name for the window of this instant. */
struct ticker {
	const uint64_t *zone;
	int64_t unit_s, latest;
	uint64_t count;
};

static void tick(struct ticker *ticker, int64_t wall_s)
{
	int64_t now = (wall_s + zone_offset_at(ticker->zone, wall_s * (int64_t)SECOND)) / ticker->unit_s;
	if (now > ticker->latest) {
		ticker->latest = now;
		ticker->count++;
	}
}

/* Requests of random cost at random times, then what is left of N: never more than N, and all of it. */
static void hammered(enum place place, enum algo_align align, struct claim *over, struct claim *full)
{
	uint64_t zone[2], state = 0, window = 0, used = 0;
	place_zone(place, zone);
	const uint32_t limit = 1 + (uint32_t)random_below(1000);
	struct ticker ticker = {zone, align == ALGO_CALENDAR_HOUR ? 3600 : 86400, 0, 0};
	struct algo_numbers n;
	algo_calendar_window(limit, DAY, align, zone, &n);
	int64_t begin = at_s("2026-02-01 00:00:00"),
		end = begin + (align == ALGO_CALENDAR_HOUR ? 420 : 1500) * INT64_C(86400);
	for (int64_t wall_s = begin; wall_s < end; wall_s += 300) {
		tick(&ticker, wall_s);
		if (ticker.count != window) {
			claim(full, window == 0 || used == limit);
			window = ticker.count;
			used = 0;
		}
		if (used == limit && random_below(4))
			continue;
		struct algo_time t = {SINCE + (uint64_t)(wall_s - begin) * SECOND, 0};
		t.wall = wall_s * (int64_t)SECOND - (int64_t)t.now;
		t.now += 10000 + random_below(299 * SECOND); /* an end is late by less than 2N ns */
		for (uint32_t tries = 0; tries < 4; tries++) {
			struct algo_outcome outcome;
			uint32_t cost = tries < 3 ? 1 + (uint32_t)random_below(limit)
						  : limit - (uint32_t)used;
			algo_step(&n, state, &t, cost, &outcome);
			claim(over, outcome.allowed == (used + cost <= limit));
			used += outcome.allowed ? cost : 0;
			state = outcome.state;
		}
	}
}

/* At the end of every window: what was charged in it is not given back to the next. */
static void given_back(enum place place, enum algo_align align, struct claim *back)
{
	uint64_t zone[2], before = 0;
	place_zone(place, zone);
	struct ticker ticker = {zone, align == ALGO_CALENDAR_HOUR ? 3600 : 86400, 0, 0};
	struct algo_numbers n;
	algo_calendar_window(10, DAY, align, zone, &n);
	int64_t begin = at_s("2026-02-01 00:00:00");
	struct algo_time t = {0, begin * (int64_t)SECOND - (int64_t)SINCE};
	for (int64_t wall_s = begin; wall_s < begin + 420 * INT64_C(86400); wall_s += 900) {
		uint64_t window = ticker.count;
		tick(&ticker, wall_s);
		uint64_t now = SINCE + (uint64_t)(wall_s - begin) * SECOND;
		if (ticker.count != window &&
		    before) { /* a window has begun now; the last quarter of its neighbour */
			struct algo_outcome outcome;
			t.now = now + MS;
			algo_step(&n, 0, &t, 4, &outcome);
			claim(back, algo_give_back(&n, outcome.state, &t, now - MS, 3) == outcome.state);
			claim(back, algo_give_back(&n, outcome.state, &t, before, 3) == outcome.state);
			uint64_t given = algo_give_back(&n, outcome.state, &t, now + MS / 2, 3);
			claim(back, window_used(&n, given, t.now) == 1);
		}
		if (ticker.count != window)
			before = now + MS;
	}
}

/* New clocks for a window that runs: it ends where it would have, the next one follows them. */
static void moved(void)
{
	struct algo_numbers berlin, new_york;
	uint64_t zone[2];
	place_zone(BERLIN, zone);
	algo_calendar_window(10, DAY, ALGO_CALENDAR_DAY, zone, &berlin);
	place_zone(NEW_YORK, zone);
	algo_calendar_window(20, DAY, ALGO_CALENDAR_DAY, zone, &new_york);
	struct algo_time t = {DAY, at_s("2026-07-01 12:00:00") * (int64_t)SECOND - (int64_t)DAY};
	struct algo_outcome outcome;
	algo_step(&berlin, 0, &t, 5, &outcome);
	is_u64((window_end(&berlin, outcome.state) - t.now) / SECOND, 10 * 3600,
	       "Berlin's day ends at 22:00 UTC");
	uint64_t carried = algo_convert(&berlin, &new_york, outcome.state, &t);
	is_u64((window_end(&new_york, carried) - t.now) / SECOND, 10 * 3600,
	       "so does what New York takes over");
	is_u64(window_used(&new_york, carried, t.now), 10, "with the same share used");
	t.now += 10 * HOUR + MINUTE;
	algo_step(&new_york, carried, &t, 1, &outcome);
	is_u64((window_end(&new_york, outcome.state) - t.now) / SECOND, 30 * 3600 - 60,
	       "the next would be six hours, less than half a day: New York's whole day joins it");
}

int main(void)
{
	struct claim over = {"what fits in N of a local hour or day passes, and no more", 0, 0};
	struct claim full = {"N in each", 0, 0};
	struct claim back = {"what was charged in another window is not given back to this one", 0, 0};
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		for (int unit = 0; unit < 2; unit++) {
			enum algo_align align = unit ? ALGO_CALENDAR_DAY : ALGO_CALENDAR_HOUR;
			hammered(places[i], align, &over, &full);
			given_back(places[i], align, &back);
		}
	claim_end(&over, 1000000);
	claim_end(&full, 100000);
	claim_end(&back, 100000);
	moved();
	return done_testing();
}
