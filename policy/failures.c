/* SPDX-License-Identifier: BSD-2-Clause */
/* failures: which answers a limit counts. */
#include <stdlib.h>

#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

struct statuses {
	struct image_statuses *list;
	size_t count, capacity;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Three digits from *at on. */
static bool read_status(struct text text, size_t at, uint16_t *status)
{
	if (at + 3 > text.size || !digit(text.data[at]) || !digit(text.data[at + 1]) ||
	    !digit(text.data[at + 2]))
		return false;
	*status = (uint16_t)((text.data[at] - '0') * 100 + (text.data[at + 1] - '0') * 10 +
			     text.data[at + 2] - '0');
	return true;
}

/* 401, 400-499, 4xx */
static bool read_range(struct text text, struct image_statuses *out)
{
	if (text.size == 3 && text_lower(text.data[1]) == 'x' && text_lower(text.data[2]) == 'x' &&
	    digit(text.data[0])) {
		out->from = (uint16_t)((text.data[0] - '0') * 100);
		out->to = (uint16_t)(out->from + 99);
	} else if (text.size == 3 && read_status(text, 0, &out->from)) {
		out->to = out->from;
	} else if (text.size < 7 || !read_status(text, 0, &out->from) ||
		   !read_status(text, text.size - 3, &out->to) ||
		   !text_equal(value_trim((struct text){text.data + 3, text.size - 6}), TEXT("-"))) {
		return false;
	}
	return out->from >= 100 && out->to <= 599;
}

static void read_item(struct load *load, const struct node *item, void *context)
{
	struct statuses *statuses = context;
	struct image_statuses range;
	struct text text;

	if (!value_line(load, item, "failure", &text))
		return;
	if (!read_range(text, &range)) {
		diag_error(load, item->mark,
			   "'%.*s' is no status; write 401, 400-499 or 4xx, from 100 to 599", SHOW(text));
		return;
	}
	if (range.from > range.to) {
		diag_error(load, item->mark, "'%.*s' ends before it begins; write %u-%u", SHOW(text),
			   range.to, range.from);
		return;
	}
	statuses->list = arena_grow(&load->arena, statuses->list, statuses->count, &statuses->capacity,
				    sizeof *statuses->list);
	statuses->list[statuses->count++] = range;
}

static int by_status(const void *left, const void *right)
{
	const struct image_statuses *a = left, *b = right;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Sorts; joins what overlaps or touches. */
static size_t merge(struct image_statuses *list, size_t count)
{
	size_t kept = 0;

	if (count > 1)
		qsort(list, count, sizeof *list, by_status);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && list[i].from <= list[kept - 1].to + 1) {
			if (list[i].to > list[kept - 1].to)
				list[kept - 1].to = list[i].to;
		} else {
			list[kept++] = list[i];
		}
	}
	return kept;
}

static const char *word_of(uint32_t count)
{
	return count == IMAGE_COUNT_FAILURES ? "failures" : "successes";
}

static bool has_rate(const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->rate_count; i++)
		if (limit->rates[i].what == IMAGE_RATE)
			return true;
	return false;
}

/* What cannot be counted by its answer. */
void failures_check(struct load *load, const struct node *count, const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->rate_count; i++)
		if (limit->rates[i].numbers.kind == ALGO_LEAKY_BUCKET ||
		    limit->rates[i].numbers.kind == ALGO_LIMIT_REQ)
			diag_error(
				load, count->mark,
				"a queue cannot know the answers of those who wait in it; with 'count: %s' "
				"use algorithm: token-bucket",
				word_of(limit->count));
	if (limit->count_denied)
		diag_error(load, count->mark,
			   "'count_denied' charges refusals, which have no answer, and 'count: %s' charges "
			   "answers; leave one of them out",
			   word_of(limit->count));
}

void failures_read(struct load *load, const struct node *count, const struct node *failure,
		   struct model_limit *limit)
{
	static const struct image_statuses usual = {400, 499};
	struct statuses statuses = {0};
	size_t errors = load->diag.errors;
	int number = IMAGE_COUNT_ALL;

	if (count && words_value(load, count, "count", &number))
		limit->count = (uint32_t)number;
	if (failure)
		value_each(load, failure, "failure", read_item, &statuses);
	if (load->diag.errors != errors || !has_rate(limit)) { /* without a rate: that was said already */
		limit->count = IMAGE_COUNT_ALL;
		return;
	}
	if (!count || limit->count == IMAGE_COUNT_ALL) {
		if (failure)
			diag_error(load, failure->mark,
				   "'failure' says what 'count: failures' counts; say that too, or leave it "
				   "out");
		return;
	}
	failures_check(load, count, limit);
	if (statuses.count == 0) {
		statuses.list = arena_alloc(&load->arena, sizeof usual);
		statuses.list[statuses.count++] = usual;
	}
	limit->failures = statuses.list;
	limit->failure_count = merge(statuses.list, statuses.count);
}
