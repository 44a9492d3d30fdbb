/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers: how much a limit lets through, with everything that says how it is counted. */
#include "policy/numbers.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define RATES_MAX      8
#define LOG_LARGE      5000u
#define LOG_SLOT_BYTES 40u /* what a slot takes of a table that is filled as recommended */

static const char *const kind_names[ALGO_KIND_COUNT] = {
#define X(name, word, help) [ALGO_##name] = (word),
	ALGO_KINDS(X)
#undef X
};

static void warn_numbers(struct numbers *n, const struct model_rate *rate)
{
	uint32_t most = model_capacity(&rate->numbers);

	if (numbers_inherited(n, n->rate)) /* said of the base */
		return;
	if (n->limit->cost > most && rate->count > 0)
		diag_warning(n->load, rate->mark, "a cost of %u can never fit: at most %u pass at once",
			     n->limit->cost, most);
	if (rate->numbers.kind == ALGO_SLIDING_LOG && rate->count > LOG_LARGE)
		diag_warning(
			n->load, rate->mark,
			"each key can take %s slots of the table, %s KB; algorithm: sliding-window takes "
			"one",
			value_grouped(n->load, rate->count + 1),
			value_grouped(n->load, (rate->count + 1) * LOG_SLOT_BYTES / 1000));
}

static void read_rate(struct load *load, const struct node *item, void *context)
{
	struct numbers *n = context;
	struct model_mark mark = numbers_inherited(n, n->rate) ? n->limit->mark : item->mark;
	struct model_limit *limit = n->limit;
	struct text text;
	struct rate rate;
	char why[320];

	if (!value_line(load, item, "rate", &text))
		return;
	bool distinct = distinct_read(n, item, &text);
	if (!rate_parse(&load->arena, text, &rate, why, sizeof why)) {
		diag_error(load, mark, "%s", why);
		return;
	}
	for (size_t i = 0; i < limit->rate_count; i++)
		if (text_equal(limit->rates[i].unit, rate.name)) {
			diag_error(load, mark, "two rates per %.*s; the smaller one is enough",
				   SHOW(rate.name));
			return;
		}
	if (limit->rate_count == RATES_MAX) {
		diag_error(load, mark, "a limit has at most %d rates", RATES_MAX);
		return;
	}
	enum algo_kind kind = n->kind			     ? (enum algo_kind)n->kind
			      : rate.period_ns < RATE_NS_DAY ? ALGO_TOKEN_BUCKET
							     : ALGO_FIXED_WINDOW;
	struct model_rate *out = &limit->rates[limit->rate_count];
	*out = (struct model_rate){
		.mark = mark, .count = rate.count, .period_ns = rate.period_ns, .unit = rate.name};
	n->kinds[kind] = true;
	if (numbers_build(n, &rate, kind, mark, out) && (!distinct || distinct_build(n, &rate, mark, out))) {
		limit->rate_count++;
		warn_numbers(n, out);
	}
}

/* Words that need another algorithm than there is. Those of a queue are concurrent's where that is. */
static void check_words(struct numbers *n)
{
	struct load *load = n->load;
	bool several = n->rate->kind == NODE_LIST && n->rate->count > 1;
	const struct {
		const struct node *node;
		const char *word;
		enum algo_kind kind, also;
	} words[] = {
		{n->burst, "burst", ALGO_TOKEN_BUCKET, ALGO_NONE},
		{n->concurrent ? NULL : n->queue, "queue", ALGO_LEAKY_BUCKET, ALGO_LIMIT_REQ},
		{n->at_once, "at_once", ALGO_LEAKY_BUCKET, ALGO_LIMIT_REQ},
		{n->concurrent ? NULL : n->wait, "wait", ALGO_LEAKY_BUCKET, ALGO_NONE},
		{n->align, "align", ALGO_FIXED_WINDOW, ALGO_NONE},
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!words[i].node || numbers_inherited(n, words[i].node))
			continue;
		if (several && words[i].kind != ALGO_FIXED_WINDOW)
			diag_error(load, words[i].node->mark,
				   "'%s' goes with a single rate; make two limits of these rates",
				   words[i].word);
		else if (n->kinds[words[i].kind] || n->kinds[words[i].also])
			continue;
		else if (n->kind == ALGO_LIMIT_REQ && words[i].node == n->burst)
			diag_error(load, words[i].node->mark,
				   "'burst' is for a token-bucket; what nginx calls burst is 'queue'");
		else if (n->kind == ALGO_LIMIT_REQ)
			diag_error(load, words[i].node->mark, "'%s' is for a %s; this is algorithm: nginx",
				   words[i].word, kind_names[words[i].kind]);
		else if (n->kind)
			diag_error(load, words[i].node->mark, "'%s' is for a %s; this is a %s", words[i].word,
				   kind_names[words[i].kind], kind_names[n->kind]);
		else
			diag_error(load, words[i].node->mark,
				   "'%s' is for a %s; this rate is a %s by default: say algorithm: %s",
				   words[i].word, kind_names[words[i].kind],
				   kind_names[n->kinds[ALGO_TOKEN_BUCKET] ? ALGO_TOKEN_BUCKET
									  : ALGO_FIXED_WINDOW],
				   kind_names[words[i].kind]);
	}
}

/* Words that need a rate, where there is none. */
static void check_rateless(struct numbers *n, const struct node *node)
{
	static const char *const words[] = {"algorithm", "burst", "at_once", "align",	    "cost",
					    "over",	 "count", "failure", "count_denied"};
	const struct node *word;

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if ((word = yaml_get(node, words[i])))
			diag_error(n->load, word->mark, "'%s' is for a rate, and this limit has none",
				   words[i]);
	if (n->concurrent || n->base)
		return;
	if (n->queue)
		diag_error(n->load, n->queue->mark, "'queue' is for a leaky-bucket, or for 'concurrent'");
	if (n->wait)
		diag_error(n->load, n->wait->mark, "'wait' is for a leaky-bucket, or for 'concurrent'");
	if (!n->total && (word = yaml_get(node, "on_full")))
		diag_error(n->load, word->mark,
			   "'on_full' is for what is counted; 'bandwidth' keeps nothing in the table");
}

/* What the base says for a single rate does not hold for several. */
static void drop_singles(struct numbers *n)
{
	const struct node **singles[] = {&n->burst, &n->at_once, n->concurrent ? NULL : &n->queue,
					 n->concurrent ? NULL : &n->wait};

	if (n->rate->kind != NODE_LIST || n->rate->count < 2)
		return;
	for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
		if (singles[i] && numbers_inherited(n, *singles[i]))
			*singles[i] = NULL;
}

static void read_rates(struct numbers *n)
{
	struct load *load = n->load;
	size_t errors = load->diag.errors;

	if (n->algorithm && !words_value(load, n->algorithm, "algorithm", &n->kind))
		return;
	if (n->align)
		numbers_align_read(n);
	drop_singles(n);
	value_each(load, n->rate, "rate", read_rate, n);
	if (n->limit->rate_count && load->diag.errors == errors)
		check_words(n);
}

static const struct node *word_of(const struct node *node, const struct node *base, const char *word)
{
	const struct node *said = yaml_get(node, word);

	return said || !base ? said : yaml_get(base, word);
}

void numbers_read(struct load *load, const struct node *node, const struct node *base, bool complain,
		  struct model_limit *limit)
{
	struct numbers n = {
		.load = load,
		.limit = limit,
		.base = base,
		.rate = word_of(node, base, "rate"),
		.algorithm = word_of(node, base, "algorithm"),
		.burst = word_of(node, base, "burst"),
		.queue = word_of(node, base, "queue"),
		.at_once = word_of(node, base, "at_once"),
		.wait = word_of(node, base, "wait"),
		.align = word_of(node, base, "align"),
		.concurrent = word_of(node, base, "concurrent"),
		.bandwidth = word_of(node, base, "bandwidth"),
		.total = word_of(node, base, "total"),
		.words_known = complain,
		.alignment = -1,
	};

	if (!n.rate && !n.concurrent && !n.bandwidth && !n.total) {
		if (complain)
			diag_error(load, limit->mark,
				   "limit '%.*s' has no rate; say how much, like rate: 50/s",
				   SHOW(limit->name));
		return;
	}
	limit->rates = arena_alloc(&load->arena, (RATES_MAX + 5) * sizeof *limit->rates);
	if (n.rate)
		read_rates(&n);
	else
		check_rateless(&n, node);
	if (n.concurrent)
		numbers_concurrent_read(&n);
	if (n.bandwidth || n.total)
		numbers_pace_read(&n);
	if (n.concurrent && cost_matters(limit) && !numbers_inherited(&n, n.concurrent))
		diag_error(load, n.concurrent->mark,
			   "a request takes one place in flight, whatever it costs; make two limits of "
			   "'concurrent' and of the rate");
}
