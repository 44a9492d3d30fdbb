/* SPDX-License-Identifier: BSD-2-Clause */
/* limit: one limit, and the section of all of them. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/sections.h"
#include "policy/value.h"
#include "policy/words.h"

/* CORS preflight is exempt from limits that speak of particular requests or of identities it cannot carry,
 * but not from one that names OPTIONS: it speaks of preflights. */
static bool preflight_exempt(const struct model_limit *limit)
{
	bool methods = false;
	for (size_t i = 0; i < limit->clause_count; i++) {
		bool named = limit->clauses[i].methods != IMAGE_METHOD_ANY;
		if (named && limit->clauses[i].methods & IMAGE_METHOD_BIT(OPTIONS))
			return false;
		methods |= named;
	}
	if (methods)
		return true;
	for (size_t i = 0; i < limit->key_count; i++)
		if (limit->key[i].kind != IMAGE_KEY_IP && limit->key[i].kind != IMAGE_KEY_SITE)
			return true;
	return false;
}

/* What stands behind the numbers, and what a refusal means. */
static void read_rest(struct load *load, const struct node *section, size_t errors, struct model_limit *limit)
{
	const struct node *word;

	if ((word = yaml_get(section, "over")) && load->diag.errors == errors)
		over_check(load, word, limit);
	if ((word = yaml_get(section, "new_keys")) && limit->rates)
		new_keys_read(load, word, limit);
	if (limit->rates)
		usage_read(load, yaml_get(section, "usage"), limit);
	if ((word = yaml_get(section, "then")))
		then_read(load, word, limit);
	if ((word = yaml_get(section, "instead")))
		instead_read(load, word, limit);
}

static void limit_candidate(struct load *load, const struct node *node, const struct node *section,
			    const struct model_limit *base)
{
	struct model *model = &load->model;
	struct model_limit *out = &model->limits[model->limit_count];

	if (!candidate_read(load, node, section, base, out))
		return;
	out->candidate = 1 + (uint32_t)(base - model->limits);
	variants_spare(load, base, out);
	model->limit_count++;
}

void limit_read(struct load *load, const struct node *name, const struct node *value,
		struct model_limit *limit)
{
	struct pair bare = {.key = {.kind = NODE_SCALAR, .mark = value->mark, .text = TEXT("rate")},
			    .value = *value};
	struct node section = {.kind = NODE_MAP, .mark = value->mark, .pairs = &bare, .count = 1};
	const struct node *word;
	size_t errors = load->diag.errors;
	struct text who;
	int number;

	*limit = (struct model_limit){
		.mark = name->mark, .name = name->text, .cost = 1, .percent = 100, .respond = load->respond};
	struct text where = arena_format(&load->arena, "limit '%.*s'", SHOW(name->text));
	if (!value_name(load, name->text, name->mark, "a limit"))
		limit->name = TEXT("limit");
	if (value->kind != NODE_SCALAR) {
		if (value->kind == NODE_EMPTY) {
			diag_error(load, name->mark, "%s has no rate; say how much, like rate: 50/s",
				   where.data);
			return;
		}
		if (!words_check(load, value, SECTION_LIMIT, where.data))
			return;
		section = *value;
	}
	bool words_known = load->diag.errors == errors;
	if ((word = yaml_get(&section, "was")) && value_text(load, word, "was", &limit->was))
		value_name(load, limit->was, word->mark, "a limit");
	if ((word = yaml_get(&section, "paths")) && words_value(load, word, "paths", &number))
		limit->paths_exact = number;
	match_read(load, yaml_get(&section, "match"), limit->paths_exact, &limit->clauses,
		   &limit->clause_count);
	limit->match_text = match_text(load, limit->clauses, limit->clause_count);
	key_read(load, yaml_get(&section, "key"), yaml_get(&section, "missing"), limit);
	cost_read(load, yaml_get(&section, "cost"), yaml_get(&section, "overdraw"), limit);
	if ((word = yaml_get(&section, "over")))
		over_read(load, word, limit);
	numbers_read(load, &section, NULL, words_known, limit);
	if ((word = yaml_get(&section, "count_denied")))
		value_flag(load, word, "count_denied", &limit->count_denied);
	failures_read(load, yaml_get(&section, "count"), yaml_get(&section, "failure"), limit);
	if ((word = yaml_get(&section, "for")))
		who_read(load, word, &limit->who, &who);
	cost_check(load, limit);
	cost_warn(load, limit);
	distinct_check(load, limit);
	read_rest(load, &section, errors, limit);
	if ((word = yaml_get(&section, "on_full")) && words_value(load, word, "on_full", &number))
		limit->on_full = (uint32_t)number;
	if ((word = yaml_get(&section, "mode")))
		mode_read(load, word, &limit->mode, &limit->percent);
	if ((word = yaml_get(&section, "exempt")))
		exceptions_read(load, word, false, &limit->exempt, &limit->exempt_count);
	if ((word = yaml_get(&section, "respond")) && word->kind == NODE_MAP &&
	    (word = yaml_get(word, "own_limits")))
		diag_error(load, word->mark, "'own_limits' is said once, at the file's first level");
	respond_read(load, yaml_get(&section, "respond"),
		     arena_format(&load->arena, "'respond' of %s", where.data).data, &limit->respond);
	limit->preflight_exempt = preflight_exempt(limit);
	if (load->diag.errors == errors)
		variants_read(load, &section, limit);
	if ((word = yaml_get(&section, "candidate")) && load->diag.errors == errors)
		limit_candidate(load, word, &section, limit);
}

void limits_read(struct load *load, const struct node *node)
{
	struct model *model = &load->model;
	size_t count = node && node->kind == NODE_MAP ? node->count : 0;

	if (node && (node->kind == NODE_SCALAR || node->kind == NODE_LIST))
		diag_error(load, node->mark, "limits have names: write NAME: {rate: 50/s}");
	model->limits = arena_alloc(&load->arena, (2 * count + 1) * sizeof *model->limits);
	for (size_t i = 0; i < count; i++)
		limit_read(load, &node->pairs[i].key, &node->pairs[i].value,
			   &model->limits[model->limit_count++]);
}
