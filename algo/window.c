/* SPDX-License-Identifier: BSD-2-Clause */
/* window: the fixed window, from the first request or along the wall clock. */
#include "algo/window.h"

#include "algo/align.h"
#include "algo/zone.h"

#define PERIOD_MIN_NS UINT64_C(1000000)
#define PERIOD_MAX_NS (UINT64_C(400) * 86400 * 1000000000)

bool window_in_range(uint32_t count, uint64_t period_ns)
{
	return count <= ALGO_COUNT_MAX && period_ns >= PERIOD_MIN_NS && period_ns <= PERIOD_MAX_NS &&
	       count * UINT64_C(1000) <= period_ns;
}

bool algo_fixed_window(uint32_t count, uint64_t period_ns, enum algo_align align, struct algo_numbers *out)
{
	if (!window_in_range(count, period_ns) || !align_known((unsigned)align))
		return false;
	unsigned bits = 1;
	while (count >> bits)
		bits++;
	/* The end has 62 - bits bits for 2^60 ns of table time and two windows beyond it: a tick of 2^bits ns. */
	*out = (struct algo_numbers){.kind = ALGO_FIXED_WINDOW,
				     .align = (uint8_t)align,
				     .shift = (uint8_t)bits,
				     .count_bits = (uint8_t)bits,
				     .quantity = count,
				     .scale = period_ns,
				     .capacity = count};
	return true;
}

bool algo_calendar_window(uint32_t count, uint64_t period_ns, enum algo_align align, const uint64_t zone[2],
			  struct algo_numbers *out)
{
	if (align < ALGO_CALENDAR_DAY || !zone_valid(zone) ||
	    !algo_fixed_window(count, period_ns, align, out))
		return false;
	out->zone[0] = zone[0];
	out->zone[1] = zone[1];
	return true;
}

bool algo_billing_day(const struct algo_numbers *n, unsigned day, struct algo_numbers *out)
{
	if (n->kind != ALGO_FIXED_WINDOW || !algo_align_day(n->align) || day < 1 || day > ALGO_BILLING_DAYS)
		return false;
	*out = *n;
	out->align = (uint8_t)ALGO_BILLING_DAY(day);
	return true;
}

static int64_t wall_at(const struct algo_time *t, uint64_t now)
{
	__int128 wall = (__int128)now + t->wall;
	if (wall < ALIGN_WALL_MIN)
		return ALIGN_WALL_MIN;
	return wall > ALIGN_WALL_MAX ? ALIGN_WALL_MAX : (int64_t)wall;
}

static int64_t next_end(const struct algo_numbers *n, int64_t wall)
{
	return align_next((enum algo_align)n->align, n->scale, n->zone, wall);
}

/* Two ends closer to each other than this are one end on a clock that was corrected in between. */
static uint64_t half_window(const struct algo_numbers *n, int64_t wall)
{
	return align_shortest((enum algo_align)n->align, n->scale, n->zone, wall) / 2;
}

uint64_t window_begin(const struct algo_numbers *n, const struct algo_time *t, uint64_t before)
{
	if (n->align == ALGO_FIRST_REQUEST)
		return t->now + n->scale;
	int64_t wall = wall_at(t, t->now), end = next_end(n, wall);
	/* A wall clock set back a little shows the boundary that has just passed once more: the next window
	 * has begun all the same, else the clock would give a second N. "A little" is less than half a
	 * window. */
	if (before && before <= t->now) {
		uint64_t apart = t->now - before + (uint64_t)(end - wall);
		if (apart < align_usual((enum algo_align)n->align, n->scale) / 2 &&
		    apart < half_window(n, end))
			end = next_end(n, end);
	}
	return t->now + (uint64_t)(end - wall);
}

uint64_t window_moved(const struct algo_numbers *to, const struct algo_time *t, uint64_t end)
{
	int64_t wall = wall_at(t, end), usual = (int64_t)align_usual((enum algo_align)to->align, to->scale);
	int64_t before = next_end(to, wall - 2 * usual), after = next_end(to, before);
	for (; after < wall; after = next_end(to, after))
		before = after;
	int64_t nearest = wall - before < after - wall ? before : after;
	if (nearest <= wall_at(t, t->now)) /* it has passed */
		return end;
	return nearest > wall ? end + (uint64_t)(nearest - wall) : end - (uint64_t)(wall - nearest);
}

void window_step(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		 struct algo_outcome *out)
{
	uint64_t count = (uint64_t)window_used(n, state, t->now) + cost;
	out->allowed = count <= n->capacity;
	if (!out->allowed || cost == 0)
		out->state = state;
	else if (t->now < window_end(n, state))
		out->state = state + cost;
	else
		out->state = window_word(n, window_begin(n, t, window_end(n, state)), count);
}

/* Counts `cost`, but not beyond `most`. */
static uint64_t fill(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost,
		     uint64_t most)
{
	uint64_t end = window_end(n, state), used = window_used(n, state, t->now), filled = used + cost;
	if (filled > most)
		filled = most;
	if (filled <= used)
		return state;
	return window_word(n, t->now < end ? end : window_begin(n, t, end), filled);
}

uint64_t window_settle(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	return fill(n, state, t, cost, (UINT64_C(1) << n->count_bits) - 1);
}

uint64_t window_punish(const struct algo_numbers *n, uint64_t state, const struct algo_time *t, uint32_t cost)
{
	return fill(n, state, t, cost, n->capacity);
}

uint64_t window_give_back(const struct algo_numbers *n, uint64_t state, const struct algo_time *t,
			  uint64_t charged_at, uint32_t cost)
{
	uint64_t end = window_end(n, state), count = window_count(n, state);
	if (t->now >= end || charged_at >= end)
		return state;
	/* The window in which it was charged would end at the same place (on a wall clock: closer to it than
	 * to another). */
	struct algo_time then = {charged_at, t->wall};
	uint64_t its_end = window_begin(n, &then, 0), slack = (UINT64_C(1) << n->shift) - 1;
	if (n->align != ALGO_FIRST_REQUEST)
		slack += half_window(n, wall_at(t, end));
	if (its_end + slack < end)
		return state;
	return count > cost ? state - cost : 0;
}

void window_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		     struct algo_report *out)
{
	uint64_t end = window_end(n, state), left = end > now ? end - now : 0,
		 used = window_used(n, state, now);
	out->limit = (uint32_t)n->capacity;
	out->remaining = used < n->capacity ? (uint32_t)(n->capacity - used) : 0;
	out->full_ns = left;
	out->delay_ns = 0;
	if (cost > n->capacity)
		out->wait_ns = ALGO_NEVER;
	else
		out->wait_ns = used + cost > n->capacity ? left : 0;
}

bool window_valid(const struct algo_numbers *n)
{
	return n->count_bits >= 1 && n->count_bits <= 30 && n->shift == n->count_bits &&
	       n->capacity >> n->count_bits == 0 && align_known(n->align) && n->scale >= PERIOD_MIN_NS &&
	       n->scale <= PERIOD_MAX_NS && (n->align < ALGO_CALENDAR_DAY || zone_valid(n->zone));
}
