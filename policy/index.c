/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index: sort the clauses, then read the tries off the sorted array.
 *
 * Entries are sorted so that each list of candidates, each node's subtree and each child of a node is a run
 * of neighbours; a breadth-first walk over the runs numbers the nodes. Nothing is ever moved or looked up.
 */
#include "policy/index.h"

#include <stdlib.h>

struct run { /* the entries below a node; they agree in the first `depth` segments */
	size_t low, high, depth;
};
struct indexer {
	struct builder *builder;
	struct arena *arena;
	const struct index_entry *entries;
	struct image_candidate *candidates;
	size_t candidate_count, candidate_capacity;
};

enum place { PLACE_ALWAYS, PLACE_HOST, PLACE_FOLDED, PLACE_EXACT };

static enum place place_of(const struct index_entry *entry)
{
	if (entry->path)
		return entry->path->exact ? PLACE_EXACT : PLACE_FOLDED;
	return entry->host.size ? PLACE_HOST : PLACE_ALWAYS;
}

/* Where the pattern ends comes first (in rest, then exactly), then literals in image_order, then `*`. */
static int compare_paths(const struct pattern *a, const struct pattern *b)
{
	size_t shared = a->count < b->count ? a->count : b->count;

	for (size_t i = 0; i < shared; i++) {
		const struct pattern_segment *x = &a->segments[i], *y = &b->segments[i];
		int order = (int)x->kind - (int)y->kind;

		if (order == 0 && x->kind == IMAGE_LITERAL)
			order = image_order(x->text, y->text);
		if (order != 0)
			return order;
	}
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return (int)b->rest - (int)a->rest;
}

static int compare(const void *left, const void *right)
{
	const struct index_entry *a = left, *b = right;
	int order = (int)place_of(a) - (int)place_of(b);

	if (order == 0 && a->path)
		order = compare_paths(a->path, b->path);
	if (order == 0)
		order = image_order(a->host, b->host);
	if (order == 0 && a->candidate.limit != b->candidate.limit)
		order = a->candidate.limit < b->candidate.limit ? -1 : 1;
	if (order == 0 && a->candidate.clause != b->candidate.clause)
		order = a->candidate.clause < b->candidate.clause ? -1 : 1;
	return order;
}

/* Appends entries low..high to the candidates. */
static struct image_range add_candidates(struct indexer *x, size_t low, size_t high)
{
	struct image_range range = {(uint32_t)x->candidate_count, (uint32_t)(high - low)};

	for (size_t i = low; i < high; i++) {
		x->candidates = arena_grow(x->arena, x->candidates, x->candidate_count,
					   &x->candidate_capacity, sizeof *x->candidates);
		x->candidates[x->candidate_count++] = x->entries[i].candidate;
	}
	return range;
}

/* Counters that one request can meet in a list: a request has one host, a limit counts once for a host. */
static uint64_t weigh(const struct index_entry *entries, size_t low, size_t high)
{
	uint64_t any = 0, most = 0, own = 0;

	for (size_t i = low; i < high; i++) {
		const struct index_entry *entry = &entries[i], *before = i > low ? entry - 1 : NULL;
		bool same_host = before && text_equal(before->host, entry->host);

		if (!same_host)
			own = 0;
		if (same_host && before->candidate.limit == entry->candidate.limit)
			continue;
		if (entry->host.size == 0)
			any += entry->counters;
		else
			own += entry->counters;
		if (own > most)
			most = own;
	}
	return any + most;
}

/* From `low`, the end of those that go on with the same segment. */
static size_t run_end(const struct index_entry *entries, size_t low, size_t high, size_t depth)
{
	const struct pattern_segment *first = &entries[low].path->segments[depth];
	size_t end = low + 1;

	for (; end < high; end++) {
		const struct pattern_segment *next = &entries[end].path->segments[depth];

		if (next->kind != first->kind ||
		    (first->kind == IMAGE_LITERAL && !text_equal(next->text, first->text)))
			break;
	}
	return end;
}

static size_t end_of_list(const struct indexer *x, size_t low, size_t high, size_t depth, bool rest)
{
	while (low < high && x->entries[low].path->count == depth && x->entries[low].path->rest == rest)
		low++;
	return low;
}

/* A request leaves a node by one literal at most and by `*`: the weight of a node is what any path through it
 * can meet. Children have higher numbers. */
static uint64_t weigh_trie(struct indexer *x, const struct image_node *nodes, const struct run *runs,
			   size_t count)
{
	uint64_t *weights = arena_alloc(x->arena, count * sizeof *weights);

	for (size_t i = count; i-- > 0;) {
		const struct run *run = &runs[i];
		const struct image_node *node = &nodes[i];
		const struct image_edge *edges = builder_at(x->builder, node->children.offset);
		size_t below = run->low + node->below.count, here = below + node->here.count;
		uint64_t on = 0;

		for (uint32_t k = 0; k < node->children.count; k++)
			if (weights[edges[k].node] > on)
				on = weights[edges[k].node];
		if (node->one)
			on += weights[node->one];
		weights[i] = weigh(x->entries, below, here);
		if (on > weights[i])
			weights[i] = on;
		weights[i] += weigh(x->entries, run->low, below);
	}
	return weights[0];
}

static struct image_span build_trie(struct indexer *x, size_t low, size_t high, uint64_t *weight)
{
	size_t count = 0, capacity = 0, run_capacity = 0;
	struct image_node *nodes = NULL;
	struct run *runs = NULL;
	struct image_span span;

	if (low == high)
		return (struct image_span){0, 0};
#define PUSH(from, to, level)                                                                                \
	do {                                                                                                 \
		runs = arena_grow(x->arena, runs, count, &run_capacity, sizeof *runs);                       \
		nodes = arena_grow(x->arena, nodes, count, &capacity, sizeof *nodes);                        \
		memset(&nodes[count], 0, sizeof nodes[count]);                                               \
		runs[count++] = (struct run){(from), (to), (level)};                                         \
	} while (0)

	PUSH(low, high, 0);
	for (size_t i = 0; i < count; i++) {
		struct run run = runs[i];
		size_t below = end_of_list(x, run.low, run.high, run.depth, true);
		size_t here = end_of_list(x, below, run.high, run.depth, false), at;
		struct image_span children = {0, 0};

		nodes[i].below = add_candidates(x, run.low, below);
		nodes[i].here = add_candidates(x, below, here);
		for (at = here; at < run.high; at = run_end(x->entries, at, run.high, run.depth))
			children.count += x->entries[at].path->segments[run.depth].kind == IMAGE_LITERAL;
		children = builder_span(x->builder, children.count, sizeof(struct image_edge));
		nodes[i].children = children;
		at = here;
		for (uint32_t k = 0; at < run.high; k++) {
			size_t end = run_end(x->entries, at, run.high, run.depth);

			if (k < children.count) {
				/* copied, so that the texts that a search compares are neighbours */
				struct image_text text = builder_text(
					x->builder, x->entries[at].path->segments[run.depth].text);
				struct image_edge *edges = builder_at(x->builder, children.offset);

				edges[k] = (struct image_edge){text, (uint32_t)count};
			} else {
				nodes[i].one = (uint32_t)count;
			}
			PUSH(at, end, run.depth + 1);
			at = end;
		}
	}
#undef PUSH
	*weight += weigh_trie(x, nodes, runs, count);
	span = builder_span(x->builder, count, sizeof *nodes);
	memcpy(builder_at(x->builder, span.offset), nodes, count * sizeof *nodes);
	return span;
}

/* One entry for each distinct host of entries low..high. */
static struct image_span build_hosts(struct indexer *x, size_t low, size_t high)
{
	struct image_span span;
	uint32_t count = 0;

	for (size_t i = low; i < high; i++)
		count += i == low || !text_equal(x->entries[i].host, x->entries[i - 1].host);
	span = builder_span(x->builder, count, sizeof(struct image_host_entry));
	for (uint32_t k = 0; k < count; k++) {
		struct image_text host = builder_text(x->builder, x->entries[low].host);
		struct image_host_entry *entry = builder_at(x->builder, span.offset);
		size_t end = low + 1;

		while (end < high && text_equal(x->entries[end].host, x->entries[low].host))
			end++;
		entry[k].host = host;
		entry[k].candidates = add_candidates(x, low, end);
		low = end;
	}
	return span;
}

uint64_t index_build(struct builder *builder, struct index_entry *entries, size_t count)
{
	struct indexer x = {.builder = builder, .arena = builder->arena, .entries = entries};
	struct image_span always, hosts, folded, exact, candidates;
	struct image *image;
	size_t ends[PLACE_EXACT + 1];
	uint64_t weight;

	if (count > 0)
		qsort(entries, count, sizeof *entries, compare);
	for (size_t at = 0, place = 0; place <= PLACE_EXACT; place++) {
		while (at < count && place_of(&entries[at]) == (enum place)place)
			at++;
		ends[place] = at;
	}

	always = builder_span(builder, ends[PLACE_ALWAYS], sizeof(struct image_candidate));
	for (size_t i = 0; i < ends[PLACE_ALWAYS]; i++)
		((struct image_candidate *)builder_at(builder, always.offset))[i] = entries[i].candidate;
	weight = weigh(entries, 0, ends[PLACE_ALWAYS]) + weigh(entries, ends[PLACE_ALWAYS], ends[PLACE_HOST]);
	hosts = build_hosts(&x, ends[PLACE_ALWAYS], ends[PLACE_HOST]);
	folded = build_trie(&x, ends[PLACE_HOST], ends[PLACE_FOLDED], &weight);
	exact = build_trie(&x, ends[PLACE_FOLDED], ends[PLACE_EXACT], &weight);
	candidates = builder_span(builder, x.candidate_count, sizeof(struct image_candidate));
	if (x.candidate_count > 0)
		memcpy(builder_at(builder, candidates.offset), x.candidates,
		       x.candidate_count * sizeof *x.candidates);

	image = builder_at(builder, 0);
	image->always = always;
	image->hosts = hosts;
	image->folded = folded;
	image->exact = exact;
	image->candidates = candidates;
	return weight;
}
