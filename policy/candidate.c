/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * candidate: other numbers beside those in force.
 *
 * A limit of its own right behind its limit, for the same requests under the same key, in a shadow unless said: what it would
 * have refused is known before it is promoted. Its name cannot be written as that of a limit.
 */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

#define ENDING "/candidate"

static struct text name_of(struct load *load, struct text base)
{
	return base.size ? arena_format(&load->arena, "%.*s" ENDING, (int)base.size, base.data) : base;
}

/* Speeds act on everybody, so there is nothing to compare; places in flight only if the candidate says them. */
static void keep_counted(struct model_limit *limit, bool flight)
{
	size_t kept = 0;

	for (size_t i = 0; i < limit->rate_count; i++)
		if (limit->rates[i].what == IMAGE_RATE ||
		    (limit->rates[i].what == IMAGE_CONCURRENT && flight))
			limit->rates[kept++] = limit->rates[i];
	limit->rate_count = kept;
}

/* What follows from a refusal follows from those of the limit itself. */
static void begin(struct load *load, const struct model_limit *base, const struct node *node,
		  struct model_limit *out)
{
	*out = *base;
	out->mark = node->mark;
	out->name = name_of(load, base->name);
	out->was = name_of(load, base->was);
	out->rates = NULL;
	out->rate_count = 0;
	out->variants = NULL;
	out->variant_count = 0;
	out->plan_in_key = false;
	memset(&out->then, 0, sizeof out->then);
	memset(out->notify, 0, sizeof out->notify);
	out->over_allow = 0;
	out->over = false;
	out->mode = IMAGE_SHADOW;
	out->percent = 100;
}

bool candidate_read(struct load *load, const struct node *node, const struct node *section,
		    const struct model_limit *base, struct model_limit *out)
{
	struct pair bare = {.key = {.kind = NODE_SCALAR, .mark = node->mark, .text = TEXT("rate")},
			    .value = *node};
	struct node numbers = {.kind = NODE_MAP, .mark = node->mark, .pairs = &bare, .count = 1};
	struct text where = arena_format(&load->arena, "'candidate' of limit '%.*s'", SHOW(base->name));
	size_t errors = load->diag.errors;
	const struct node *mode;

	if (node->kind == NODE_MAP) {
		if (!words_check(load, node, SECTION_CANDIDATE, where.data))
			return false;
		numbers = *node;
	}
	begin(load, base, node, out);
	mode = yaml_get(&numbers, "mode");
	if (mode)
		mode_read(load, mode, &out->mode, &out->percent);
	if (load->diag.errors != errors)
		return false;
	if (numbers.count == (mode ? 1u : 0u) || node->kind == NODE_EMPTY) {
		diag_error(load, node->mark, "%s has no number of its own; say how much, like rate: 50/s",
			   where.data);
		return false;
	}
	if (mode && out->mode == IMAGE_DISABLED) {
		diag_error(load, mode->mark,
			   "a candidate is enforced in part, or in a shadow; leave it out instead");
		return false;
	}
	numbers_read(load, &numbers, section, true, out);
	keep_counted(out, yaml_get(&numbers, "concurrent") != NULL);
	if (out->count != IMAGE_COUNT_ALL)
		failures_check(load, node, out);
	cost_check(load, out);
	if (base->mode == IMAGE_DISABLED)
		out->mode = IMAGE_DISABLED;
	return load->diag.errors == errors && out->rate_count > 0;
}
