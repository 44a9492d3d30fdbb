/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers: the rates of a limit with everything that says how they are counted. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/rate.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define RATES_MAX 8

struct numbers {
	struct load *load;
	struct model_limit *limit;
	const struct node *rate, *algorithm, *burst, *queue, *at_once, *wait, *align;
	int kind;		     /* ALGO_NONE: each rate's own default */
	int alignment;		     /* -1: each rate's own default */
	bool kinds[ALGO_KIND_COUNT]; /* that occur */
};

static void read_align(struct numbers *n)
{
	struct text text;
	int number;

	if (!value_line(n->load, n->align, "align", &text))
		return;
	const char *blank = memchr(text.data, ' ', text.size);
	struct text word = {text.data, blank ? (size_t)(blank - text.data) : text.size};
	struct text zone = blank ? value_trim((struct text){blank, text.size - word.size}) : (struct text){0};
	if (!words_value_text(n->load, word, n->align->mark, "align", &number))
		return;
	if (zone.size && number != ALGO_CALENDAR_DAY)
		diag_error(n->load, n->align->mark, "'%.*s' takes no zone; only a calendar has one",
			   SHOW(word));
	else if (zone.size && !text_equal_folded(zone, TEXT("UTC")))
		diag_error(n->load, n->align->mark, "time zones other than UTC are not built yet");
	else
		n->alignment = number;
}

/* How windows of this rate are aligned; false after a finding. */
static bool alignment_of(struct numbers *n, const struct rate *rate, enum algo_align *out)
{
	static const enum algo_align calendars[] = {
		[RATE_MS] = ALGO_CLOCK,
		[RATE_S] = ALGO_CLOCK,
		[RATE_MIN] = ALGO_CLOCK,
		[RATE_HOUR] = ALGO_CLOCK,
		[RATE_DAY] = ALGO_CALENDAR_DAY,
		[RATE_WEEK] = ALGO_CALENDAR_WEEK,
		[RATE_MONTH] = ALGO_CALENDAR_MONTH,
		[RATE_YEAR] = ALGO_CALENDAR_YEAR,
	};
	if (n->alignment < 0) {
		*out = rate->period_ns < RATE_NS_DAY ? ALGO_FIRST_REQUEST
		       : rate->single		     ? calendars[rate->unit]
						     : ALGO_CLOCK;
	} else if (n->alignment != ALGO_CALENDAR_DAY) {
		*out = (enum algo_align)n->alignment;
	} else if (rate->single) {
		*out = calendars[rate->unit];
	} else {
		diag_error(n->load, n->align->mark,
			   "a calendar has single days, weeks, months and years; for this rate say align: "
			   "clock");
		return false;
	}
	return true;
}

static bool in_range(struct numbers *n, const struct rate *rate, enum algo_kind kind, struct model_mark mark)
{
	if (kind == ALGO_FIXED_WINDOW) {
		if (rate->period_ns <= 400 * RATE_NS_DAY)
			return true;
		diag_error(n->load, mark, "a window is at most 400 days long");
	} else if (rate->count > ALGO_BURST_MAX || rate->at_once > ALGO_BURST_MAX) {
		diag_error(n->load, mark,
			   "a bucket takes at most 1,000,000 at once; use a smaller unit, or algorithm: "
			   "fixed-window");
	} else if ((unsigned __int128)rate->count * RATE_NS_S >
		   (unsigned __int128)ALGO_BURST_MAX * rate->period_ns) {
		diag_error(n->load, mark, "a rate is at most 1,000,000 per second");
	} else if (rate->count && rate->period_ns / rate->count > 366 * RATE_NS_DAY) {
		diag_error(n->load, mark, "a rate is at least one per year");
	} else {
		return true;
	}
	return false;
}

static bool build(struct numbers *n, const struct rate *rate, enum algo_kind kind, struct model_mark mark,
		  struct algo_numbers *out)
{
	struct load *load = n->load;
	uint32_t burst = rate->at_once ? rate->at_once : 1, queue = 0, at_once = 0;
	uint64_t wait_ns = 0;
	enum algo_align align;
	size_t errors = load->diag.errors;
	bool good = false;

	switch (kind) {
	case ALGO_TOKEN_BUCKET:
		if (n->burst)
			value_number(load, n->burst, "burst", 1, ALGO_BURST_MAX, &burst);
		good = in_range(n, rate, kind, mark) &&
		       algo_token_bucket(rate->count, rate->period_ns, burst, out);
		break;
	case ALGO_LEAKY_BUCKET:
		if (n->queue)
			value_number(load, n->queue, "queue", 0, ALGO_BURST_MAX - 1, &queue);
		if (n->at_once &&
		    value_number(load, n->at_once, "at_once", 0, ALGO_BURST_MAX - 1, &at_once) &&
		    at_once > queue && load->diag.errors == errors) {
			diag_error(load, n->at_once->mark,
				   "'at_once' is a part of the queue, at most %u here", queue);
			at_once = 0;
		}
		if (n->wait)
			value_duration(load, n->wait, "wait", &wait_ns);
		good = in_range(n, rate, kind, mark) &&
		       algo_leaky_bucket(rate->count, rate->period_ns, queue, at_once, wait_ns, out);
		break;
	case ALGO_FIXED_WINDOW:
		good = alignment_of(n, rate, &align) && in_range(n, rate, kind, mark) &&
		       algo_fixed_window(rate->count, rate->period_ns, align, out);
		break;
	default:
		break;
	}
	if (!good && load->diag.errors == errors)
		diag_error(load, mark, "these numbers are out of range together");
	return good;
}

static void warn_cost(struct numbers *n, const struct model_rate *rate)
{
	struct algo_report full;
	algo_describe(&rate->numbers, 0, &(struct algo_time){0, 0}, 1, false, &full);
	if (n->limit->cost > full.limit && rate->count > 0)
		diag_warning(n->load, rate->mark, "a cost of %u can never fit: at most %u pass at once",
			     n->limit->cost, full.limit);
}

static void read_rate(struct load *load, const struct node *item, void *context)
{
	struct numbers *n = context;
	struct model_limit *limit = n->limit;
	struct text text;
	struct rate rate;
	char why[320];

	if (!value_line(load, item, "rate", &text))
		return;
	if (!rate_parse(&load->arena, text, &rate, why, sizeof why)) {
		diag_error(load, item->mark, "%s", why);
		return;
	}
	for (size_t i = 0; i < limit->rate_count; i++)
		if (text_equal(limit->rates[i].unit, rate.name)) {
			diag_error(load, item->mark, "two rates per %.*s; the smaller one is enough",
				   SHOW(rate.name));
			return;
		}
	if (limit->rate_count == RATES_MAX) {
		diag_error(load, item->mark, "a limit has at most %d rates", RATES_MAX);
		return;
	}
	enum algo_kind kind = n->kind			     ? (enum algo_kind)n->kind
			      : rate.period_ns < RATE_NS_DAY ? ALGO_TOKEN_BUCKET
							     : ALGO_FIXED_WINDOW;
	struct model_rate *out = &limit->rates[limit->rate_count];
	*out = (struct model_rate){
		.mark = item->mark, .count = rate.count, .period_ns = rate.period_ns, .unit = rate.name};
	n->kinds[kind] = true;
	if (build(n, &rate, kind, item->mark, &out->numbers)) {
		limit->rate_count++;
		warn_cost(n, out);
	}
}

/* Words that need another algorithm than there is. */
static void check_words(struct numbers *n)
{
	struct load *load = n->load;
	bool several = n->rate->kind == NODE_LIST && n->rate->count > 1;
	const struct {
		const struct node *node;
		const char *word;
		enum algo_kind kind;
	} words[] = {
		{n->burst, "burst", ALGO_TOKEN_BUCKET},	    {n->queue, "queue", ALGO_LEAKY_BUCKET},
		{n->at_once, "at_once", ALGO_LEAKY_BUCKET}, {n->wait, "wait", ALGO_LEAKY_BUCKET},
		{n->align, "align", ALGO_FIXED_WINDOW},
	};
	static const char *const names[ALGO_KIND_COUNT] = {
#define X(name, word, help) [ALGO_##name] = (word),
		ALGO_KINDS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!words[i].node)
			continue;
		if (several && words[i].kind != ALGO_FIXED_WINDOW)
			diag_error(load, words[i].node->mark,
				   "'%s' goes with a single rate; make two limits of these rates",
				   words[i].word);
		else if (!n->kinds[words[i].kind] && n->kind)
			diag_error(load, words[i].node->mark, "'%s' is for a %s; this is a %s", words[i].word,
				   names[words[i].kind], names[n->kind]);
		else if (!n->kinds[words[i].kind])
			diag_error(load, words[i].node->mark,
				   "'%s' is for a %s; this rate is a %s by default: say algorithm: %s",
				   words[i].word, names[words[i].kind],
				   names[n->kinds[ALGO_TOKEN_BUCKET] ? ALGO_TOKEN_BUCKET : ALGO_FIXED_WINDOW],
				   names[words[i].kind]);
	}
}

void numbers_read(struct load *load, const struct node *node, bool complain, struct model_limit *limit)
{
	struct numbers n = {
		.load = load,
		.limit = limit,
		.rate = yaml_get(node, "rate"),
		.algorithm = yaml_get(node, "algorithm"),
		.burst = yaml_get(node, "burst"),
		.queue = yaml_get(node, "queue"),
		.at_once = yaml_get(node, "at_once"),
		.wait = yaml_get(node, "wait"),
		.align = yaml_get(node, "align"),
		.alignment = -1,
	};

	if (!n.rate) {
		if (complain)
			diag_error(load, limit->mark,
				   "limit '%.*s' has no rate; say how much, like rate: 50/s",
				   SHOW(limit->name));
		return;
	}
	limit->rates = arena_alloc(&load->arena, RATES_MAX * sizeof *limit->rates);
	size_t errors = load->diag.errors;
	if (n.algorithm && !words_value(load, n.algorithm, "algorithm", &n.kind))
		return;
	if (n.align)
		read_align(&n);
	value_each(load, n.rate, "rate", read_rate, &n);
	if (limit->rate_count && load->diag.errors == errors)
		check_words(&n);
}
