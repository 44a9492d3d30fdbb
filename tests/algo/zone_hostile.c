/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_hostile: any bits as a zone, any time: offsets within 36 hours, boundaries ahead, in order and not far. The
 * sanitizer build looks for overflow. */
#include "algo/align.h"
#include "algo/window.h"
#include "algo/zone.h"
#include "tests/algo/zone_clocks.h"

static void any_zone(uint64_t zone[2])
{
	place_zone((enum place)random_below(PLACES), zone);
	switch (random_below(4)) {
	case 0:
		break;
	case 1: /* a few bits turned */
		for (uint64_t i = 1 + random_below(5); i; i--)
			zone[random_below(2)] ^= UINT64_C(1) << random_below(64);
		break;
	case 2:
		zone[random_below(2)] = random_u64();
		break;
	default:
		zone[0] = random_u64();
		zone[1] = random_below(8) ? random_u64() : UINT64_MAX;
	}
}

static int64_t any_wall(void)
{
	static const int64_t edges[] = {INT64_MIN,	INT64_MIN + 1, -1, 0, 1, INT64_MAX,
					ALIGN_WALL_MIN, ALIGN_WALL_MAX};
	switch (random_below(8)) {
	case 0:
		return edges[random_below(8)];
	case 1:
		return (int64_t)random_u64();
	default: /* 1970 to 2100 */
		return (int64_t)random_below(130 * YEAR);
	}
}

int main(void)
{
	struct claim offsets = {"offsets are within 36 hours and a half", 0, 0};
	struct claim spans = {"a stretch holds its time", 0, 0};
	struct claim ahead = {"a boundary lies ahead, at most 370 days", 0, 0};
	struct claim same = {"it is the same until then", 0, 0};
	struct claim billing = {"so does a billing day, at most 35 days", 0, 0};
	struct claim windows = {"a window that begins ends later, in at most 740 days", 0, 0};
	struct claim valid = {"valid zones", 0, 0}, forged = {"others", 0, 0};
	for (int i = 0; i < 600000; i++) {
		uint64_t zone[2];
		any_zone(zone);
		int64_t wall = any_wall();
		claim(zone_valid(zone) ? &valid : &forged, true);
		int32_t offset = zone_offset_at(zone, wall);
		claim(&offsets, offset >= -131072 && offset <= 131071);
		int64_t wall_s = wall / (int64_t)SECOND % ZONE_FAR;
		struct zone_span span = zone_span_at(zone, wall_s);
		claim(&spans, span.from_s <= wall_s && wall_s < span.until_s && span.from_s >= -ZONE_FAR &&
				      span.until_s <= ZONE_FAR);
		if (wall < ALIGN_WALL_MIN || wall > ALIGN_WALL_MAX)
			continue;
		enum algo_align align = (enum algo_align)(ALGO_CALENDAR_DAY + random_below(5));
		int64_t next = align_next(align, 0, zone, wall);
		claim(&ahead, next > wall && next <= wall + 370 * (int64_t)DAY);
		int64_t between = wall + (int64_t)random_below((uint64_t)(next - wall));
		claim(&same, align_next(align, 0, zone, between) == next &&
				     align_next(align, 0, zone, next - 1) == next);
		int64_t billed = align_billing_next(1 + (unsigned)random_below(31), zone, wall);
		claim(&billing, billed > wall && billed <= wall + 35 * (int64_t)DAY);
		uint64_t usual = align_usual(align, 0), shortest = align_shortest(align, 0, zone, wall);
		claim(&ahead, shortest > 0 && shortest <= usual);

		struct algo_numbers n = {0};
		algo_calendar_window(5, DAY, align, (uint64_t[2]){0, 0}, &n);
		memcpy(n.zone, zone, sizeof n.zone);
		struct algo_time t = {random_below(ALGO_TIME_MAX), (int64_t)random_u64()};
		if (random_below(2))
			t.wall = wall - (int64_t)t.now;
		uint64_t end = window_begin(&n, &t, random_below(2) ? t.now - random_below(t.now + 1) : 0);
		claim(&windows, end > t.now && end - t.now <= 2 * 370 * DAY);
		struct algo_outcome outcome;
		algo_step(&n, random_u64() >> 1, &t, 1, &outcome);
		claim(&windows, outcome.state >> 63 == 0);
		claim(&windows,
		      algo_give_back(&n, outcome.state, &t, random_below(ALGO_TIME_MAX), 1) >> 63 == 0);
	}
	claim_end(&valid, 100000);
	claim_end(&forged, 100000);
	claim_end(&offsets, 600000);
	claim_end(&spans, 600000);
	claim_end(&ahead, 400000);
	claim_end(&same, 400000);
	claim_end(&billing, 400000);
	claim_end(&windows, 1000000);
	return done_testing();
}
