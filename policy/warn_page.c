/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warn_page: limits that break the pages they are meant to protect.
 *
 * A browser asks for about 30 files of a page at once, over up to six connections. A limit per client that covers
 * pages (no method but GET in its match, every path) and cannot take 30 at once breaks them. If only failures
 * count, the six in flight must fit, since nobody knows yet what they will be. A limit whose match names headers,
 * addresses or exceptions, or whose key has a path in it, is not judged.
 */
#include "policy/warn.h"

#define PAGE_FILES     30u
#define PAGE_IN_FLIGHT 6u

static bool covers_pages(const struct model_limit *limit)
{
	const uint32_t get = IMAGE_METHOD_BIT(GET) | IMAGE_METHOD_BIT(HEAD);
	for (size_t i = 0; i < limit->clause_count; i++) {
		const struct model_clause *clause = &limit->clauses[i];
		bool plain = !clause->header_count && !clause->network_count && !clause->not_count;
		if (plain && warn_every_path(clause->path) &&
		    (clause->methods == IMAGE_METHOD_ANY || clause->methods == get))
			return true;
	}
	return limit->clause_count == 0;
}

static bool per_client(const struct model_limit *limit)
{
	bool client = false;
	for (size_t i = 0; i < limit->key_count; i++) {
		if (limit->key[i].kind == IMAGE_KEY_PATH)
			return false;
		client |= limit->key[i].kind != IMAGE_KEY_SITE && limit->key[i].kind != IMAGE_KEY_HOST &&
			  limit->key[i].kind != IMAGE_KEY_METHOD && limit->key[i].kind != IMAGE_KEY_ROUTE;
	}
	return client;
}

/* True after a warning: one is enough. */
static bool judge_rate(struct load *load, const struct model_limit *limit, const struct model_rate *rate)
{
	bool failures = limit->count == IMAGE_COUNT_FAILURES;
	uint32_t fit = model_capacity(&rate->numbers) / limit->cost;
	const char *more = limit->cost > 1			     ? "lower the cost"
			   : rate->numbers.kind == ALGO_TOKEN_BUCKET ? "say burst: 100"
			   : rate->numbers.kind == ALGO_LEAKY_BUCKET || rate->numbers.kind == ALGO_LIMIT_REQ
				   ? "make the queue longer"
				   : "take a larger number";

	if (rate->count == 0 || fit >= (failures ? PAGE_IN_FLIGHT : PAGE_FILES))
		return false;
	if (failures)
		diag_warning(
			load, rate->mark,
			"a page would not load whole: a browser asks for %u files at once, and each counts "
			"until it is answered (only %u fit): %s, or narrow the match",
			PAGE_IN_FLIGHT, fit, more);
	else
		diag_warning(load, rate->mark,
			     "a page with %u files would not load whole (only %u at once): %s, or narrow the "
			     "match",
			     PAGE_FILES, fit, more);
	return true;
}

/* Only where it is surely wrong: with one or two places, and no room to wait, some of six connections are refused. */
static bool judge_concurrent(struct load *load, const struct model_rate *rate)
{
	if (rate->count == 0 || rate->count > 2 || rate->count + rate->queue >= PAGE_IN_FLIGHT)
		return false;
	diag_warning(load, rate->mark,
		     "a page would not load whole: a browser asks for %u files at once (only %u at the same "
		     "time): say queue: 30, or narrow the match",
		     PAGE_IN_FLIGHT, rate->count);
	return true;
}

/* True after a warning. */
static bool judge(struct load *load, const struct model_limit *limit, const struct model_rate *rates,
		  size_t count)
{
	bool warned = false;

	for (size_t i = 0; i < count && !warned; i++)
		if (rates[i].what == IMAGE_RATE)
			warned = judge_rate(load, limit, &rates[i]);
		else if (rates[i].what == IMAGE_CONCURRENT)
			warned = judge_concurrent(load, &rates[i]);
	return warned;
}

void warn_page(struct load *load, const struct model_limit *limit)
{
	if (!covers_pages(limit) || !per_client(limit) || judge(load, limit, limit->rates, limit->rate_count))
		return;
	for (size_t i = 0; i < limit->variant_count; i++)
		if (limit->variants[i].how == IMAGE_VARIANT_NUMBERS &&
		    judge(load, limit, limit->variants[i].rates, limit->variants[i].rate_count))
			return;
}
