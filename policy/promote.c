/* SPDX-License-Identifier: BSD-2-Clause */
/* promote: finding the limit in the text, and cutting. */
#include "policy/promote.h"

#include <stdlib.h>

#include "policy/load.h"

#define EDITS_MAX 64u

struct edit { /* bytes [from, to) become `text` */
	size_t from, to;
	struct text text;
};

struct promotion {
	struct load *load;
	struct text source;
	struct edit edits[EDITS_MAX]; /* in no order, none overlapping another */
	size_t count;
};

static void cut(struct promotion *p, size_t from, size_t to, struct text text)
{
	if (p->count < EDITS_MAX)
		p->edits[p->count++] = (struct edit){from, to, text};
}

static const struct pair *pair_of(const struct node *map, const char *word)
{
	for (size_t i = 0; map->kind == NODE_MAP && i < map->count; i++)
		if (text_equal(map->pairs[i].key.text, text_of(word)))
			return &map->pairs[i];
	return NULL;
}

static size_t line_start(struct text source, size_t at)
{
	while (at > 0 && source.data[at - 1] != '\n')
		at--;
	return at;
}

static size_t line_end(struct text source, size_t at)
{
	while (at < source.size && source.data[at] != '\n')
		at++;
	return at < source.size ? at + 1 : at;
}

static size_t indent(struct text source, size_t at)
{
	return at - line_start(source, at);
}

static bool is_block(const struct node *node)
{
	return (node->kind == NODE_MAP || node->kind == NODE_LIST) && !node->flow;
}

/* What stands behind the colon of a pair. A block's lines come from `was` columns and go to `is`. */
static struct text value_text(struct promotion *p, const struct node *value, size_t was, size_t is)
{
	struct text source = p->source;
	struct arena *arena = &p->load->arena;

	if (!is_block(value))
		return arena_format(arena, " %.*s", (int)(value->to - value->from),
				    source.data + value->from);
	struct text out = arena_text(arena, "", 0);
	for (size_t at = line_start(source, value->from); at < value->to;) {
		size_t end = line_end(source, at), first = at;
		while (first < end && source.data[first] == ' ')
			first++;
		size_t column = first - at, left = column + is > was ? column + is - was : 0;
		if (end > value->to)
			end = value->to;
		size_t stop = end > first && source.data[end - 1] == '\n' ? end - 1 : end;
		if (first < stop)
			out = arena_format(arena, "%.*s\n%*s%.*s", (int)out.size, out.data, (int)left, "",
					   (int)(stop - first), source.data + first);
		at = end;
	}
	return out;
}

/* From behind a pair's key, colon included, to the end of its value. */
static size_t colon(struct promotion *p, const struct pair *pair)
{
	size_t at = pair->key.to;

	while (at < pair->value.from && p->source.data[at] != ':')
		at++;
	return at < pair->value.from ? at + 1 : at;
}

static size_t pair_end(const struct pair *pair)
{
	return pair->value.to > pair->key.to ? pair->value.to : pair->key.to;
}

/* Where the comma stands, before any comment or the end of the line; `to`: nowhere. */
static size_t comma_in(struct text source, size_t from, size_t to)
{
	while (from < to && source.data[from] != ',' && source.data[from] != '#' && source.data[from] != '\n')
		from++;
	return from < to && source.data[from] == ',' ? from : to;
}

static bool breaks(struct text source, size_t from, size_t to)
{
	return memchr(source.data + from, '\n', to - from) != NULL;
}

/* A pair in braces that others follow: with its comma. A comment behind it, and the end of its line, stay. */
static void cut_before(struct promotion *p, const struct pair *pair, size_t next)
{
	struct text source = p->source;
	size_t from = pair->key.from, comma = comma_in(source, pair_end(pair), next), to = comma + 1, first;

	while (to < next && (source.data[to] == ' ' || source.data[to] == '\t'))
		to++;
	first = line_start(source, from);
	while (first < from && (source.data[first] == ' ' || source.data[first] == '\t'))
		first++;
	/* alone on its line, which goes with it; or nothing to keep */
	if (comma == next || !breaks(source, comma, next) ||
	    (first == from && (source.data[to] == '\n' || source.data[to] == '\r'))) {
		cut(p, from, next, (struct text){"", 0});
		return;
	}
	while (first < from && (source.data[from - 1] == ' ' || source.data[from - 1] == '\t'))
		from--;
	if (source.data[to] == '#' && from > 0 && source.data[from - 1] != ' ' &&
	    source.data[from - 1] != '\t')
		to = comma + 1; /* a comment has a blank before it */
	cut(p, from, to, (struct text){"", 0});
}

/* The last pair of several: with the comma before it. A comment between the two stays. */
static void cut_behind(struct promotion *p, size_t before, const struct pair *pair)
{
	size_t from = pair->key.from, comma = comma_in(p->source, before, from);

	if (comma == from || !memchr(p->source.data + comma, '#', from - comma)) {
		cut(p, before, pair_end(pair), (struct text){"", 0});
		return;
	}
	cut(p, comma, comma + 1, (struct text){"", 0});
	cut(p, from, pair_end(pair), (struct text){"", 0});
}

/* Takes one pair out of its map. */
static void remove_pair(struct promotion *p, const struct node *map, const struct pair *pair)
{
	size_t index = (size_t)(pair - map->pairs);

	if (!map->flow) {
		cut(p, line_start(p->source, pair->key.from), line_end(p->source, pair_end(pair)),
		    (struct text){"", 0});
	} else if (index + 1 < map->count) {
		cut_before(p, pair, map->pairs[index + 1].key.from);
	} else if (index > 0) {
		cut_behind(p, pair_end(&map->pairs[index - 1]), pair);
	} else {
		cut(p, pair->key.from, pair_end(pair), (struct text){"", 0});
	}
}

/* One word of the candidate: in place of the limit's own, or among what comes in the candidate's place. */
static void take_word(struct promotion *p, const struct node *limit, const struct pair *candidate,
		      const struct pair *word, struct text *fresh)
{
	size_t to = indent(p->source, candidate->key.from), from = indent(p->source, word->key.from);
	const struct pair *old = NULL;
	struct text value;

	for (size_t i = 0; i < limit->count; i++)
		if (text_equal(limit->pairs[i].key.text, word->key.text))
			old = &limit->pairs[i];
	value = value_text(p, &word->value, from, to);
	if (old)
		cut(p, colon(p, old), pair_end(old), value);
	else
		*fresh = arena_format(&p->load->arena, "%.*s%s%.*s:%.*s", (int)fresh->size, fresh->data,
				      !fresh->size  ? ""
				      : limit->flow ? ", "
						    : "\n",
				      (int)word->key.text.size, word->key.text.data, (int)value.size,
				      value.data);
}

static void promote_candidate(struct promotion *p, const struct node *limit, const struct pair *candidate)
{
	const struct node *node = &candidate->value;
	struct pair bare = {.key = {.kind = NODE_SCALAR, .text = TEXT("rate")}, .value = *node};
	const struct pair *words = node->kind == NODE_MAP ? node->pairs : &bare;
	size_t count = node->kind == NODE_MAP ? node->count : 1, column;
	struct text fresh = arena_text(&p->load->arena, "", 0), lines;

	bare.key.from = candidate->key.from;
	for (size_t i = 0; i < count; i++)
		if (!text_equal(words[i].key.text, TEXT("mode")))
			take_word(p, limit, candidate, &words[i], &fresh);
	if (!fresh.size) {
		remove_pair(p, limit, candidate);
		return;
	}
	if (limit->flow) {
		cut(p, candidate->key.from, pair_end(candidate), fresh);
		return;
	}
	/* each word on a line of its own, where the candidate began */
	column = indent(p->source, candidate->key.from);
	lines = arena_text(&p->load->arena, "", 0);
	for (size_t at = 0, end; at < fresh.size; at = end) {
		end = line_end(fresh, at);
		bool deeper = at > 0 && fresh.data[at] == ' '; /* a block's, indented already */
		lines = arena_format(&p->load->arena, "%.*s%*s%.*s", (int)lines.size, lines.data,
				     at > 0 && !deeper ? (int)column : 0, "", (int)(end - at),
				     fresh.data + at);
	}
	cut(p, candidate->key.from, pair_end(candidate), lines);
}

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static char *apply(struct promotion *p)
{
	size_t size = p->source.size + 1, used = 0, at = 0;
	char *out;

	for (size_t i = 0; i < p->count; i++)
		size += p->edits[i].text.size;
	out = malloc(size);
	if (!out)
		return NULL;
	qsort(p->edits, p->count, sizeof *p->edits, by_place);
	for (size_t i = 0; i < p->count; i++) {
		const struct edit *edit = &p->edits[i];

		if (edit->from < at)
			continue;
		memcpy(out + used, p->source.data + at, edit->from - at);
		used += edit->from - at;
		if (edit->text.size)
			memcpy(out + used, edit->text.data, edit->text.size);
		used += edit->text.size;
		at = edit->to;
	}
	memcpy(out + used, p->source.data + at, p->source.size - at);
	used += p->source.size - at;
	out[used] = '\0';
	return out;
}

static enum promote_result edit(struct promotion *p, const struct node *root, struct text name)
{
	const struct pair *limits = pair_of(root, "limits"), *found = NULL, *candidate, *mode;

	for (size_t i = 0; limits && limits->value.kind == NODE_MAP && i < limits->value.count; i++)
		if (text_equal(limits->value.pairs[i].key.text, name))
			found = &limits->value.pairs[i];
	if (!found)
		return PROMOTE_ELSEWHERE;
	candidate = pair_of(&found->value, "candidate");
	mode = pair_of(&found->value, "mode");
	if (candidate && candidate->value.kind != NODE_EMPTY) {
		promote_candidate(p, &found->value, candidate);
		return PROMOTE_CANDIDATE;
	}
	if (!mode || mode->value.kind != NODE_SCALAR)
		return PROMOTE_NOTHING;
	if (text_equal_folded(mode->value.text, TEXT("shadow"))) {
		remove_pair(p, &found->value, mode);
		return PROMOTE_SHADOW;
	}
	if (text_equal_folded(mode->value.text, TEXT("disabled")))
		return PROMOTE_DISABLED;
	for (size_t i = 0; i < mode->value.text.size; i++)
		if (mode->value.text.data[i] == '%') {
			cut(p, mode->value.from, mode->value.to, TEXT("enforce"));
			return PROMOTE_SHARE;
		}
	return PROMOTE_NOTHING;
}

static enum promote_result run(struct load *load, struct text text, struct text limit, char **out)
{
	const struct source *source = source_read(load, "policy", text, NULL, (struct model_mark){0});
	struct promotion *promotion = arena_alloc(&load->arena, sizeof *promotion);
	enum promote_result result;
	struct node root;

	if (!source || !yaml_read(load, source, &root))
		return PROMOTE_UNREADABLE;
	promotion->load = load;
	promotion->source = source->text;
	result = edit(promotion, &root, limit);
	if (promotion->count && !(*out = apply(promotion)))
		return PROMOTE_UNREADABLE;
	return result;
}

enum promote_result policy_promote(struct text text, struct text limit, char **out)
{
	struct load *load = calloc(1, sizeof *load);
	struct policy_options options = {.path = "policy"};
	volatile enum promote_result result = PROMOTE_UNREADABLE;

	*out = NULL;
	if (!load)
		return result;
	load->fd = -1;
	load->options = &options;
	if (setjmp(load->arena.out_of_memory) == 0)
		result = run(load, text, limit, out);
	yaml_abandon(load);
	arena_free(&load->arena);
	free(load);
	return result;
}
