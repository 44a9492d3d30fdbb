/* SPDX-License-Identifier: BSD-2-Clause */
/* plans: who they are, what each says of which limit, and whom it is like. Their numbers are in variants.c. */
#include <stdint.h>
#include <stdlib.h>

#include "policy/load.h"
#include "policy/sections.h"
#include "policy/suggest.h"
#include "policy/value.h"
#include "policy/words.h"

static int compare(struct text a, struct text b)
{
	return image_order(a, b);
}

static int by_name(const void *left, const void *right)
{
	const struct pair *const *a = left, *const *b = right;

	return compare((*a)->key.text, (*b)->key.text);
}

static void read_says(struct load *load, struct named_plan *plan, const struct node *value)
{
	if (value->kind == NODE_SCALAR && text_equal(value_trim(value->text), TEXT("unlimited"))) {
		plan->unlimited = true;
	} else if (value->kind == NODE_MAP) {
		plan->says = arena_alloc(&load->arena, (value->count + 1) * sizeof(const struct pair *));
		for (size_t i = 0; i < value->count; i++)
			if (!text_equal(value->pairs[i].key.text, TEXT("like")))
				plan->says[plan->count++] = &value->pairs[i];
		qsort(plan->says, plan->count, sizeof(const struct pair *), by_name);
	} else if (value->kind != NODE_EMPTY && value->kind != NODE_BROKEN) {
		diag_error(load, value->mark,
			   "plan '%.*s' says numbers by limit, like {per-ip: 100/min}, or is unlimited",
			   SHOW(plan->name));
	}
}

bool plan_read(struct load *load, struct text name, struct model_mark mark, uint32_t *out)
{
	struct suggest suggest = suggest_begin(name);

	for (size_t i = 0; i < load->plan_count; i++) {
		if (text_equal(load->plans[i].name, name))
			return *out = (uint32_t)i, true;
		suggest_offer(&suggest, load->plans[i].name);
	}
	if (suggest.best.size)
		diag_error(load, mark, "unknown plan '%.*s'; did you mean '%.*s'?", SHOW(name),
			   SHOW(suggest.best));
	else
		diag_error(load, mark, "unknown plan '%.*s'; it is not among 'plans'", SHOW(name));
	return false;
}

/* Follows `like` from each plan; who comes back to himself stops there. */
static void check_circles(struct load *load, const struct node *node)
{
	for (size_t i = 0; i < load->plan_count; i++) {
		struct text way = load->plans[i].name;
		size_t at = load->plans[i].like;
		for (size_t steps = 0; at != SIZE_MAX && steps < load->plan_count; steps++) {
			way = arena_format(&load->arena, "%.*s is like %.*s", (int)way.size, way.data,
					   SHOW(load->plans[at].name));
			if (at == i)
				break;
			at = load->plans[at].like;
		}
		if (at != i)
			continue;
		diag_error(load, yaml_get(&node->pairs[i].value, "like")->mark,
			   "a plan that is like itself: %.*s", (int)(way.size < 200 ? way.size : 200),
			   way.data);
		load->plans[i].like = SIZE_MAX;
	}
}

void plans_read(struct load *load, const struct node *node)
{
	size_t count = node && node->kind == NODE_MAP ? node->count : 0;

	if (node && (node->kind == NODE_SCALAR || node->kind == NODE_LIST))
		diag_error(load, node->mark, "plans have names: write NAME: {LIMIT: 100/min}");
	if (count > IMAGE_PLANS_MAX) {
		diag_error(load, node->pairs[IMAGE_PLANS_MAX].key.mark, "there are at most %u plans",
			   IMAGE_PLANS_MAX);
		count = IMAGE_PLANS_MAX;
	}
	load->plans = arena_alloc(&load->arena, (count + 1) * sizeof *load->plans);
	load->model.plans = arena_alloc(&load->arena, (count + 1) * sizeof *load->model.plans);
	for (size_t i = 0; i < count; i++) {
		struct named_plan *plan = &load->plans[load->plan_count];
		*plan = (struct named_plan){
			.name = node->pairs[i].key.text, .mark = node->pairs[i].key.mark, .like = SIZE_MAX};
		value_name(load, plan->name, plan->mark, "a plan");
		read_says(load, plan, &node->pairs[i].value);
		load->model.plans[load->plan_count++] = plan->name;
	}
	load->model.plan_count = load->plan_count;
	for (size_t i = 0; i < count; i++) {
		const struct node *value = &node->pairs[i].value;
		const struct node *like = value->kind == NODE_MAP ? yaml_get(value, "like") : NULL;
		struct text name;
		uint32_t other;
		if (like && value_line(load, like, "like", &name) &&
		    plan_read(load, name, like->mark, &other))
			load->plans[i].like = other;
	}
	check_circles(load, node);
}

const struct node *plan_says(const struct load *load, size_t plan, struct text limit, bool *unlimited)
{
	*unlimited = false;
	for (; plan != SIZE_MAX; plan = load->plans[plan].like) {
		const struct named_plan *at = &load->plans[plan];
		size_t low = 0, high = at->count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;
			int order = compare(at->says[middle]->key.text, limit);

			if (order == 0)
				return &at->says[middle]->value;
			if (order < 0)
				low = middle + 1;
			else
				high = middle;
		}
		*unlimited = at->unlimited;
		if (at->unlimited)
			return NULL;
	}
	return NULL;
}

static int by_text(const void *left, const void *right)
{
	const struct text *a = left, *b = right;

	return compare(*a, *b);
}

void plans_check(struct load *load)
{
	const struct model *model = &load->model;
	struct text *names = arena_alloc(&load->arena, (model->limit_count + 1) * sizeof *names);

	for (size_t i = 0; i < model->limit_count; i++)
		names[i] = model->limits[i].name;
	qsort(names, model->limit_count, sizeof *names, by_text);
	for (size_t i = 0; i < load->plan_count; i++) {
		const struct named_plan *plan = &load->plans[i];
		for (size_t k = 0; k < plan->count; k++) {
			struct text name = plan->says[k]->key.text;
			struct suggest suggest = suggest_begin(name);
			if (bsearch(&name, names, model->limit_count, sizeof *names, by_text))
				continue;
			/* beyond what is shown a suggestion is not worth its time */
			for (size_t n = 0;
			     load->diag.errors < 2 * POLICY_FINDINGS_MAX && n < model->limit_count; n++)
				suggest_offer(&suggest, names[n]);
			if (suggest.best.size)
				diag_error(load, plan->says[k]->key.mark,
					   "unknown limit '%.*s' in plan '%.*s'; did you mean '%.*s'?",
					   SHOW(name), SHOW(plan->name), SHOW(suggest.best));
			else
				diag_error(load, plan->says[k]->key.mark,
					   "unknown limit '%.*s' in plan '%.*s'; it is not among 'limits'",
					   SHOW(name), SHOW(plan->name));
		}
	}
}
