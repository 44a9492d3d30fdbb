/* SPDX-License-Identifier: BSD-2-Clause */
/* variants: what each plan makes of a limit. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

/* Can clients of several plans have this key? An API key, its owner, a token's claim and a session are one client's. */
static bool shared_by_plans(const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->key_count; i++) {
		uint32_t kind = limit->key[i].kind;

		if (kind == IMAGE_KEY_USER || kind == IMAGE_KEY_JWT || kind == IMAGE_KEY_SESSION ||
		    (kind == IMAGE_KEY_API_KEY && !text_equal(limit->key_names[i], TEXT("tenant"))))
			return false;
	}
	return true;
}

/* A plan that is unlimited as a whole: rates go, the others stay. False: the limit holds as it is. */
static bool lift(struct load *load, const struct model_limit *limit, struct model_variant *out)
{
	bool rates = false;

	if (limit->count == IMAGE_COUNT_FAILURES)
		return false;
	out->rates = arena_alloc(&load->arena, (limit->rate_count + 1) * sizeof *out->rates);
	for (size_t i = 0; i < limit->rate_count; i++) {
		uint32_t what = limit->rates[i].what;

		rates |= what == IMAGE_RATE;
		if (what == IMAGE_CONCURRENT || what == IMAGE_BANDWIDTH || what == IMAGE_TOTAL)
			out->rates[out->rate_count++] = limit->rates[i];
	}
	out->how = out->rate_count ? IMAGE_VARIANT_NUMBERS : IMAGE_VARIANT_UNLIMITED;
	return rates;
}

/* Numbers of a plan's own. False after a finding. */
static bool read_numbers(struct load *load, const struct node *value, const struct node *section,
			 const struct model_limit *limit, struct model_variant *out)
{
	struct pair bare = {.key = {.kind = NODE_SCALAR, .mark = value->mark, .text = TEXT("rate")},
			    .value = *value};
	struct node numbers = {.kind = NODE_MAP, .mark = value->mark, .pairs = &bare, .count = 1};
	struct model_limit scratch = *limit;
	size_t errors = load->diag.errors;

	if (value->kind == NODE_MAP) {
		struct text where = arena_format(&load->arena, "limit '%.*s' of a plan", SHOW(limit->name));
		if (!words_check(load, value, SECTION_NUMBERS, where.data) || load->diag.errors != errors)
			return false;
		numbers = *value;
	}
	scratch.mark = value->mark;
	scratch.rates = NULL;
	scratch.rate_count = 0;
	scratch.costs.mark = value->mark; /* what does not go with these numbers is said here */
	numbers_read(load, &numbers, section, true, &scratch);
	if (load->diag.errors == errors) {
		if (scratch.count != IMAGE_COUNT_ALL)
			failures_check(load, value, &scratch);
		cost_check(load, &scratch);
		distinct_check(load, &scratch);
	}
	out->rates = scratch.rates;
	out->rate_count = scratch.rate_count;
	return load->diag.errors == errors && scratch.rate_count > 0;
}

/* A client that changes plan brings what it has used, and a log's admissions cannot be made into anything else, nor
 * anything else into admissions (ledger.h): all rates are logs then, or none is. */
static void check_logs(struct load *load, const struct model_limit *limit)
{
	int log = -1;

	for (size_t set = 0; set <= limit->variant_count; set++) {
		const struct model_variant *variant = set ? &limit->variants[set - 1] : NULL;
		const struct model_rate *rates = variant ? variant->rates : limit->rates;
		size_t count = variant ? variant->rate_count : limit->rate_count;

		for (size_t i = 0; i < count; i++) {
			int is = rates[i].numbers.kind == ALGO_SLIDING_LOG;

			if (rates[i].what != IMAGE_RATE)
				continue;
			if (log < 0)
				log = is;
			if (log == is)
				continue;
			diag_error(load, rates[i].mark,
				   "a client that changes plan would lose what it has used: either all "
				   "numbers of "
				   "limit '%.*s' are a sliding-log, or none",
				   SHOW(limit->name));
			return;
		}
	}
}

static bool read_variant(struct load *load, const struct node *value, const struct node *section,
			 const struct model_limit *limit, struct model_variant *out)
{
	struct text text = value->kind == NODE_SCALAR ? value_trim(value->text) : (struct text){"", 0};

	out->mark = value->mark;
	if (text_equal(text, TEXT("unlimited")))
		out->how = IMAGE_VARIANT_UNLIMITED;
	else if (text_equal(text, TEXT("never")))
		out->how = IMAGE_VARIANT_NEVER;
	else if (value->kind == NODE_EMPTY)
		diag_error(load, value->mark,
			   "nothing is said of limit '%.*s'; say how much, or unlimited, or never",
			   SHOW(limit->name));
	else if (value->kind != NODE_BROKEN)
		return read_numbers(load, value, section, limit, out);
	return out->how != IMAGE_VARIANT_NUMBERS;
}

void variants_spare(struct load *load, const struct model_limit *base, struct model_limit *out)
{
	out->variants = arena_alloc(&load->arena, (base->variant_count + 1) * sizeof *out->variants);
	for (size_t i = 0; i < base->variant_count; i++)
		out->variants[i] = (struct model_variant){.mark = base->variants[i].mark,
							  .plan = base->variants[i].plan,
							  .how = IMAGE_VARIANT_UNLIMITED};
	if (load->plan_count > 0 && base->variant_count == load->plan_count)
		diag_warning(
			load, out->mark,
			"every plan has numbers of its own for '%.*s', and a candidate stands beside those "
			"of the limit: it judges only who has no plan; to try a plan's number, try the "
			"plan on some of its keys (weir keys set NAME --plan)",
			SHOW(base->name));
	out->variant_count = base->variant_count;
	out->plan_in_key = base->plan_in_key;
}

void variants_read(struct load *load, const struct node *section, struct model_limit *limit)
{
	struct read {
		const struct node *value;
		struct model_variant out;
		bool good;
	} *reads = arena_alloc(&load->arena, (load->plan_count + 1) * sizeof *reads), *last = reads;

	limit->variants = arena_alloc(&load->arena, (load->plan_count + 1) * sizeof *limit->variants);
	for (size_t plan = 0; plan < load->plan_count; plan++) {
		bool unlimited;
		const struct node *value = plan_says(load, plan, limit->name, &unlimited);
		struct read *read = reads;

		if (!value && !unlimited)
			continue;
		/* plans that are alike say the same in the same place: read, and complained about, once */
		while (read < last && read->value != value)
			read++;
		if (read == last) {
			*last++ = (struct read){.value = value, .out = {.mark = limit->mark}};
			read->good = value ? read_variant(load, value, section, limit, &read->out)
					   : lift(load, limit, &read->out);
		}
		if (!read->good)
			continue;
		limit->variants[limit->variant_count] = read->out;
		limit->variants[limit->variant_count++].plan = (uint32_t)plan;
	}
	limit->plan_in_key = limit->variant_count > 0 && shared_by_plans(limit);
	if (limit->variant_count && !limit->plan_in_key)
		check_logs(load, limit);
}
