/* SPDX-License-Identifier: BSD-2-Clause */
/* distinct: `10 distinct body.username/hour`, a rate of different values. */
#include "policy/numbers.h"
#include "policy/sections.h"
#include "policy/value.h"

/* The last "/UNIT" or "per UNIT": a key may have slashes of its own. */
static const char *period_of(struct text text)
{
	for (size_t i = text.size; i-- > 0;)
		if (text.data[i] == '/' ||
		    (text.data[i] == ' ' && text.size - i > 5 && memcmp(text.data + i, " per ", 5) == 0))
			return text.data + i;
	return NULL;
}

/* "10", what is counted, and "/hour"; false: it is no such rate. */
static bool split(struct text text, struct text *count, struct text *word, struct text *period)
{
	size_t at = 0;
	const char *end;

	while (at < text.size && ((text.data[at] >= '0' && text.data[at] <= '9') || text.data[at] == '.'))
		at++;
	*count = (struct text){text.data, at};
	*word = value_trim((struct text){text.data + at, text.size - at});
	if (at == 0 || word->size < 8 || memcmp(word->data, "distinct", 8) != 0 ||
	    (word->size > 8 && word->data[8] != ' ' && word->data[8] != '/'))
		return false;
	*word = (struct text){word->data + 8, word->size - 8};
	end = period_of(*word);
	*period = end ? (struct text){end, word->size - (size_t)(end - word->data)} : (struct text){"", 0};
	word->size -= period->size;
	*word = value_trim(*word);
	return true;
}

static void remember(struct numbers *n, const struct node *item, struct text word)
{
	struct model_limit *limit = n->limit;
	struct model_mark mark = yaml_mark_part(item, word);
	struct image_key_part part;
	struct text name;

	if (!word.size) {
		diag_error(n->load, item->mark,
			   "'%.*s' does not say of what; write it like 10 distinct body.username/hour",
			   SHOW(item->text));
		return;
	}
	if (!key_word_read(n->load, word, mark, &part, &name))
		return;
	if (n->base && limit->distinct.kind == IMAGE_KEY_SITE)
		diag_error(n->load, item->mark,
			   "the limit counts requests, and other numbers of it do too; make another limit of "
			   "this");
	else if (part.kind == IMAGE_KEY_SITE || part.kind == IMAGE_KEY_ROUTE)
		diag_error(n->load, mark, "'%.*s' has no values that could be counted", SHOW(word));
	else if (limit->distinct.kind != IMAGE_KEY_SITE &&
		 (limit->distinct.kind != part.kind || !text_equal(limit->distinct_name, name) ||
		  limit->distinct.bits4 != part.bits4 || limit->distinct.bits6 != part.bits6))
		diag_error(n->load, mark,
			   "a limit counts different values of one thing; make two limits of these rates");
	limit->distinct = part;
	limit->distinct_name = name;
}

bool distinct_read(struct numbers *n, const struct node *item, struct text *text)
{
	struct text count, word, period;

	if (!split(*text, &count, &word, &period)) /* other numbers of a limit count what it does */
		return n->base && n->limit->distinct.kind != IMAGE_KEY_SITE;
	remember(n, item, word);
	*text = arena_format(&n->load->arena, "%.*s%.*s", (int)count.size, count.data, (int)period.size,
			     period.data);
	return true;
}

bool distinct_build(struct numbers *n, const struct rate *rate, struct model_mark mark,
		    struct model_rate *out)
{
	const struct algo_numbers *numbers = &out->numbers;
	bool window = numbers->kind == ALGO_FIXED_WINDOW;

	if (numbers->kind == ALGO_LEAKY_BUCKET || numbers->kind == ALGO_LIMIT_REQ)
		diag_error(n->load, mark,
			   "different values cannot wait in a queue; with 'distinct' use algorithm: "
			   "token-bucket");
	else if (out->by_day)
		diag_error(n->load, mark,
			   "'distinct' does not go with a billing day; say align: calendar UTC");
	else if (rate->period_ns > 400 * RATE_NS_DAY)
		diag_error(n->load, mark, "a value is remembered for at most 400 days");
	/* a value is new again when the rate's own window is; elsewhere, a period after it was */
	else if (window && numbers->align >= ALGO_CALENDAR_DAY)
		return algo_calendar_window(1, rate->period_ns, (enum algo_align)numbers->align,
					    numbers->zone, &out->seen);
	else
		return algo_fixed_window(1, rate->period_ns,
					 window ? (enum algo_align)numbers->align : ALGO_FIRST_REQUEST,
					 &out->seen);
	return false;
}

void distinct_check(struct load *load, const struct model_limit *limit)
{
	bool distinct = limit->distinct.kind != IMAGE_KEY_SITE;

	for (size_t i = 0; distinct && i < limit->rate_count; i++) {
		const struct model_rate *rate = &limit->rates[i];

		if (rate->what != IMAGE_RATE)
			continue;
		if (rate->seen.kind == ALGO_NONE)
			diag_error(load, rate->mark,
				   "one rate of this limit counts different values and this one requests; "
				   "make two "
				   "limits of them");
		else if (cost_matters(limit))
			diag_error(load, limit->costs.mark,
				   "each different value counts one; leave 'cost' out, or make two limits");
		else if (limit->count != IMAGE_COUNT_ALL)
			diag_error(
				load, rate->mark,
				"'distinct' counts values when they are asked for, and 'count: %s' answers; "
				"leave one of them out",
				limit->count == IMAGE_COUNT_FAILURES ? "failures" : "successes");
		else
			continue;
		return;
	}
}
