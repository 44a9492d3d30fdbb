/* SPDX-License-Identifier: BSD-2-Clause */
/* sliding: the sliding window counter. */
#include "algo/sliding.h"

#include "algo/window.h"

/* As the word is read at one moment: the window that holds then, and the one before. */
struct view {
	uint64_t index, previous, current;
	uint64_t
		left; /* ns of this window that are still to come: so much of the period the one before weighs */
};

static struct view view_at(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	uint64_t mask = (UINT64_C(1) << n->count_bits) - 1, index = sliding_index(n, now);
	uint64_t stored = state >> n->count_bits >> n->count_bits;
	struct view v = {index, state >> n->count_bits & mask, state & mask, (index + 1) * n->scale - now};
	if (index < stored) { /* a late clock, or a forged word */
		v.index = stored;
		v.left = n->scale;
	} else if (index > stored) {
		v.previous = index == stored + 1 ? v.current : 0;
		v.current = 0;
	}
	return v;
}

static uint64_t count_max(const struct algo_numbers *n)
{
	return (UINT64_C(1) << n->count_bits) - 1;
}

static uint64_t word_of(const struct algo_numbers *n, uint64_t index, uint64_t previous, uint64_t current)
{
	return (previous | current) ? (index << n->count_bits | previous) << n->count_bits | current : 0;
}

/* What the window before weighs, in whole units, rounded up: no more than its count. */
static uint64_t weight(const struct algo_numbers *n, const struct view *v)
{
	return wide_ceil((wide)v->previous * v->left, n->scale);
}

/* Both counts get what the index of the last window that can be charged leaves of 62 bits. 28 at most, so N
 * below 2^28; at least 10. */
static unsigned count_bits(uint64_t period_ns)
{
	uint64_t last = ALGO_TIME_MAX / period_ns + 1;
	return (62 - (64 - (unsigned)__builtin_clzll(last))) / 2;
}

static uint64_t inverse(uint64_t period_ns)
{
	return (uint64_t)(((wide)1 << 64) / period_ns);
}

bool algo_sliding_window(uint32_t count, uint64_t period_ns, struct algo_numbers *out)
{
	if (!window_in_range(count, period_ns) || count >> count_bits(period_ns))
		return false;
	*out = (struct algo_numbers){.kind = ALGO_SLIDING_WINDOW,
				     .count_bits = (uint8_t)count_bits(period_ns),
				     .quantity = count,
				     .scale = period_ns,
				     .capacity = count,
				     .inverse = inverse(period_ns)};
	return true;
}

bool sliding_valid(const struct algo_numbers *n)
{
	/* With exactly these bits no index that fits them, times the period, comes near 2^64. */
	return window_in_range(0, n->scale) && n->count_bits == count_bits(n->scale) &&
	       n->inverse == inverse(n->scale) && n->capacity >> n->count_bits == 0;
}

wide sliding_estimate(const struct algo_numbers *n, uint64_t state, uint64_t now)
{
	struct view v = view_at(n, state, now);
	return (wide)v.previous * v.left + (wide)v.current * n->scale;
}

uint64_t sliding_used(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t *capacity)
{
	wide used = sliding_estimate(n, state, now), all = (wide)n->capacity * n->scale;
	unsigned shift = 0;
	while (all >> shift >> 63)
		shift++;
	*capacity = (uint64_t)(all >> shift);
	return used < all ? (uint64_t)(used >> shift) : *capacity;
}

uint64_t sliding_word(const struct algo_numbers *n, uint64_t now, uint64_t count)
{
	return word_of(n, sliding_index(n, now), 0, count < count_max(n) ? count : count_max(n));
}

void sliding_step(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		  struct algo_outcome *out)
{
	struct view v = view_at(n, state, now);
	uint64_t count = v.current + cost;
	out->allowed = count <= n->capacity &&
		       (wide)v.previous * v.left <= (wide)(n->capacity - count) * n->scale;
	out->state = out->allowed && cost ? word_of(n, v.index, v.previous, count) : state;
}

uint64_t sliding_settle(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost)
{
	struct view v = view_at(n, state, now);
	uint64_t count = v.current + cost, most = count_max(n);
	return cost ? word_of(n, v.index, v.previous, count < most ? count : most) : state;
}

/* As many whole units as there is room for. Less than one is left then, so who goes on hammering stays refused. */
uint64_t sliding_punish(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost)
{
	struct view v = view_at(n, state, now);
	uint64_t used = v.current + weight(n, &v), room = used < n->capacity ? n->capacity - used : 0;
	uint64_t more = cost < room ? cost : room;
	return more ? word_of(n, v.index, v.previous, v.current + more) : state;
}

/* From the count of the window it was charged in, if that still weighs. One charged by a late clock may stand in the
 * count of a later window than its time says: taken from the earlier one it gives back less than it took. */
uint64_t sliding_give_back(const struct algo_numbers *n, uint64_t state, uint64_t now, uint64_t charged_at,
			   uint32_t cost)
{
	struct view v = view_at(n, state, now);
	uint64_t index = sliding_index(n, charged_at);
	uint64_t *count = index == v.index ? &v.current : &v.previous;
	if ((index != v.index && index + 1 != v.index) || *count == 0 || cost == 0)
		return state;
	*count -= *count < cost ? *count : cost;
	return word_of(n, v.index, v.previous, v.current);
}

/* The first moment at which `cost` fits, if it does not now. The estimate only falls, in a straight line while a
 * window lasts: this one's, down to `current`; then the next one's, down to 0. */
static uint64_t fits_at(const struct algo_numbers *n, const struct view *v, uint32_t cost)
{
	uint64_t room = n->capacity - cost, count = v->current, end = (v->index + 2) * n->scale;
	if (v->current <= room) {
		room -= v->current;
		count = v->previous;
		end -= n->scale;
	}
	if (count == 0) /* it would fit */
		return 0;
	/* count * (end - at) <= room * period */
	return end - (uint64_t)((wide)room * n->scale / count);
}

void sliding_describe(const struct algo_numbers *n, uint64_t state, uint64_t now, uint32_t cost,
		      struct algo_report *out)
{
	struct view v = view_at(n, state, now);
	uint64_t used = v.current + weight(n, &v), end = sliding_end(n, state);
	out->limit = (uint32_t)n->capacity;
	out->remaining = used < n->capacity ? (uint32_t)(n->capacity - used) : 0;
	out->full_ns = end > now ? end - now : 0;
	out->delay_ns = 0;
	if (cost > n->capacity)
		out->wait_ns = ALGO_NEVER;
	else
		out->wait_ns = used + cost > n->capacity ? fits_at(n, &v, cost) - now : 0;
}

static uint64_t at_most(wide value, uint64_t most)
{
	return value < most ? (uint64_t)value : most;
}

/* `current` in proportion, rounded up; then the least `previous` with which the share is no smaller now. So it is
 * no smaller at the end of this window either, where only `current` weighs, and in between both fall in a
 * straight line. */
uint64_t sliding_carry(const struct algo_numbers *from, const struct algo_numbers *to, uint64_t state,
		       uint64_t now)
{
	struct view v = view_at(from, state, now);
	if (from->capacity == 0) /* a limit that lets nothing pass: all is used */
		return word_of(to, v.index, 0, to->capacity);
	uint64_t most = count_max(to);
	uint64_t current = at_most(((wide)v.current * to->capacity + from->capacity - 1) / from->capacity,
				   most);
	wide need = sliding_estimate(from, state, now) * to->capacity;
	wide have = (wide)current * from->scale * from->capacity, unit = (wide)v.left * from->capacity;
	uint64_t previous = need > have ? at_most((need - have + unit - 1) / unit, most) : 0;
	return word_of(to, v.index, previous, current);
}
