/* SPDX-License-Identifier: BSD-2-Clause */
/* who_for: `for: anonymous`, `for: [plan free, plan pro]`. */
#include "policy/load.h"
#include "policy/sections.h"
#include "policy/suggest.h"
#include "policy/value.h"

struct who {
	uint64_t mask;
	struct text text;
};

static bool read_one(struct load *load, const struct node *item, struct text word, uint64_t *bit)
{
	struct suggest suggest = suggest_begin(word);
	uint32_t plan;

	if (text_equal(word, TEXT("anonymous"))) {
		*bit = IMAGE_WHO_ANONYMOUS;
	} else if (text_equal(word, TEXT("identified"))) {
		if (!load->says.api_keys && !load->says.jwt && !load->says.user) {
			diag_error(load, item->mark,
				   "nobody is ever identified: add clients: {api_keys: {}}");
		}
		*bit = IMAGE_WHO_IDENTIFIED;
	} else if (word.size > 5 && memcmp(word.data, "plan ", 5) == 0) {
		if (!plan_read(load, value_trim((struct text){word.data + 5, word.size - 5}), item->mark,
			       &plan))
			return false;
		*bit = IMAGE_WHO_PLAN(plan);
	} else {
		bool is_plan = false;
		for (size_t i = 0; i < load->plan_count; i++)
			is_plan |= text_equal(load->plans[i].name, word);
		suggest_offer(&suggest, TEXT("anonymous"));
		suggest_offer(&suggest, TEXT("identified"));
		if (is_plan)
			diag_error(load, item->mark, "a plan is written plan %.*s", SHOW(word));
		else if (suggest.best.size)
			diag_error(load, item->mark, "'%.*s' is no value of 'for'; did you mean '%.*s'?",
				   SHOW(word), SHOW(suggest.best));
		else
			diag_error(
				load, item->mark,
				"'%.*s' is no value of 'for'; it is one of: anonymous, identified, plan NAME",
				SHOW(word));
		return false;
	}
	return true;
}

static void add(struct load *load, const struct node *item, void *context)
{
	struct who *who = context;
	struct text word;
	uint64_t bit;

	if (!value_line(load, item, "for", &word) || !read_one(load, item, word, &bit))
		return;
	if (who->mask & bit)
		diag_error(load, item->mark, "'%.*s' stands twice in 'for'", SHOW(word));
	who->mask |= bit;
	who->text = arena_format(&load->arena, "%.*s%s%.*s", (int)who->text.size, who->text.data,
				 who->text.size ? " or " : "", (int)word.size, word.data);
}

void who_read(struct load *load, const struct node *node, uint64_t *out, struct text *text)
{
	struct who who = {.text = {"", 0}};

	value_each(load, node, "for", add, &who);
	if ((who.mask & (IMAGE_WHO_ANONYMOUS | IMAGE_WHO_IDENTIFIED)) ==
	    (IMAGE_WHO_ANONYMOUS | IMAGE_WHO_IDENTIFIED))
		diag_warning(load, node->mark, "everybody is anonymous or identified: 'for' has no effect");
	*out = who.mask;
	*text = who.text;
}
