/* SPDX-License-Identifier: BSD-2-Clause */
/* import_conf: directives and blocks. */
#include "cli/import_conf.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/import_token.h"

bool conf_wrong(struct conf *conf, struct conf_place place, const char *format, ...)
{
	char line[512];
	va_list arguments;
	if (conf->message)
		return false;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	conf->wrong_at = place;
	conf->message = arena_text(conf->arena, line, strlen(line)).data;
	return false;
}

static bool ends_with(struct text text, const char *tail)
{
	size_t size = strlen(tail);
	return text.size >= size && memcmp(text.data + text.size - size, tail, size) == 0;
}

static bool parse_block(struct conf_reader *r, struct conf_directive ***tail, bool inside);

static bool is_one_of(struct text word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(word, text_of(names[i])))
			return true;
	return false;
}

#define IS_ONE_OF(word, names) is_one_of(word, names, sizeof(names) / sizeof *(names))

static const char *const LIMITS[] = {"limit_req", "limit_conn", "limit_rate", "limit_req_zone",
				     "limit_conn_zone"};
/* What is never a block: a block behind one of these is the next directive's, and a ';' is missing. */
static const char *const SIMPLE[] = {"limit_req_status",
				     "limit_conn_status",
				     "limit_req_dry_run",
				     "limit_conn_dry_run",
				     "limit_req_log_level",
				     "limit_conn_log_level",
				     "limit_rate_after",
				     "include",
				     "listen",
				     "server_name",
				     "root",
				     "alias",
				     "index",
				     "try_files",
				     "error_page",
				     "return",
				     "rewrite",
				     "proxy_pass",
				     "fastcgi_pass",
				     "set_real_ip_from",
				     "real_ip_header"};

static bool no_semicolon(struct conf *conf, const struct conf_directive *directive)
{
	struct text name = directive->words[0];
	return conf_wrong(conf, directive->place, "the directive '%.*s' has no ';' at its end",
			  (int)(name.size < 60 ? name.size : 60), name.data);
}

/* Of a list that is too long nothing is kept. */
static bool skip_entry(struct conf_reader *r)
{
	struct conf_directive *list = r->conf->list;
	struct text word;
	enum conf_token token;

	list->cut = true;
	do
		token = conf_next(r, &word);
	while (token == CONF_WORD);
	return token == CONF_SEMICOLON || (token != CONF_BROKEN && no_semicolon(r->conf, list));
}

static bool parse_children(struct conf_reader *r, struct conf_directive *directive)
{
	static const char *const LISTS[] = {"map", "geo"};
	struct conf *conf = r->conf;
	struct conf_directive **children = &directive->children;
	struct conf_directive *outer = conf->list;
	unsigned before = conf->directives, end = conf->list_end;

	conf->list = IS_ONE_OF(directive->words[0], LISTS) ? directive : NULL;
	conf->list_end = before + CONF_ENTRIES_MAX < CONF_DIRECTIVES_MAX ? before + CONF_ENTRIES_MAX
									 : CONF_DIRECTIVES_MAX;
	bool good = parse_block(r, &children, true);
	conf->list = outer;
	conf->list_end = end;
	if (directive->cut) {
		directive->children = NULL;
		conf->directives = before;
	}
	return good;
}

/* The words of one directive, up to its ';' or block. */
static bool parse_directive(struct conf_reader *r, struct text first, struct conf_directive ***tail)
{
	struct conf *conf = r->conf;
	struct conf_directive *directive = arena_alloc(conf->arena, sizeof *directive);
	size_t capacity = 0;
	enum conf_token token = CONF_WORD;

	if (conf->list && (conf->list->cut || conf->directives >= conf->list_end))
		return skip_entry(r);
	if (++conf->directives > CONF_DIRECTIVES_MAX)
		return conf_wrong(conf, r->place, "more than %u directives", CONF_DIRECTIVES_MAX);
	directive->place = r->place;
	for (struct text word = first; token == CONF_WORD; token = conf_next(r, &word)) {
		directive->words = arena_grow(conf->arena, directive->words, directive->count, &capacity,
					      sizeof *directive->words);
		if (directive->count && r->place.line > directive->place.line && IS_ONE_OF(word, LIMITS))
			return no_semicolon(conf, directive);
		directive->words[directive->count++] = word;
	}
	if (token == CONF_SEMICOLON && text_equal(first, TEXT("include")) && directive->count == 2)
		return conf_include(conf, directive, tail);
	if (token == CONF_OPEN && (IS_ONE_OF(first, LIMITS) || IS_ONE_OF(first, SIMPLE)))
		return no_semicolon(conf, directive);
	if (token == CONF_OPEN) {
		size_t from = r->at;
		directive->block = true;
		if (!(ends_with(first, "_by_lua_block") ? conf_skip_lua(r) : parse_children(r, directive)))
			return false;
		directive->lua = ends_with(first, "_by_lua_block") &&
				 memmem(r->text.data + from, r->at - from, "resty.limit", 11);
	} else if (token != CONF_SEMICOLON) {
		return token == CONF_BROKEN ? false : no_semicolon(conf, directive);
	}
	**tail = directive;
	*tail = &directive->next;
	return true;
}

static bool parse_block(struct conf_reader *r, struct conf_directive ***tail, bool inside)
{
	struct text word;

	if (inside && ++r->conf->depth > CONF_DEPTH_MAX)
		return conf_wrong(r->conf, r->place, "blocks inside blocks, more than %u deep",
				  CONF_DEPTH_MAX);
	for (;;) {
		switch (conf_next(r, &word)) {
		case CONF_WORD:
			if (!parse_directive(r, word, tail))
				return false;
			break;
		case CONF_CLOSE:
			if (!inside)
				return conf_wrong(r->conf, r->place, "a '}' without its '{'");
			r->conf->depth--;
			return true;
		case CONF_END:
			return inside ? conf_wrong(r->conf, r->place,
						   "a '}' is missing before the end of the file")
				      : true;
		case CONF_BROKEN:
			return false;
		default:
			return conf_wrong(r->conf, r->place, "a '%c' without a directive",
					  r->text.data[r->at - 1]);
		}
	}
}

bool conf_parse(struct conf *conf, struct text text, const char *name, struct conf_directive ***tail)
{
	struct conf_reader reader = {
		.conf = conf, .text = text, .place = {.file = name, .order = conf->files++}, .line = 1};
	const char *nul = text.size ? memchr(text.data, '\0', text.size) : NULL;
	if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
		reader.place.line = reader.place.column = 1;
		return conf_wrong(conf, reader.place, "a byte order mark, which nginx refuses");
	}
	if (!nul)
		return parse_block(&reader, tail, false);
	for (const char *at = text.data; at < nul; at++) {
		reader.line += *at == '\n';
		reader.line_start = *at == '\n' ? (size_t)(at + 1 - text.data) : reader.line_start;
	}
	reader.place.line = reader.line;
	reader.place.column = (unsigned)((size_t)(nul - text.data) - reader.line_start + 1);
	return conf_wrong(conf, reader.place, "a NUL byte: this is no text");
}

const struct conf_directive *conf_last(const struct conf_directive *block, const char *name)
{
	const struct conf_directive *found = NULL;
	for (const struct conf_directive *child = block->children; child; child = child->next)
		if (conf_is(child, name))
			found = child;
	return found;
}
