/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_judge: a word from a file is a claim about somebody: bounded before it may lock anyone out. */
#include "table/snapshot_judge.h"

#include "algo/bucket.h"
#include "algo/limit_req.h"
#include "algo/window.h"
#include "table/evict.h"
#include "table/log_ring.h"

#define SECOND_NS  UINT64_C(1000000000)
#define HOUR_NS	   (3600 * SECOND_NS)
#define DAY_NS	   (24 * HOUR_NS)
#define LONGEST_NS (400 * DAY_NS)

uint64_t snapshot_recovery_ns(const struct algo_numbers *n)
{
	/* as long as the slowest of those who ask, or the largest of their bursts */
	if (n->kind == ALGO_LIMIT_REQ && (limit_req_asks(n) || limit_req_asks_burst(n)))
		return LONGEST_NS;
	/* a sliding window weighs in the next one too */
	return n->kind == ALGO_SLIDING_WINDOW ? 2 * n->scale : algo_window_ns(n);
}

/* The longest that a window of these numbers can be ahead of the time it was charged at. */
static uint64_t reach_ns(const struct algo_numbers *n)
{
	uint64_t slack = SECOND_NS + (n->shift < 40 ? UINT64_C(2) << n->shift : 0);
	switch (n->kind) {
	case ALGO_FIXED_WINDOW:
		break;
	case ALGO_BAN:
		return 2 * n->capacity + slack;
	default: /* a log's ends go on in order, so a late clock ends with an early one's */
		return 3 * n->scale + slack;
	}
	/* On a wall clock that was set back a window may be skipped (window_begin): two of them. */
	switch (n->align) {
	case ALGO_FIRST_REQUEST:
		return n->scale + slack;
	case ALGO_CALENDAR_HOUR:
		return 4 * HOUR_NS + slack;
	case ALGO_CALENDAR_DAY:
		return 3 * DAY_NS + slack;
	case ALGO_CALENDAR_WEEK:
		return 15 * DAY_NS + slack;
	case ALGO_CALENDAR_YEAR:
		return 733 * DAY_NS + slack;
	default: /* of a month, and moved to another billing day by half of one more */
		return window_month_day(n) ? 79 * DAY_NS + slack : 2 * n->scale + slack;
	}
}

static bool is_bucket(const struct algo_numbers *n)
{
	return n->kind == ALGO_TOKEN_BUCKET || n->kind == ALGO_LEAKY_BUCKET || n->kind == ALGO_LIMIT_REQ;
}

static uint64_t clock_of(const struct algo_numbers *n, uint64_t at)
{
	return n->kind == ALGO_LIMIT_REQ ? limit_req_clock(n, at) : bucket_clock(n, at);
}

/* What settlements may leave beyond the capacity: two windows and a day. */
static uint64_t debt_max(const struct algo_numbers *n)
{
	uint64_t window = snapshot_recovery_ns(n);
	uint64_t most = clock_of(n, 2 * (window < LONGEST_NS ? window : LONGEST_NS) + DAY_NS);
	return most < n->capacity ? n->capacity : most;
}

static enum judged judge_bucket(const struct algo_numbers *n, uint64_t *w1, uint64_t taken, uint64_t now)
{
	uint64_t clock = clock_of(n, taken), debt = bucket_debt(*w1, clock);
	if (n->scale == 0 && snapshot_recovery_ns(n) == 0) /* nothing ever passes: nothing to remember */
		return JUDGED_EXPIRED;
	if (debt > n->capacity) {
		uint64_t most = debt_max(n);
		*w1 = clock + (debt < most ? debt : most);
	}
	return algo_recovered(n, *w1, now) ? JUDGED_EXPIRED : JUDGED_LIVE;
}

enum judged snapshot_judge(const struct algo_numbers *n, uint64_t w0, uint64_t *w1, uint64_t taken,
			   uint64_t now)
{
	if (w0 >> LAYOUT_ROW_BITS == 0 || *w1 & LAYOUT_CLAIM || n->kind == ALGO_CONCURRENT)
		return JUDGED_REFUSED;
	if (*w1 & CELL_MARK && (*w1 & CELL_HOLD || n->kind != ALGO_SLIDING_LOG))
		return JUDGED_REFUSED;
	if (n->kind == ALGO_SLIDING_LOG && !cell_is(*w1) && *w1 &&
	    (*w1 & ((1u << LOG_NEXT_BITS) - 1)) >= n->capacity) /* I17 */
		return JUDGED_REFUSED;
	if (is_bucket(n))
		return judge_bucket(n, w1, taken, now);
	if (evict_recovered(n, *w1, now))
		return JUDGED_EXPIRED;
	uint64_t end = evict_end(n, *w1);
	return end - taken <= reach_ns(n) || end <= taken ? JUDGED_LIVE : JUDGED_REFUSED;
}

bool snapshot_later(const struct algo_numbers *a_numbers, uint64_t *a, const struct algo_numbers *b_numbers,
		    uint64_t b, uint64_t now)
{
	uint64_t a_end = evict_end(a_numbers, *a), b_end = evict_end(b_numbers, b);
	if (a_end != b_end)
		return b_end > a_end;
	if (a_numbers->kind != ALGO_SLIDING_LOG) { /* of a window: who has counted more */
		uint32_t a_used = algo_used(a_numbers, *a, now), b_used = algo_used(b_numbers, b, now);
		return b_used != a_used ? b_used > a_used : b > *a;
	}
	if (!cell_is(*a) && *a != b)
		*a = log_ring_word(a_end, LOG_LOOSE, log_ring_share(*a), (uint32_t)*a & 0xffff);
	return false;
}
