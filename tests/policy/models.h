/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * models: policies for tests, from one line a clause, without the YAML front end.
 *
 * A clause is words: `GET,POST`, `/path/pattern`, `host=NAME`, `ip=NETWORK,NETWORK`, `header.NAME=VALUE` (`*`
 * present, `v*` prefix, `*v` suffix); a word after `!` is a `not` of its own. Memory comes from the arena; a
 * mistake in a test aborts.
 */
#ifndef WEIR_TESTS_POLICY_MODELS_H
#define WEIR_TESTS_POLICY_MODELS_H

#include <stdio.h>
#include <stdlib.h>

#include "policy/model.h"

struct limit_spec {
	const char *name;
	const char *clauses[6]; /* NULL-terminated; none: every request */
	uint32_t mode;
	bool exact;
	const char *key; /* canonical text; NULL: ip */
	const char *was;
	uint32_t rates[3]; /* N of "N per minute", "N per hour", "N per day"; all 0: 10 per minute */
};

static inline _Noreturn void models_wrong(const char *what, struct text text)
{
	printf("Bail out! test data: %s '%.*s'\n", what, (int)text.size, text.data);
	abort();
}

static inline struct text models_word(struct text *rest, char separator)
{
	const char *end = rest->size ? memchr(rest->data, separator, rest->size) : NULL;
	struct text word = {rest->data, end ? (size_t)(end - rest->data) : rest->size};
	size_t used = word.size + (end ? 1 : 0);

	*rest = (struct text){rest->data + used, rest->size - used};
	return word;
}

static inline bool models_prefix(struct text *text, const char *prefix)
{
	size_t size = strlen(prefix);

	if (text->size < size || memcmp(text->data, prefix, size) != 0)
		return false;
	*text = (struct text){text->data + size, text->size - size};
	return true;
}

static inline void models_networks(struct arena *arena, struct text list, struct network **networks,
				   size_t *count)
{
	char why[128];

	*networks = arena_alloc(arena, (list.size + 1) * sizeof **networks);
	while (list.size > 0) {
		struct text one = models_word(&list, ',');

		if (!network_parse(one, &(*networks)[(*count)++], why, sizeof why))
			models_wrong("network", one);
	}
	*count = networks_sort(*networks, *count);
}

static inline void models_words(struct arena *arena, struct model_clause *clause, struct text rest)
{
	while (rest.size > 0) {
		struct text word = models_word(&rest, ' '), all = word;

		if (models_prefix(&word, "!")) {
			size_t capacity = clause->not_count;

			clause->nots = arena_grow(arena, clause->nots, clause->not_count, &capacity,
						  sizeof *clause);
			memset(&clause->nots[clause->not_count], 0, sizeof *clause);
			clause->nots[clause->not_count].methods = IMAGE_METHOD_ANY;
			clause->nots[clause->not_count].text = all;
			models_words(arena, &clause->nots[clause->not_count++], word);
		} else if (models_prefix(&word, "host=")) {
			clause->host = word;
		} else if (models_prefix(&word, "ip=")) {
			models_networks(arena, word, &clause->networks, &clause->network_count);
		} else if (models_prefix(&word, "header.")) {
			struct text name = models_word(&word, '=');
			size_t capacity = clause->header_count;
			uint32_t how = IMAGE_EXACT;

			if (text_equal(word, TEXT("*"))) {
				how = IMAGE_PRESENT;
			} else if (word.size > 0 && word.data[word.size - 1] == '*') {
				how = IMAGE_PREFIX;
				word.size--;
			} else if (models_prefix(&word, "*")) {
				how = IMAGE_SUFFIX;
			}
			clause->headers = arena_grow(arena, clause->headers, clause->header_count, &capacity,
						     sizeof *clause->headers);
			clause->headers[clause->header_count].name = name;
			clause->headers[clause->header_count].value = word;
			clause->headers[clause->header_count++].how = how;
		} else if (word.size > 0 && word.data[0] == '/') {
			clause->path = word;
		} else {
			clause->methods = 0;
			while (word.size > 0)
				clause->methods |= image_method(models_word(&word, ','));
		}
	}
}

static inline struct model_clause models_clause(struct arena *arena, const char *words)
{
	struct model_clause clause = {.text = text_of(words), .methods = IMAGE_METHOD_ANY};

	models_words(arena, &clause, text_of(words));
	return clause;
}

static inline void models_rates(struct arena *arena, const struct limit_spec *spec, struct model_limit *limit)
{
	static const struct {
		uint64_t period_ns;
		const char *unit;
	} units[] = {{UINT64_C(60000000000), "min"},
		     {UINT64_C(3600000000000), "hour"},
		     {UINT64_C(86400000000000), "day"}};
	bool none = !spec->rates[0] && !spec->rates[1] && !spec->rates[2];

	limit->rates = arena_alloc(arena, 3 * sizeof *limit->rates);
	for (size_t i = 0; i < 3; i++) {
		uint32_t count = none && i == 0 ? 10 : spec->rates[i];
		struct model_rate *rate = &limit->rates[limit->rate_count];

		if (count == 0)
			continue;
		*rate = (struct model_rate){
			.count = count, .period_ns = units[i].period_ns, .unit = text_of(units[i].unit)};
		if (i == 2 ? !algo_fixed_window(count, rate->period_ns, ALGO_CALENDAR_DAY, &rate->numbers)
			   : !algo_token_bucket(count, rate->period_ns, count, &rate->numbers))
			models_wrong("rate", text_of(spec->name));
		limit->rate_count++;
	}
}

static inline void models_limit(struct arena *arena, const struct limit_spec *spec, struct model_limit *limit)
{
	memset(limit, 0, sizeof *limit);
	limit->name = text_of(spec->name);
	limit->was = text_of(spec->was);
	limit->clauses = arena_alloc(arena,
				     sizeof spec->clauses / sizeof *spec->clauses * sizeof *limit->clauses);
	while (limit->clause_count < 6 && spec->clauses[limit->clause_count]) {
		limit->clauses[limit->clause_count] = models_clause(arena,
								    spec->clauses[limit->clause_count]);
		limit->clause_count++;
	}
	limit->match_text = text_of(spec->clauses[0]);
	limit->key = arena_alloc(arena, sizeof *limit->key);
	limit->key[0] = (struct image_key_part){.kind = IMAGE_KEY_IP, .bits4 = 32, .bits6 = 64};
	limit->key_names = arena_alloc(arena, sizeof *limit->key_names);
	limit->key_count = 1;
	limit->key_text = spec->key ? text_of(spec->key) : TEXT("ip");
	limit->mode = spec->mode;
	limit->cost = 1;
	limit->paths_exact = spec->exact;
	limit->respond = (struct model_respond){.status = 429, .headers = IMAGE_HEADERS_X_RATELIMIT};
	models_rates(arena, spec, limit);
}

/* A whole model with the limits of the specs; the caller may change it before compiling. */
static inline struct model *models_model(struct arena *arena, const struct limit_spec *specs, size_t count)
{
	struct model *model = arena_alloc(arena, sizeof *model);

	model->source = TEXT("test.yaml");
	model->source_hash = 1;
	model->ipv6_prefix = 64;
	model->deny_status = 403;
	model->limits = arena_alloc(arena, (count + 1) * sizeof *model->limits);
	model->limit_count = count;
	for (size_t i = 0; i < count; i++)
		models_limit(arena, &specs[i], &model->limits[i]);
	return model;
}

/* Compiles; NULL with a note on standard output if it is refused. */
static inline struct image *models_compile(const struct model *model)
{
	struct model_mark mark;
	char why[256] = "";
	struct image *image = model_compile(model, "policy", 1700000000, &mark, why, sizeof why);

	if (!image)
		printf("# refused: %s\n", why);
	else if (!image_check(image, image->size, why, sizeof why)) {
		printf("# unsound: %s\n", why);
		free(image);
		return NULL;
	}
	return image;
}

#endif
