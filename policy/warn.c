/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warn: what is allowed, but surely not meant.
 *
 *   twins       two limits of the same match, key and unit: the larger one never decides
 *   whole page  see warn_page.c
 *   chosen key  who chooses the key (a header, cookie, query, session, field of the body, a variable made of one of them,
 *               and a host or path that the match leaves open) can invent another for each request; a limit by ip, or
 *               for the site, over the same requests of the same clients bounds that
 *   refusals    see warn_refusal.c
 *   was         a name before a rename that is still in use
 */
#include <stdlib.h>

#include "policy/load.h"
#include "policy/pattern.h"
#include "policy/sections.h"
#include "policy/warn.h"

struct rule { /* one rate of an enforced limit, to be sorted */
	const struct model_limit *limit;
	const struct model_rate *rate;
};

static int compare_text(struct text a, struct text b)
{
	size_t least = a.size < b.size ? a.size : b.size;
	int order = least ? memcmp(a.data, b.data, least) : 0;
	return order ? order : a.size < b.size ? -1 : a.size > b.size;
}

static int by_meaning(const void *left, const void *right)
{
	const struct rule *a = left, *b = right;
	int order = compare_text(a->limit->match_text, b->limit->match_text);
	if (!order)
		order = compare_text(a->limit->key_text, b->limit->key_text);
	if (!order)
		order = (int)a->limit->paths_exact - (int)b->limit->paths_exact;
	if (!order)
		order = (int)a->limit->count - (int)b->limit->count;
	if (!order)
		order = a->limit->who < b->limit->who ? -1 : a->limit->who > b->limit->who;
	if (!order)
		order = (int)a->limit->distinct.kind - (int)b->limit->distinct.kind;
	if (!order)
		order = compare_text(a->limit->distinct_name, b->limit->distinct_name);
	if (!order)
		order = compare_text(a->rate->unit, b->rate->unit);
	return order;
}

static int by_meaning_and_place(const void *left, const void *right)
{
	const struct rule *a = left, *b = right;
	int order = by_meaning(left, right);
	return order ? order : a->limit < b->limit ? -1 : a->limit > b->limit;
}

/* A candidate, or a limit for a share of the keys, stands beside others on purpose. */
static bool decides_alone(const struct model_limit *limit)
{
	return limit->mode == IMAGE_ENFORCE && !limit->candidate && limit->percent == 100;
}

static void warn_twins(struct load *load)
{
	struct model *model = &load->model;
	size_t count = 0, all = 0;
	for (size_t i = 0; i < model->limit_count; i++)
		all += model->limits[i].rate_count;
	struct rule *rules = arena_alloc(&load->arena, (all + 1) * sizeof *rules);
	for (size_t i = 0; i < model->limit_count; i++)
		for (size_t k = 0; decides_alone(&model->limits[i]) && k < model->limits[i].rate_count; k++)
			if (model->limits[i].rates[k].what != IMAGE_NEW_KEYS &&
			    model->limits[i].rates[k].what != IMAGE_USAGE)
				rules[count++] = (struct rule){&model->limits[i], &model->limits[i].rates[k]};
	qsort(rules, count, sizeof *rules, by_meaning_and_place);
	for (size_t i = 1; i < count; i++)
		if (by_meaning(&rules[i - 1], &rules[i]) == 0)
			diag_warning(
				load, rules[i].limit->mark,
				"limits '%.*s' and '%.*s' have the same match, key and unit; one is enough",
				SHOW(rules[i - 1].limit->name), SHOW(rules[i].limit->name));
}

static bool host_open(const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->clause_count; i++)
		if (!limit->clauses[i].host.size || limit->clauses[i].host.data[0] == '*')
			return true;
	return limit->clause_count == 0;
}

static bool path_open(struct load *load, const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->clause_count; i++) {
		struct pattern pattern;
		char why[256];
		if (!limit->clauses[i].path.size ||
		    !pattern_read(&load->arena, limit->clauses[i].path, limit->paths_exact, &pattern, why,
				  sizeof why) ||
		    pattern.rest)
			return true;
		for (size_t k = 0; k < pattern.count; k++)
			if (pattern.segments[k].kind == IMAGE_ONE)
				return true;
	}
	return limit->clause_count == 0;
}

/* nginx's names for what a client sends. */
static bool variable_sent(struct text name)
{
	static const char *const begins[] = {"arg_", "cookie_", "http_"};
	static const char *const whole[] = {"args",	    "query_string", "uri",  "request_uri",
					    "document_uri", "request",	    "host", "request_body"};

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (name.size > strlen(begins[i]) && memcmp(name.data, begins[i], strlen(begins[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		if (text_equal(name, text_of(whole[i])))
			return true;
	return false;
}

static bool chosen_by_client(struct load *load, const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->key_count; i++) {
		uint32_t kind = limit->key[i].kind;
		if (kind == IMAGE_KEY_HEADER || kind == IMAGE_KEY_COOKIE || kind == IMAGE_KEY_QUERY ||
		    kind == IMAGE_KEY_SESSION || kind == IMAGE_KEY_BODY ||
		    (kind == IMAGE_KEY_VAR && variable_sent(limit->key_names[i])) ||
		    (kind == IMAGE_KEY_HOST && host_open(limit)) ||
		    (kind == IMAGE_KEY_PATH && path_open(load, limit)))
			return true;
	}
	return false;
}

static bool covers_everything(const struct model_limit *limit)
{
	for (size_t i = 0; i < limit->clause_count; i++) {
		const struct model_clause *clause = &limit->clauses[i];
		if (!clause->header_count && !clause->network_count && !clause->not_count && !clause->who &&
		    !clause->host.size && clause->methods == IMAGE_METHOD_ANY &&
		    warn_every_path(clause->path))
			return true;
	}
	return limit->clause_count == 0;
}

static int by_match(const void *left, const void *right)
{
	const struct model_limit *a = *(const struct model_limit *const *)left,
				 *b = *(const struct model_limit *const *)right;
	int order = compare_text(a->match_text, b->match_text);
	return order ? order : a->who < b->who ? -1 : a->who > b->who;
}

bool warn_counts(const struct model_limit *limit, unsigned kinds)
{
	for (size_t i = 0; i < limit->rate_count; i++)
		if (kinds >> limit->rates[i].what & 1)
			return true;
	return false;
}

const struct model_limit **warn_bounds(struct load *load, unsigned kinds, uint32_t counted, size_t *count)
{
	struct model *model = &load->model;
	const struct model_limit **bounds = arena_alloc(
		&load->arena, (model->limit_count + 1) * sizeof(const struct model_limit *));

	for (size_t i = 0; i < model->limit_count; i++) {
		const struct model_limit *limit = &model->limits[i];
		if (limit->mode != IMAGE_ENFORCE || limit->candidate || limit->percent < 100 ||
		    limit->key_count != 1 || (limit->count != IMAGE_COUNT_ALL && limit->count != counted) ||
		    !warn_counts(limit, kinds) ||
		    (limit->key[0].kind != IMAGE_KEY_IP && limit->key[0].kind != IMAGE_KEY_SITE))
			continue;
		if (covers_everything(limit) && !limit->who)
			return NULL;
		bounds[(*count)++] = limit;
	}
	qsort(bounds, *count, sizeof(const struct model_limit *), by_match);
	return bounds;
}

bool warn_bounded(const struct model_limit *limit, const struct model_limit *const *bounds, size_t count)
{
	struct model_limit of_all = {.match_text = limit->match_text};
	const struct model_limit *everybody = &of_all;

	return bsearch(&limit, bounds, count, sizeof(const struct model_limit *), by_match) ||
	       bsearch(&everybody, bounds, count, sizeof(const struct model_limit *), by_match);
}

static void warn_chosen(struct load *load)
{
	enum { RATE = 1u << IMAGE_RATE, CONCURRENT = 1u << IMAGE_CONCURRENT, TOTAL = 1u << IMAGE_TOTAL };
	static const struct {
		unsigned what, bounded_by; /* a bandwidth is the same for every key */
		uint32_t counted;
	} kinds[] = {{RATE, RATE, IMAGE_COUNT_ALL},
		     {RATE, RATE, IMAGE_COUNT_FAILURES},
		     {RATE, RATE, IMAGE_COUNT_SUCCESSES},
		     {CONCURRENT, CONCURRENT | RATE, IMAGE_COUNT_ALL},
		     {TOTAL, TOTAL, IMAGE_COUNT_ALL}};
	struct model *model = &load->model;
	bool *warned = arena_alloc(&load->arena, model->limit_count + 1);

	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		size_t count = 0;
		const struct model_limit **bounds = warn_bounds(load, kinds[k].bounded_by, kinds[k].counted,
								&count);

		for (size_t i = 0; bounds && i < model->limit_count; i++) {
			const struct model_limit *limit = &model->limits[i];
			if (warned[i] || limit->mode == IMAGE_DISABLED || limit->candidate ||
			    (kinds[k].what == RATE && limit->count != kinds[k].counted) ||
			    warn_counts(limit, 1u << IMAGE_NEW_KEYS) || !warn_counts(limit, kinds[k].what) ||
			    !chosen_by_client(load, limit) || warn_bounded(limit, bounds, count))
				continue;
			warned[i] = true;
			diag_warning(load, limit->mark,
				     "a client can invent values of '%.*s' and get a fresh allowance each "
				     "time; add %sa limit with key: ip over the same requests",
				     SHOW(limit->key_text),
				     kinds[k].what == RATE ? "new_keys: 30/min, or " : "");
		}
	}
}

static int by_name(const void *left, const void *right)
{
	const struct model_limit *a = *(const struct model_limit *const *)left,
				 *b = *(const struct model_limit *const *)right;
	return compare_text(a->name, b->name);
}

/* Two limits cannot both go on with the same counters. */
static void check_renames(struct load *load)
{
	struct model *model = &load->model;
	const struct model_limit **names = arena_alloc(
		&load->arena, (model->limit_count + 1) * sizeof(const struct model_limit *));
	for (size_t i = 0; i < model->limit_count; i++)
		names[i] = &model->limits[i];
	qsort(names, model->limit_count, sizeof(const struct model_limit *), by_name);
	for (size_t i = 0; i < model->limit_count; i++) {
		const struct model_limit *limit = &model->limits[i], wanted = {.name = limit->was},
					 *key = &wanted;
		if (limit->was.size &&
		    bsearch(&key, names, model->limit_count, sizeof(const struct model_limit *), by_name))
			diag_error(load, limit->mark, "'was: %.*s' names a limit that still exists",
				   SHOW(limit->was));
	}
}

void warn_limits(struct load *load)
{
	check_renames(load);
	if (load->diag.errors) /* what was misread must not be judged */
		return;
	warn_twins(load);
	warn_chosen(load);
	warn_refusal(load);
	for (size_t i = 0; i < load->model.limit_count; i++)
		if (load->model.limits[i].mode == IMAGE_ENFORCE && !load->model.limits[i].candidate)
			warn_page(load, &load->model.limits[i]);
	if (load->model.limit_count == 0)
		diag_warning(load, (struct model_mark){load->sources[0]->name, 1, 1, 1},
			     "there are no limits: nothing is limited");
}
