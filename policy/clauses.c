/* SPDX-License-Identifier: BSD-2-Clause */
/* clauses: compile the conditions of limits and exceptions. */

#include "policy/compile.h"

void compile_count_clauses(const struct model_clause *clauses, size_t count, size_t *clause_count,
			   size_t *path_count)
{
	*clause_count += count;
	for (size_t i = 0; i < count; i++) {
		*path_count += clauses[i].path.size > 0;
		compile_count_clauses(clauses[i].nots, clauses[i].not_count, clause_count, path_count);
	}
}

/* Writes image.paths[next]; gives the pattern for the index. */
static uint32_t compile_path(struct compiler *c, const struct model_clause *clause, bool exact,
			     const struct pattern **pattern)
{
	struct image_path path = {.exact = exact};
	struct pattern *read = arena_alloc(&c->arena, sizeof *read);
	struct image *image;
	char why[256];

	if (!pattern_read(&c->arena, clause->path, exact, read, why, sizeof why))
		compile_refuse(c, clause->mark, "%s", why);
	path.rest = read->rest;
	path.text = builder_text(&c->builder, clause->path);
	path.segments = builder_span(&c->builder, read->count, sizeof(struct image_segment));
	for (size_t i = 0; i < read->count; i++) {
		struct image_text text = builder_text(&c->builder, read->segments[i].text);
		struct image_segment *segments = builder_at(&c->builder, path.segments.offset);

		segments[i] = (struct image_segment){read->segments[i].kind, text};
	}
	image = builder_at(&c->builder, 0);
	((struct image_path *)builder_at(&c->builder, image->paths.offset))[c->next_path] = path;
	*pattern = read;
	return c->next_path++;
}

/* HEAD counts as GET, and a rule for HEAD alone would let GET do the same for free. */
static uint32_t with_twin(uint32_t methods)
{
	const uint32_t both = IMAGE_METHOD_BIT(GET) | IMAGE_METHOD_BIT(HEAD);

	return methods & both ? methods | both : methods;
}

static struct image_span compile_headers(struct compiler *c, const struct model_clause *clause)
{
	struct image_span span = builder_span(&c->builder, clause->header_count,
					      sizeof(struct image_header_test));

	for (size_t i = 0; i < clause->header_count; i++) {
		struct image_header_test test = {
			.name = builder_text(&c->builder, clause->headers[i].name),
			.value = builder_text(&c->builder, clause->headers[i].value),
			.how = clause->headers[i].how,
		};

		((struct image_header_test *)builder_at(&c->builder, span.offset))[i] = test;
	}
	return span;
}

struct image_span compile_texts(struct compiler *c, const struct text *texts, size_t count)
{
	struct image_span span = builder_span(&c->builder, count, sizeof(struct image_text));

	for (size_t i = 0; i < count; i++) {
		struct image_text text = builder_text(&c->builder, texts[i]);

		((struct image_text *)builder_at(&c->builder, span.offset))[i] = text;
	}
	return span;
}

struct image_span compile_networks(struct compiler *c, const struct network *networks, size_t count)
{
	struct image_span span = builder_span(&c->builder, count, sizeof *networks);

	if (count > 0)
		memcpy(builder_at(&c->builder, span.offset), networks, count * sizeof *networks);
	return span;
}

/* Everything of a clause but its nots. */
static struct image_clause compile_clause(struct compiler *c, const struct model_clause *clause, bool exact,
					  struct index_entry *entry)
{
	struct image_clause out = {.methods = IMAGE_METHOD_ANY,
				   .who = clause->who,
				   .text = builder_text(&c->builder, clause->text)};
	struct text host = clause->host;

	memset(entry, 0, sizeof *entry);
	if (clause->methods != IMAGE_METHOD_ANY) {
		out.has |= IMAGE_HAS_METHOD;
		out.methods = with_twin(clause->methods);
	}
	if (clause->path.size > 0) {
		out.has |= IMAGE_HAS_PATH;
		out.path = compile_path(c, clause, exact, &entry->path);
	}
	if (host.size > 0) {
		out.has |= IMAGE_HAS_HOST;
		if (host.data[0] == '*') {
			out.host_suffix = 1;
			host = (struct text){host.data + 1, host.size - 1};
		} else {
			entry->host = host;
		}
		out.host = builder_text(&c->builder, host);
	}
	if (clause->network_count > 0) {
		out.has |= IMAGE_HAS_IP;
		out.networks = compile_networks(c, clause->networks, clause->network_count);
	}
	out.headers = compile_headers(c, clause);
	return out;
}

/* A run of records in image.clauses. */
static struct image_span take_clauses(struct compiler *c, size_t count)
{
	const struct image *image = builder_at(&c->builder, 0);
	struct image_span span = {0, (uint32_t)count};

	if (count > 0)
		span.offset = image->clauses.offset + c->next_clause * (uint32_t)sizeof(struct image_clause);
	c->next_clause += (uint32_t)count;
	return span;
}

static void put_clause(struct compiler *c, struct image_span span, size_t i, struct image_clause clause)
{
	((struct image_clause *)builder_at(&c->builder, span.offset))[i] = clause;
}

struct image_span compile_clauses(struct compiler *c, const struct model_clause *clauses, size_t count,
				  bool exact, const struct model_limit *limit, uint32_t number)
{
	uint32_t first = c->next_clause;
	struct image_span span = take_clauses(c, count);

	for (size_t i = 0; i < count; i++) {
		struct index_entry entry, ignored;
		struct image_clause out = compile_clause(c, &clauses[i], exact, &entry);

		out.nots = take_clauses(c, clauses[i].not_count);
		for (size_t k = 0; k < clauses[i].not_count; k++) {
			const struct model_clause *not = &clauses[i].nots[k];

			if (not ->not_count > 0)
				compile_refuse(c, not ->mark,
					       "a 'not' inside a 'not' is not understood; say what it "
					       "means without");
			put_clause(c, out.nots, k, compile_clause(c, not, exact, &ignored));
		}
		put_clause(c, span, i, out);
		if (!limit)
			continue;
		entry.candidate = (struct image_candidate){number, first + (uint32_t)i};
		entry.counters = compile_hits(limit);
		c->entries = arena_grow(&c->arena, c->entries, c->entry_count, &c->entry_capacity,
					sizeof *c->entries);
		c->entries[c->entry_count++] = entry;
	}
	return span;
}

struct image_span compile_exceptions(struct compiler *c, const struct model_exception *exceptions,
				     size_t count, bool exact)
{
	struct image_span span = builder_span(&c->builder, count, sizeof(struct image_exception));

	for (size_t i = 0; i < count; i++) {
		const struct model_exception *from = &exceptions[i];
		struct image_exception out = {
			.clauses = compile_clauses(c, from->clauses, from->clause_count, exact, NULL, 0),
			.networks = compile_networks(c, from->networks, from->network_count),
			.until = from->until,
			.reason = builder_text(&c->builder, from->reason),
			.close = from->close,
			.keys = compile_texts(c, from->keys, from->key_count),
		};

		((struct image_exception *)builder_at(&c->builder, span.offset))[i] = out;
	}
	return span;
}
