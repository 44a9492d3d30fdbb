/* SPDX-License-Identifier: BSD-2-Clause */
/* compile: from a checked model to one flat image. The parts of a clause are in clauses.c, counters in
 * counters.c, the search structures in index.c. */
#include "policy/compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void compile_refuse(struct compiler *c, struct model_mark mark, const char *format, ...)
{
	va_list arguments;

	if (c->mark)
		*c->mark = mark;
	va_start(arguments, format);
	if (c->why_size > 0)
		vsnprintf(c->why, c->why_size, format, arguments);
	va_end(arguments);
	longjmp(c->arena.out_of_memory, 3);
}

static struct image *image_of(struct compiler *c)
{
	return builder_at(&c->builder, 0);
}

/* Room for the arrays whose records are numbered through the whole image. */
static void take_arrays(struct compiler *c)
{
	const struct model *model = c->model;
	size_t clauses = 0, paths = 0, counters = 0;
	struct image_span limits, counter_span, clause_span, path_span;

	for (size_t i = 0; i < model->limit_count; i++) {
		const struct model_limit *limit = &model->limits[i];

		counters += compile_counter_count(limit);
		compile_count_clauses(limit->clauses, limit->clause_count, &clauses, &paths);
		for (size_t k = 0; k < limit->exempt_count; k++)
			compile_count_clauses(limit->exempt[k].clauses, limit->exempt[k].clause_count,
					      &clauses, &paths);
	}
	for (size_t i = 0; i < model->exempt_count; i++)
		compile_count_clauses(model->exempt[i].clauses, model->exempt[i].clause_count, &clauses,
				      &paths);
	for (size_t i = 0; i < model->deny_count; i++)
		compile_count_clauses(model->deny[i].clauses, model->deny[i].clause_count, &clauses, &paths);

	builder_span(&c->builder, 1, sizeof(struct image));
	limits = builder_span(&c->builder, model->limit_count, sizeof(struct image_limit));
	counter_span = builder_span(&c->builder, counters, sizeof(struct image_counter));
	clause_span = builder_span(&c->builder, clauses, sizeof(struct image_clause));
	path_span = builder_span(&c->builder, paths, sizeof(struct image_path));
	image_of(c)->limits = limits;
	image_of(c)->counters = counter_span;
	image_of(c)->clauses = clause_span;
	image_of(c)->paths = path_span;
}

static bool respond_equal(const struct model_respond *a, const struct model_respond *b)
{
	return a->status == b->status && a->headers == b->headers && a->body == b->body &&
	       a->cors_mirror == b->cors_mirror && text_equal(a->file_type, b->file_type) &&
	       text_equal(a->file_text, b->file_text);
}

/* Most limits answer like one of a few others, and a page can be large: equal answers are stored once. Fills
 * image.responds; indices[i] is that of limit i. */
static void compile_responds(struct compiler *c, uint32_t *indices)
{
	const struct model *model = c->model;
	const struct model_respond **kept = arena_alloc(
		&c->arena, (model->limit_count + 1) * sizeof(const struct model_respond *));
	uint32_t count = 0;
	struct image_span span;

	for (size_t i = 0; i < model->limit_count; i++) {
		const struct model_respond *respond = &model->limits[i].respond;
		/* 64: ten thousand different answers must not make the compiler quadratic */
		uint32_t k = count, tried = 0;

		while (k > 0 && tried < 64 && !respond_equal(kept[k - 1], respond))
			k--, tried++;
		if (k > 0 && tried < 64) {
			indices[i] = k - 1;
			continue;
		}
		indices[i] = count;
		kept[count++] = respond;
	}
	span = builder_span(&c->builder, count, sizeof(struct image_respond));
	for (uint32_t i = 0; i < count; i++) {
		struct image_respond out = {
			.status = kept[i]->status,
			.headers = kept[i]->headers,
			.body = kept[i]->body,
			.cors_mirror = kept[i]->cors_mirror,
			.file_type = builder_text(&c->builder, kept[i]->file_type),
			.file_text = builder_text(&c->builder, kept[i]->file_text),
		};

		((struct image_respond *)builder_at(&c->builder, span.offset))[i] = out;
	}
	image_of(c)->responds = span;
}

static struct image_span compile_key(struct compiler *c, const struct model_limit *limit)
{
	struct image_span span = builder_span(&c->builder, limit->key_count, sizeof(struct image_key_part));

	for (size_t i = 0; i < limit->key_count; i++) {
		struct image_key_part part = limit->key[i];

		part.name = builder_text(&c->builder, limit->key_names[i]);
		((struct image_key_part *)builder_at(&c->builder, span.offset))[i] = part;
	}
	return span;
}

/* Can a request meet it through the lists? Zones are met where nginx's locations say so. */
static bool matched(const struct model *model, const struct model_limit *limit)
{
	return model->kind == IMAGE_OF_POLICY && limit->mode != IMAGE_DISABLED;
}

static void compile_limit(struct compiler *c, uint32_t number, uint32_t respond)
{
	const struct model_limit *limit = &c->model->limits[number];
	bool in_force = matched(c->model, limit);
	uint64_t identity = compile_key_identity(limit->key_text);
	struct image_text name = builder_text(&c->builder, limit->name);
	struct image_text key_text = builder_text(&c->builder, limit->key_text);
	struct image_text match_text = builder_text(&c->builder, limit->match_text);
	struct image_span variants, counters = compile_counters(c, limit, number, &variants);
	struct image_span clauses = compile_clauses(c, limit->clauses, limit->clause_count,
						    limit->paths_exact, in_force ? limit : NULL, number);
	struct image_span key = compile_key(c, limit);
	struct image_span exempt = compile_exceptions(c, limit->exempt, limit->exempt_count,
						      limit->paths_exact);
	struct image_span failures = builder_span(&c->builder, limit->failure_count,
						  sizeof(struct image_statuses));
	struct image_limit *out;

	if (in_force && limit->clause_count == 0) {
		c->entries = arena_grow(&c->arena, c->entries, c->entry_count, &c->entry_capacity,
					sizeof *c->entries);
		c->entries[c->entry_count++] = (struct index_entry){
			.candidate = {number, UINT32_MAX},
			.counters = compile_hits(limit),
		};
	}
	/* field by field: the padding stays 0 */
	out = (struct image_limit *)builder_at(&c->builder, image_of(c)->limits.offset) + number;
	out->name = name;
	out->counters = counters;
	out->clauses = clauses;
	out->key = key;
	out->exempt = exempt;
	out->respond = respond;
	out->mode = limit->mode;
	out->missing = limit->missing;
	out->cost = limit->cost;
	out->count_denied = limit->count_denied;
	out->shared = limit->shared;
	out->preflight_exempt = limit->preflight_exempt;
	out->quota = (uint8_t)limit->quota;
	out->key_text = key_text;
	out->match_text = match_text;
	out->count = (uint16_t)limit->count;
	out->on_full = (uint16_t)limit->on_full;
	out->failures = failures;
	if (failures.count > 0)
		memcpy(builder_at(&c->builder, failures.offset), limit->failures,
		       failures.count * sizeof(struct image_statuses));
	out->key_identity = identity;
	out->variants = variants;
	out->who = limit->who;
	out->plan_in_key = limit->plan_in_key;
	compile_words(c, limit, number);
}

static struct image_gateway compile_gateway(struct compiler *c)
{
	const struct model *model = c->model;
	struct image_gateway gateway = {
		.listens = builder_span(&c->builder, model->listen_count, sizeof(struct image_text)),
		.routes = builder_span(&c->builder, model->route_count, sizeof(struct image_route)),
		.cache_bytes = model->cache_bytes,
	};

	for (size_t i = 0; i < model->listen_count; i++) {
		struct image_text text = builder_text(&c->builder, model->listens[i]);

		((struct image_text *)builder_at(&c->builder, gateway.listens.offset))[i] = text;
	}
	for (size_t i = 0; i < model->route_count; i++) {
		struct image_route route = {
			.match = builder_text(&c->builder, model->routes[i].match),
			.to = builder_text(&c->builder, model->routes[i].to),
		};

		((struct image_route *)builder_at(&c->builder, gateway.routes.offset))[i] = route;
	}
	return gateway;
}

static void compile_index(struct compiler *c)
{
	uint64_t most = index_build(&c->builder, c->entries, c->entry_count), total = 0;

	for (size_t i = 0; i < c->model->limit_count; i++)
		if (matched(c->model, &c->model->limits[i]))
			total += compile_hits(&c->model->limits[i]);
	if (most > total)
		most = total;
	if (most > IMAGE_HITS_MAX)
		compile_refuse(c, c->model->limits[c->model->limit_count - 1].mark,
			       "one request could meet %llu counters; at most %u may: narrow the matches",
			       (unsigned long long)most, IMAGE_HITS_MAX);
	image_of(c)->hits_max = (uint32_t)most;
}

static bool compile(struct compiler *c, int64_t compiled_at)
{
	const struct model *model = c->model;
	uint32_t *responds;
	struct image_text source, address_header;
	struct image_span exempt, deny, trusted;
	struct image_gateway gateway;
	struct image *image;
	int jump = setjmp(c->arena.out_of_memory);

	if (jump != 0) {
		if (jump != 3 && c->why_size > 0)
			snprintf(c->why, c->why_size, "%s",
				 jump == 1 ? "out of memory"
					   : "the compiled policy would be larger than 1 GiB");
		return false;
	}
	take_arrays(c);
	responds = arena_alloc(&c->arena, (model->limit_count + 1) * sizeof *responds);
	compile_responds(c, responds);
	for (uint32_t i = 0; i < model->limit_count; i++)
		compile_limit(c, i, responds[i]);
	compile_check_identities(c);
	exempt = compile_exceptions(c, model->exempt, model->exempt_count, false);
	deny = compile_exceptions(c, model->deny, model->deny_count, false);
	compile_index(c);
	trusted = compile_networks(c, model->trusted, model->trusted_count);
	gateway = compile_gateway(c);
	source = builder_text(&c->builder, model->source);
	address_header = builder_text(&c->builder, model->address_header);
	compile_clients(c);
	builder_span(&c->builder, 1, 8); /* so that the size is a whole number of words */

	image = image_of(c);
	image->magic = IMAGE_MAGIC;
	image->layout = IMAGE_LAYOUT;
	image->size = (uint32_t)c->builder.used;
	image->source_hash = model->source_hash;
	image->compiled_at = compiled_at;
	image->source = source;
	image->exempt = exempt;
	image->deny = deny;
	image->trusted = trusted;
	image->address_from = model->address_from;
	image->address_header = address_header;
	image->ipv6_prefix = model->ipv6_prefix;
	image->deny_status = model->deny_status;
	image->kind = model->kind;
	image->gateway = gateway;
	return true;
}

struct image *model_compile(const struct model *model, const char *name_space, int64_t compiled_at,
			    struct model_mark *mark, char *why, size_t size)
{
	struct compiler c = {
		.model = model, .name_space = name_space, .mark = mark, .why = why, .why_size = size};

	c.builder.arena = &c.arena;
	if (mark)
		*mark = (struct model_mark){0};
	if (!compile(&c, compiled_at)) {
		free(c.builder.data);
		c.builder.data = NULL;
	}
	arena_free(&c.arena);
	return (struct image *)c.builder.data;
}
