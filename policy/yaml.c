/* SPDX-License-Identifier: BSD-2-Clause */
/* yaml: libfyaml's events, gathered into a tree. (Its document interface would do, but looks words up by
 * walking.) */
#include "policy/yaml.h"

#include <libfyaml.h>
#include <stdlib.h>

#include "policy/env.h"
#include "policy/load.h"
#include "policy/utf8.h"

struct yaml {
	struct load *load;
	const struct source *source;
	struct fy_diag *diag;
	struct fy_parser *parser;
	struct fy_event *event;
	struct model_mark last; /* where the previous event ended: the place of a value that is not there */
	size_t ended;		/* the byte at which the last scalar or bracket ended */
	bool failed;
};

static void next(struct yaml *yaml)
{
	if (yaml->event)
		fy_parser_event_free(yaml->parser, yaml->event);
	yaml->event = fy_parser_parse(yaml->parser);
}

static enum fy_event_type type_of(const struct yaml *yaml)
{
	return yaml->event ? yaml->event->type : FYET_NONE;
}

static struct model_mark mark_of(struct yaml *yaml)
{
	const struct fy_mark *start = fy_event_start_mark(yaml->event), *end = fy_event_end_mark(yaml->event);
	struct model_mark mark = yaml->last;

	if (!start)
		return mark;
	mark.line = (unsigned)start->line + 1;
	mark.column = (unsigned)start->column + 1;
	mark.width = 1;
	if (end && end->line == start->line && end->column > start->column)
		mark.width = (unsigned)(end->column - start->column);
	yaml->last = mark;
	if (end) {
		yaml->last.line = (unsigned)end->line + 1;
		yaml->last.column = (unsigned)end->column + 1;
		yaml->last.width = 1;
	}
	return mark;
}

/* Where the event begins and ends; one that is not there is where the last one ended. */
static void span_of(struct yaml *yaml, struct node *node)
{
	const struct fy_mark *start = fy_event_start_mark(yaml->event), *end = fy_event_end_mark(yaml->event);

	node->from = node->to = yaml->ended;
	if (start && end && start->input_pos <= end->input_pos && end->input_pos <= yaml->source->text.size) {
		node->from = start->input_pos;
		node->to = end->input_pos;
	}
	yaml->ended = node->to;
}

/* What libfyaml calls a quoted scalar is what stands between its quotes. */
static void span_quotes(struct yaml *yaml, struct node *node)
{
	struct text text = yaml->source->text;

	if (!node->quoted || node->from == 0 || node->to >= text.size)
		return;
	char quote = text.data[node->to];
	if ((quote == '"' || quote == '\'') && text.data[node->from - 1] == quote) {
		node->from--;
		yaml->ended = ++node->to;
	}
}

/* The closing bracket; of a block, which has none, the end of what stands in it. */
static void span_end(struct yaml *yaml, struct node *node)
{
	const char *text = yaml->source->text.data;

	node->flow = node->from < node->to && (text[node->from] == '{' || text[node->from] == '[');
	if (node->flow) {
		struct node closing = {0};
		span_of(yaml, &closing);
		node->to = closing.to;
	} else {
		node->to = yaml->ended > node->to ? yaml->ended : node->to;
	}
}

static struct model_mark mark_of_token(struct yaml *yaml, struct fy_token *token)
{
	const struct fy_mark *start = fy_token_start_mark(token), *end = fy_token_end_mark(token);
	struct model_mark mark = mark_of(yaml);
	if (start && end && start->line == end->line && end->column > start->column) {
		mark.line = (unsigned)start->line + 1;
		mark.column = (unsigned)start->column + 1;
		mark.width = (unsigned)(end->column - start->column);
	}
	return mark;
}

static void refuse(struct yaml *yaml, struct model_mark mark, const char *say)
{
	if (!yaml->failed)
		diag_error(yaml->load, mark, "%s", say);
	yaml->failed = true;
}

static bool is_null(struct text text)
{
	return text.size == 0 || text_equal(text, TEXT("~")) || text_equal_folded(text, TEXT("null"));
}

static size_t letters(struct text text)
{
	size_t count = 0;
	uint32_t code;
	for (size_t at = 0, length; at < text.size; at += length ? length : 1, count++)
		length = utf8_next(text.data + at, text.size - at, &code);
	return count;
}

static void read_scalar(struct yaml *yaml, struct node *node, bool key)
{
	struct fy_token *token = fy_event_get_token(yaml->event);
	enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
	size_t size = 0;

	node->mark = mark_of(yaml);
	span_of(yaml, node);
	node->quoted = style != FYSS_PLAIN;
	span_quotes(yaml, node);
	if (style == FYSS_SINGLE_QUOTED) {
		const struct fy_mark *start = fy_event_start_mark(yaml->event);
		const struct fy_mark *end = fy_event_end_mark(yaml->event);
		size_t from = start ? start->input_pos : 0, to = end ? end->input_pos : 0;
		if (from <= to && to <= yaml->source->text.size)
			node->text = yaml_single_quoted(
				&yaml->load->arena, (struct text){yaml->source->text.data + from, to - from});
	} else {
		const char *data = token ? fy_token_get_text(token, &size) : NULL;
		node->text = arena_text(&yaml->load->arena, data, data ? size : 0);
	}
	node->kind = !node->quoted && is_null(node->text) ? NODE_EMPTY : NODE_SCALAR;
	for (size_t i = 0; i < node->text.size; i++) {
		unsigned char c = (unsigned char)node->text.data[i];
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
			diag_error(yaml->load, node->mark, "a control character, 0x%02x, in a value", c);
			node->text.size = i;
		}
	}
	const char *as_written = node->text.data;
	if (node->kind == NODE_SCALAR && !key && !env_expand(yaml->load, &node->text, node->mark))
		node->kind = NODE_BROKEN;
	node->verbatim = node->text.data == as_written && letters(node->text) == node->mark.width;
}

static void read_node(struct yaml *yaml, struct node *node, unsigned depth);

static void read_list(struct yaml *yaml, struct node *node, unsigned depth)
{
	size_t capacity = 0;
	for (next(yaml); !yaml->failed && type_of(yaml) != FYET_SEQUENCE_END; next(yaml)) {
		node->items = arena_grow(&yaml->load->arena, node->items, node->count, &capacity,
					 sizeof *node->items);
		node->items[node->count] = (struct node){0};
		read_node(yaml, &node->items[node->count++], depth + 1);
	}
}

static void read_map(struct yaml *yaml, struct node *node, unsigned depth)
{
	size_t capacity = 0;
	for (next(yaml); !yaml->failed && type_of(yaml) != FYET_MAPPING_END; next(yaml)) {
		node->pairs = arena_grow(&yaml->load->arena, node->pairs, node->count, &capacity,
					 sizeof *node->pairs);
		struct pair *pair = &node->pairs[node->count++];
		*pair = (struct pair){0};
		if (type_of(yaml) == FYET_SCALAR && fy_event_get_token(yaml->event))
			read_scalar(yaml, &pair->key, true);
		else if (type_of(yaml) == FYET_ALIAS || type_of(yaml) == FYET_NONE)
			read_node(yaml, &pair->key, depth + 1);
		else
			refuse(yaml, mark_of(yaml), "a word was expected before the ':'");
		pair->key.kind = NODE_SCALAR; /* `null:` is a word like any other */
		if (yaml->failed)
			return;
		next(yaml);
		read_node(yaml, &pair->value, depth + 1);
	}
	if (!yaml->failed)
		yaml_refuse_twins(yaml->load, node);
}

static void refuse_alias(struct yaml *yaml)
{
	size_t size = 0;
	const char *name = fy_token_get_text(fy_event_get_token(yaml->event), &size);
	struct model_mark mark = mark_of(yaml);
	struct text text = {name, name ? size : 0};

	/* The mark is the name's; the star stands before it. */
	mark.column -= mark.column > 1;
	mark.width++;
	refuse(yaml, mark,
	       arena_format(&yaml->load->arena, "an unquoted * begins a YAML alias; quote it: \"*%.*s\"",
			    SHOW(text))
		       .data);
}

static void read_node(struct yaml *yaml, struct node *node, unsigned depth)
{
	if (!yaml->event) { /* the parser's own finding follows */
		yaml->failed = true;
		return;
	}
	if (fy_event_get_anchor_token(yaml->event))
		refuse(yaml, mark_of_token(yaml, fy_event_get_anchor_token(yaml->event)),
		       "YAML anchors (&name) are not used in policies; write the value out");
	if (fy_event_get_tag_token(yaml->event))
		refuse(yaml, mark_of_token(yaml, fy_event_get_tag_token(yaml->event)),
		       "YAML tags (!name) are not used in policies; if the ! is meant, quote the value");
	if (depth > YAML_DEPTH_MAX)
		refuse(yaml, mark_of(yaml), "nested too deep");
	switch (type_of(yaml)) {
	case FYET_SCALAR:
		read_scalar(yaml, node, false);
		break;
	case FYET_ALIAS:
		refuse_alias(yaml);
		break;
	case FYET_SEQUENCE_START:
		node->kind = NODE_LIST;
		node->mark = mark_of(yaml);
		span_of(yaml, node);
		if (!yaml->failed)
			read_list(yaml, node, depth);
		if (!yaml->failed)
			span_end(yaml, node);
		break;
	case FYET_MAPPING_START:
		node->kind = NODE_MAP;
		node->mark = mark_of(yaml);
		span_of(yaml, node);
		if (!yaml->failed)
			read_map(yaml, node, depth);
		if (!yaml->failed)
			span_end(yaml, node);
		break;
	default:
		refuse(yaml, mark_of(yaml), "this cannot be read as YAML");
	}
}

/* The whole stream: nothing, or one document. */
static void read_stream(struct yaml *yaml, struct node *root)
{
	next(yaml);
	if (type_of(yaml) == FYET_STREAM_START)
		next(yaml);
	if (type_of(yaml) == FYET_DOCUMENT_START) {
		next(yaml);
		read_node(yaml, root, 0);
		next(yaml);
	}
	if (type_of(yaml) == FYET_DOCUMENT_END)
		next(yaml);
	if (type_of(yaml) == FYET_DOCUMENT_START)
		refuse(yaml, mark_of(yaml),
		       "a second document begins here ('---'); a policy is one document, use include:");
	if (yaml->failed || fy_parser_get_stream_error(yaml->parser))
		return;
	const struct fy_mark *end = yaml->event ? fy_event_end_mark(yaml->event) : NULL;
	if (type_of(yaml) != FYET_STREAM_END || !end || end->input_pos < yaml->source->text.size)
		refuse(yaml, yaml->last, "the text behind this place cannot be read as YAML");
}

static void report_parser(struct yaml *yaml)
{
	void *at = NULL;
	struct fy_diag_error *error = fy_diag_errors_iterate(yaml->diag, &at);
	if (error)
		yaml_trap(yaml->load, yaml->source, error->line > 0 ? (unsigned)error->line : 1,
			  error->column > 0 ? (unsigned)error->column : 1, error->msg ? error->msg : "");
	else
		diag_error(yaml->load, yaml->last, "this cannot be read as YAML");
}

void yaml_abandon(struct load *load)
{
	struct yaml *yaml = load->parser;
	if (!yaml)
		return;
	if (yaml->event)
		fy_parser_event_free(yaml->parser, yaml->event);
	fy_parser_destroy(yaml->parser);
	fy_diag_destroy(yaml->diag);
	load->parser = NULL;
}

bool yaml_read(struct load *load, const struct source *source, struct node *root)
{
	struct yaml *yaml = arena_alloc(&load->arena, sizeof *yaml);
	*yaml = (struct yaml){.load = load, .source = source, .last = {source->name, 1, 1, 1}};
	*root = (struct node){.mark = yaml->last};
	load->parser = yaml;

	struct fy_diag_cfg say;
	fy_diag_cfg_default(&say);
	say.fp = NULL;
	say.colorize = false;
	yaml->diag = fy_diag_create(&say);
	if (!yaml->diag)
		longjmp(load->arena.out_of_memory, 1);
	fy_diag_set_collect_errors(yaml->diag, true);
	/* Twins are found here, with places, in n log n. */
	struct fy_parse_cfg how = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 |
					    FYPCF_JSON_NONE | FYPCF_ALLOW_DUPLICATE_KEYS |
					    FYPCF_DISABLE_ACCELERATORS,
				   .diag = yaml->diag};
	yaml->parser = fy_parser_create(&how);
	if (!yaml->parser || fy_parser_set_string(yaml->parser, source->text.size ? source->text.data : "\n",
						  source->text.size ? source->text.size : 1) != 0)
		longjmp(load->arena.out_of_memory, 1);

	size_t before = load->diag.errors;
	read_stream(yaml, root);
	if (fy_parser_get_stream_error(yaml->parser))
		report_parser(yaml);
	bool good = !yaml->failed && !fy_parser_get_stream_error(yaml->parser);
	if (!good && load->diag.errors == before)
		diag_error(load, yaml->last, "this cannot be read as YAML");
	yaml_abandon(load);
	return good;
}

static int by_key(const void *a, const void *b)
{
	const struct pair *x = *(const struct pair *const *)a, *y = *(const struct pair *const *)b;
	size_t least = x->key.text.size < y->key.text.size ? x->key.text.size : y->key.text.size;
	int order = least ? memcmp(x->key.text.data, y->key.text.data, least) : 0;
	if (order)
		return order;
	if (x->key.text.size != y->key.text.size)
		return x->key.text.size < y->key.text.size ? -1 : 1;
	return x < y ? -1 : x > y;
}

void yaml_refuse_twins(struct load *load, struct node *map)
{
	if (map->count < 2)
		return;
	const struct pair **sorted = arena_alloc(&load->arena, map->count * sizeof(const struct pair *));
	bool twins = false;
	for (size_t i = 0; i < map->count; i++)
		sorted[i] = &map->pairs[i];
	qsort(sorted, map->count, sizeof(const struct pair *), by_key);
	for (size_t i = 1, first = 0; i < map->count; i++) {
		if (!text_equal(sorted[i]->key.text, sorted[first]->key.text)) {
			first = i;
			continue;
		}
		const struct model_mark *was = &sorted[first]->key.mark;
		diag_error(load, sorted[i]->key.mark, "'%.*s' stands twice; it is already at %s:%u:%u",
			   SHOW(sorted[i]->key.text), was->file, was->line, was->column);
		((struct pair *)sorted[i])->key.kind = NODE_EMPTY;
		twins = true;
	}
	if (!twins)
		return;
	size_t kept = 0;
	for (size_t i = 0; i < map->count; i++)
		if (map->pairs[i].key.kind != NODE_EMPTY)
			map->pairs[kept++] = map->pairs[i];
	map->count = kept;
}

struct model_mark yaml_mark_part(const struct node *node, struct text part)
{
	struct model_mark mark = node->mark;
	if (!node->verbatim || !part.size || part.data < node->text.data ||
	    part.data >= node->text.data + node->text.size)
		return mark;
	mark.column += (unsigned)letters(
		(struct text){node->text.data, (size_t)(part.data - node->text.data)});
	mark.width = (unsigned)letters(part);
	return mark;
}

const struct node *yaml_get(const struct node *map, const char *word)
{
	struct text name = text_of(word);
	if (map->kind == NODE_MAP)
		for (size_t i = 0; i < map->count; i++)
			if (text_equal(map->pairs[i].key.text, name))
				return &map->pairs[i].value;
	return NULL;
}
