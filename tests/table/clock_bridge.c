/* SPDX-License-Identifier: BSD-2-Clause */
/* clock_bridge: how much time has passed since a snapshot, whatever the wall clock says; and when a clock that was not
 * believed is. */
#include "table/clock.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define MINUTE (60 * RIG_SECOND)
#define DAY    (24 * 60 * MINUTE)
#define THEN   (1000 * DAY)	  /* table time */
#define WALL   (20000 * DAY)	  /* wall clock */
#define UP     (int64_t)(5 * DAY) /* CLOCK_BOOTTIME then */

enum boot { SAME, OTHER, NAMELESS };

static const struct {
	enum boot boot;
	bool synced;
	int64_t wall; /* passed on the wall clock */
	int64_t up;   /* SAME: passed on CLOCK_BOOTTIME */
	uint64_t bridged;
	bool believed, same;
	const char *what;
} bridges[] = {
	{SAME, false, 0, 0, 0, true, true, "at once"},
	{SAME, false, (int64_t)RIG_YEAR, (int64_t)MINUTE, MINUTE, true, true,
	 "within a boot the wall clock says nothing: a year ahead"},
	{SAME, true, -(int64_t)RIG_YEAR, (int64_t)MINUTE, MINUTE, true, true, "a year back"},
	{SAME, true, (int64_t)MINUTE, -1, MINUTE, true, false, "a clock that went back is of no boot"},
	{OTHER, true, (int64_t)MINUTE, 0, MINUTE, true, false, "another boot: a minute by the wall clock"},
	{OTHER, true, (int64_t)(9 * DAY), 0, 9 * DAY, true, false,
	 "nine days, believed since it is synchronised"},
	{OTHER, true, (int64_t)(2 * RIG_YEAR), 0, 2 * RIG_YEAR, true, false, "two years in a cupboard"},
	{OTHER, false, (int64_t)MINUTE, 0, MINUTE, false, false, "a minute that nobody vouches for"},
	{OTHER, false, (int64_t)(9 * DAY), 0, DAY, false, false, "of nine days a day is believed"},
	{OTHER, false, (int64_t)RIG_YEAR, 0, DAY, false, false, "of a year too"},
	{OTHER, false, INT64_MAX - (int64_t)WALL, 0, DAY, false, false, "of all time"},
	{OTHER, false, -(int64_t)RIG_YEAR, 0, 2 * RIG_SECOND, false, false,
	 "a clock that went back: two seconds"},
	{OTHER, true, -(int64_t)RIG_YEAR, 0, 2 * RIG_SECOND, true, false, "synchronised or not"},
	{OTHER, true, 0, 0, 2 * RIG_SECOND, true, false, "no time at all: two seconds"},
	{OTHER, true, (int64_t)RIG_SECOND, 0, 2 * RIG_SECOND, true, false, "a second: two"},
	{NAMELESS, true, (int64_t)MINUTE, 9999, MINUTE, true, false,
	 "without boot ids every boot is another"},
};

static void check_bridges(void)
{
	for (size_t i = 0; i < sizeof bridges / sizeof *bridges; i++) {
		bool named = bridges[i].boot != NAMELESS;
		struct clock_then then = {
			.boot = {named, 7}, .offset = (int64_t)THEN - UP, .time = THEN, .wall = WALL};
		struct clock_reading now = {.boot = {named, bridges[i].boot == OTHER ? 8 : 7},
					    .boottime = bridges[i].boot == SAME ? UP + bridges[i].up : 77,
					    .wall = (int64_t)WALL + bridges[i].wall,
					    .synced = bridges[i].synced};
		struct clock_bridge bridge;
		if (!named)
			now.boot[1] = then.boot[1] = 0;
		clock_bridge(&then, &now, &bridge);
		is_u64(bridge.bridged_ns, bridges[i].bridged, bridges[i].what);
		is_u64(bridge.now, THEN + bridges[i].bridged, "  and so much later it is");
		is_u64(now.boottime + bridge.offset, bridge.now, "  from now on");
		ok(bridge.believed == bridges[i].believed && bridge.same_boot == bridges[i].same,
		   "  believed or not");
		is_u64(bridge.age_ns, bridges[i].wall > 0 ? (uint64_t)bridges[i].wall : 0,
		       "  its age is told");
	}
}

/* Whatever is read from a file: never back, never beyond what can be counted. */
static void check_extremes(void)
{
	static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
	static const uint64_t times[] = {0, 1, ALGO_TIME_MAX / 2 - 1};
	unsigned wrong = 0, count = 0;
	for (unsigned a = 0; a < 7; a++)
		for (unsigned b = 0; b < 7; b++)
			for (unsigned c = 0; c < 7; c++)
				for (unsigned d = 0; d < 12; d++) {
					struct clock_then then = {.boot = {1, 1},
								  .offset = values[a],
								  .time = times[d % 3],
								  .wall = (uint64_t)values[3 + d % 4]};
					struct clock_reading now = {.boot = {1, d / 6},
								    .boottime = values[b],
								    .wall = values[c],
								    .synced = d & 1};
					struct clock_bridge bridge;
					struct table_watch watch = {0};
					bool settled;
					clock_bridge(&then, &now, &bridge);
					wrong += bridge.now < then.time || bridge.now >= ALGO_TIME_MAX;
					uint64_t jump = clock_earned(&then, &now, bridge.now, &watch,
								     &settled);
					wrong += bridge.now + jump >= ALGO_TIME_MAX;
					count++;
				}
	ok(wrong == 0 && count == 7 * 7 * 7 * 12, "absurd numbers give a time that can be counted with");
}

struct look {
	uint64_t up;  /* CLOCK_BOOTTIME, since the load */
	int64_t wall; /* by how much the wall clock is wrong */
	bool synced;
	uint64_t jump;
	bool settled;
	const char *what;
};

/* A snapshot ten days old, loaded in another boot by a clock nobody vouched for: one day was bridged. `wrong`: the wall
 * clock's error in each look, against the true ten days. */
static void check_earning(const struct look *looks, size_t count)
{
	struct clock_then then = {.time = THEN, .wall = WALL};
	struct table_watch watch = {0};
	uint64_t offset = THEN + DAY - 100 * RIG_SECOND; /* the machine was up for 100 s when it was loaded */
	for (size_t i = 0; i < count; i++) {
		int64_t up = (int64_t)(100 * RIG_SECOND + looks[i].up);
		struct clock_reading now = {.boottime = up,
					    .wall = (int64_t)(WALL + 10 * DAY + looks[i].up) + looks[i].wall,
					    .synced = looks[i].synced};
		bool settled;
		uint64_t jump = clock_earned(&then, &now, (uint64_t)up + offset, &watch, &settled);
		is_u64(jump, looks[i].jump, looks[i].what);
		ok(settled == looks[i].settled, "  and whether that is the last word");
		offset += jump;
	}
}

int main(void)
{
	static const struct look synced[] = {
		{0, 0, false, 0, false, "nobody vouches for it"},
		{RIG_SECOND, 0, false, 0, false, "still not"},
		{2 * RIG_SECOND, 0, true, 9 * DAY, true, "synchronised: nine days are made up"},
		{3 * RIG_SECOND, 0, true, 0, true, "and not twice"},
	};
	static const struct look hour[] = {
		{0, 0, false, 0, false, "a machine without a network"},
		{59 * MINUTE, 0, false, 0, false, "59 minutes"},
		{60 * MINUTE, 0, false, 9 * DAY, true, "an hour in which nobody set it"},
	};
	static const struct look ahead[] = {
		{0, (int64_t)RIG_YEAR, false, 0, false, "a clock a year ahead"},
		{30 * MINUTE, (int64_t)RIG_YEAR, false, 0, false, "is not believed"},
		{31 * MINUTE, 0, false, 0, false, "somebody sets it right"},
		{61 * MINUTE, 0, false, 0, false, "the hour begins anew"},
		{91 * MINUTE, 0, false, 9 * DAY, true, "then it is believed: ten days and no year"},
	};
	static const struct look back[] = {
		{0, -(int64_t)RIG_YEAR, false, 0, false, "a clock a year back"},
		{MINUTE, -(int64_t)RIG_YEAR, true, 0, true, "gives nothing, and takes nothing"},
	};
	static const struct look slewed[] = {
		{0, 0, false, 0, false, "a clock that is slewed"},
		{1800 * RIG_SECOND, 400000000, false, 0, false, "a little between two looks"},
		{3600 * RIG_SECOND, 800000000, false, 9 * DAY + 800000000, true, "was not set"},
	};
	check_bridges();
	check_extremes();
	check_earning(synced, sizeof synced / sizeof *synced);
	check_earning(hour, sizeof hour / sizeof *hour);
	check_earning(ahead, sizeof ahead / sizeof *ahead);
	check_earning(back, sizeof back / sizeof *back);
	check_earning(slewed, sizeof slewed / sizeof *slewed);
	return done_testing();
}
