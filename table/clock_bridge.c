/* SPDX-License-Identifier: BSD-2-Clause */
/* clock_bridge: how much time has passed since a snapshot, and when a doubted clock is believed. Arithmetic alone. */
#include "table/clock.h"

typedef __int128 far;

static uint64_t bounded(far value, far least, far most)
{
	return (uint64_t)(value < least ? least : value > most ? most : value);
}

void clock_bridge(const struct clock_then *then, const struct clock_reading *reading,
		  struct clock_bridge *out)
{
	const far last = ALGO_TIME_MAX - 1;
	far age = (far)reading->wall - (far)then->wall, exact = (far)reading->boottime + then->offset;
	bool named = reading->boot[0] | reading->boot[1];

	*out = (struct clock_bridge){.believed = true, .age_ns = bounded(age, 0, INT64_MAX)};
	out->same_boot = named && reading->boot[0] == then->boot[0] && reading->boot[1] == then->boot[1] &&
			 exact >= then->time && exact <= last;
	if (out->same_boot) {
		out->now = (uint64_t)exact;
		out->offset = then->offset;
	} else {
		uint64_t most = reading->synced ? UINT64_MAX : CLOCK_BELIEF_MAX;
		uint64_t passed = bounded(age, (far)CLOCK_LEAST, most);
		out->believed = reading->synced;
		out->now = bounded((far)then->time + passed, 0, last);
		out->offset = (int64_t)((far)out->now - reading->boottime);
	}
	out->bridged_ns = out->now - then->time;
}

uint64_t clock_earned(const struct clock_then *then, const struct clock_reading *reading, uint64_t now,
		      struct table_watch *watch, bool *settled)
{
	int64_t wall = (int64_t)((far)reading->wall - reading->boottime);
	far moved = (far)wall - watch->wall;
	uint64_t up = reading->boottime > 0 ? (uint64_t)reading->boottime : 1;

	if (!watch->since || up < watch->since || moved > (far)CLOCK_SET || -moved > (far)CLOCK_SET)
		watch->since = up;
	watch->wall = wall;
	*settled = reading->synced || up - watch->since >= CLOCK_EARN;
	if (!*settled)
		return 0;
	far due = (far)then->time + reading->wall - (far)then->wall;
	return bounded(due, now, ALGO_TIME_MAX - 1) - now;
}
