/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers_build: a rate as each algorithm counts it, and what to write instead where one cannot. */
#include "policy/numbers.h"
#include "policy/value.h"

static bool window_in_range(struct numbers *n, const struct rate *rate, struct model_mark mark)
{
	if (rate->period_ns <= 400 * RATE_NS_DAY)
		return true;
	diag_error(n->load, mark, "a window is at most 400 days long");
	return false;
}

static bool bucket_in_range(struct numbers *n, const struct rate *rate, struct model_mark mark)
{
	if (rate->count > ALGO_BURST_MAX || rate->at_once > ALGO_BURST_MAX)
		diag_error(n->load, mark,
			   "a bucket takes at most 1,000,000 at once; use a smaller unit, or algorithm: "
			   "fixed-window");
	else if ((unsigned __int128)rate->count * RATE_NS_S >
		 (unsigned __int128)ALGO_BURST_MAX * rate->period_ns)
		diag_error(n->load, mark, "a rate is at most 1,000,000 per second");
	else if (rate->count && rate->period_ns / rate->count > 366 * RATE_NS_DAY)
		diag_error(n->load, mark, "a rate is at least one per year");
	else
		return true;
	return false;
}

static bool build_token_bucket(struct numbers *n, const struct rate *rate, struct model_mark mark,
			       struct algo_numbers *out)
{
	uint32_t burst = rate->at_once ? rate->at_once : 1;

	if (n->burst)
		value_number(n->load, n->burst, "burst", 1, ALGO_BURST_MAX, &burst);
	return bucket_in_range(n, rate, mark) && algo_token_bucket(rate->count, rate->period_ns, burst, out);
}

/* Those who wait, and how many of them need not. */
static bool read_queue(struct numbers *n, const char *what, uint32_t *queue, uint32_t *at_once)
{
	struct load *load = n->load;
	size_t errors = load->diag.errors;

	if (n->concurrent) {
		diag_error(load, n->concurrent->mark,
			   "whose queue it is could not be told; make two limits of the %s and 'concurrent'",
			   what);
		return false;
	}
	if (n->queue)
		value_number(load, n->queue, "queue", 0, ALGO_BURST_MAX - 1, queue);
	if (n->at_once && value_number(load, n->at_once, "at_once", 0, ALGO_BURST_MAX - 1, at_once) &&
	    *at_once > *queue && load->diag.errors == errors && numbers_inherited(n, n->at_once)) {
		*at_once = *queue;
	} else if (*at_once > *queue && load->diag.errors == errors) {
		diag_error(load, n->at_once->mark, "'at_once' is a part of the queue, at most %u here",
			   *queue);
		*at_once = 0;
	}
	return true;
}

static bool build_leaky_bucket(struct numbers *n, const struct rate *rate, struct model_mark mark,
			       struct algo_numbers *out)
{
	uint32_t queue = 0, at_once = 0;
	uint64_t wait_ns = 0;

	if (!read_queue(n, "leaky-bucket", &queue, &at_once))
		return false;
	if (n->wait)
		value_duration(n->load, n->wait, "wait", &wait_ns);
	return bucket_in_range(n, rate, mark) &&
	       algo_leaky_bucket(rate->count, rate->period_ns, queue, at_once, wait_ns, out);
}

static bool build_nginx(struct numbers *n, const struct rate *rate, struct model_mark mark,
			struct algo_numbers *out)
{
	uint32_t queue = 0, at_once = 0;

	if (!read_queue(n, "rate", &queue, &at_once))
		return false;
	if (rate->period_ns != RATE_NS_S && rate->period_ns != 60 * RATE_NS_S)
		diag_error(n->load, mark,
			   "nginx counts per second or per minute; for others use algorithm: leaky-bucket");
	else if (rate->count > 1000 * (rate->period_ns / RATE_NS_S))
		diag_error(n->load, mark,
			   "nginx's clock cannot tell more than 1,000 a second; use algorithm: leaky-bucket");
	else
		return algo_limit_req(rate->count, rate->period_ns, queue, at_once, out);
	return false;
}

static bool build_fixed_window(struct numbers *n, const struct rate *rate, struct model_mark mark,
			       struct model_rate *out)
{
	enum algo_align align;

	uint64_t count = rate->count;
	bool good;

	if (!numbers_align(n, rate, &align) || !window_in_range(n, rate, mark))
		return false;
	if (n->limit->over) { /* the client is told the quota, and has more */
		out->soft = rate->count;
		count = count * (100 + n->limit->over_allow) / 100;
	}
	if (count > ALGO_COUNT_MAX)
		return false;
	out->by_day = algo_align_day(align) != 0;
	if (align >= ALGO_CALENDAR_DAY && n->zone.size > 0) {
		out->zone = n->zone;
		good = algo_calendar_window((uint32_t)count, rate->period_ns, align, n->clocks,
					    &out->numbers);
	} else {
		good = algo_fixed_window((uint32_t)count, rate->period_ns, align, &out->numbers);
	}
	if (good)
		out->numbers.quantity = rate->count;
	return good;
}

/* The largest count that fits this period: found by asking. */
static uint32_t largest_sliding_window(uint64_t period_ns)
{
	struct algo_numbers ignored;
	uint32_t low = 0, high = ALGO_COUNT_MAX;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (algo_sliding_window(middle, period_ns, &ignored))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static bool build_sliding_window(struct numbers *n, const struct rate *rate, struct model_mark mark,
				 struct algo_numbers *out)
{
	uint32_t most;

	if (!window_in_range(n, rate, mark))
		return false;
	if (algo_sliding_window(rate->count, rate->period_ns, out))
		return true;
	most = largest_sliding_window(rate->period_ns);
	if (most > 0 && rate->count > most)
		diag_error(
			n->load, mark,
			"a sliding-window counts at most %s in such a time; use algorithm: token-bucket, or "
			"fixed-window",
			value_grouped(n->load, most));
	return false;
}

static bool build_sliding_log(struct numbers *n, const struct rate *rate, struct model_mark mark,
			      struct algo_numbers *out)
{
	if (!window_in_range(n, rate, mark))
		return false;
	if (rate->count > ALGO_LOG_MAX) {
		diag_error(n->load, mark,
			   "a sliding-log remembers each request, at most 65,535; use algorithm: "
			   "sliding-window, or token-bucket");
		return false;
	}
	return algo_sliding_log(rate->count, rate->period_ns, out);
}

bool numbers_build(struct numbers *n, const struct rate *rate, enum algo_kind kind, struct model_mark mark,
		   struct model_rate *out)
{
	size_t errors = n->load->diag.errors;
	bool good = false;

	switch (kind) {
	case ALGO_TOKEN_BUCKET:
		good = build_token_bucket(n, rate, mark, &out->numbers);
		break;
	case ALGO_LEAKY_BUCKET:
		good = build_leaky_bucket(n, rate, mark, &out->numbers);
		break;
	case ALGO_FIXED_WINDOW:
		good = build_fixed_window(n, rate, mark, out);
		break;
	case ALGO_SLIDING_WINDOW:
		good = build_sliding_window(n, rate, mark, &out->numbers);
		break;
	case ALGO_SLIDING_LOG:
		good = build_sliding_log(n, rate, mark, &out->numbers);
		break;
	case ALGO_LIMIT_REQ:
		good = build_nginx(n, rate, mark, &out->numbers);
		break;
	default:
		break;
	}
	if (!good && n->load->diag.errors == errors)
		diag_error(n->load, mark, "these numbers are out of range together");
	return good;
}
