/* SPDX-License-Identifier: BSD-2-Clause */
/* yaml_trap: the parser knows which rule was broken; the reader wants to know what to type. */
#include <stdio.h>

#include "policy/load.h"
#include "policy/utf8.h"

/* part of what libfyaml 0.7 says -> what we say; the first that fits */
static const struct {
	const char *said, *say;
} traps[] = {
	{"tab", "a tab; YAML is indented with spaces"},
	{"nested block mapping", "a second ': ' on one line; quote the value, or begin a new line"},
	{"without closing quote", "this quote is never closed"},
	{"invalid escape", "inside double quotes \\ begins an escape; use single quotes"},
	{"hex escape", "inside double quotes \\ begins an escape; use single quotes"},
	{"UTF8 escape", "inside double quotes \\ begins an escape; use single quotes"},
	{"without a closing bracket", "a '[' above is never closed"},
	{"flow mapping without", "a '{' above is never closed"},
	{"trailing content after", "something stands behind a closing quote; quote the whole value"},
	{"block scalar", "| and > begin a block of text in YAML; if they are meant, quote the value"},
	{"block sequence on the same line", "a list begins on a line of its own, or is written [a, b]"},
	{"multiline plain key", "the line below is indented deeper, but this word already has a value"},
	{"used as key", "a word before ':' stands on one line"},
	{"indentation", "the indentation fits no line above"},
	{"invalid value after mapping", "a ':' is missing, or the indentation fits no line above"},
	{"did not find expected key", "a list item among words; the indentation fits no line above"},
	{"wrongly indented flow", "a bracket above is never closed, or this line stands too far to the left"},
	{"missing comma", "a ',' or a closing bracket is missing"},
};

static bool has(const char *said, const char *part)
{
	return strstr(said, part) != NULL;
}

/* Byte offset of a column (from 1) in a line, at most its size. */
static size_t offset_of(struct text line, unsigned column)
{
	size_t at = 0;
	for (unsigned i = 1; i < column && at < line.size; i++) {
		uint32_t code;
		size_t length = utf8_next(line.data + at, line.size - at, &code);
		at += length ? length : 1;
	}
	return at;
}

static bool ends_value(char c)
{
	return c == ' ' || c == ',' || c == ']' || c == '}' || c == '\t';
}

/* The star that the parser took for an alias, at or before `column`. */
static void trap_alias(struct load *load, struct model_mark mark, struct text line)
{
	size_t at = offset_of(line, mark.column);
	while (at > 0 && (at >= line.size || line.data[at] != '*'))
		at--;
	size_t end = at;
	while (end < line.size && !ends_value(line.data[end]))
		end++;
	/* columns count characters; what stands before a star that begins a value may be anything */
	unsigned column = 1;
	while (offset_of(line, column) < at)
		column++;
	mark.column = column;
	mark.width = end > at ? (unsigned)(end - at) : 1;
	diag_error(load, mark, "an unquoted * begins a YAML alias; quote it: \"%.*s\"",
		   (int)(end > at ? end - at : 1), end > at ? line.data + at : "*");
}

/* `/a/{id}` or `${ENV}` inside brackets: the whole value, to be shown in quotes. */
static bool trap_brace(struct load *load, struct model_mark mark, struct text line)
{
	size_t at = offset_of(line, mark.column);
	if (at >= line.size || line.data[at] != '{' || at == 0 || strchr(" ,[{:", line.data[at - 1]))
		return false;
	size_t start = at, end = at;
	while (start > 0 && !strchr(" ,[{\"'", line.data[start - 1]))
		start--;
	/* further braces belong to it as well */
	for (unsigned open = 0; end < line.size; end++) {
		if (line.data[end] == '{')
			open++;
		else if (open == 0 && ends_value(line.data[end]))
			break;
		else if (line.data[end] == '}')
			open--;
	}
	struct text value = {line.data + start, end - start};
	mark.column -= (unsigned)(at - start) < mark.column ? (unsigned)(at - start) : mark.column - 1;
	mark.width = (unsigned)value.size;
	diag_error(load, mark, "inside [ ] and { } YAML keeps braces for itself; quote it: \"%.*s\"",
		   SHOW(value));
	return true;
}

void yaml_trap(struct load *load, const struct source *source, unsigned line, unsigned column,
	       const char *said)
{
	struct model_mark mark = {source->name, line, column, 1};
	struct text text = source_line(source, line);

	if (has(said, "alias")) {
		trap_alias(load, mark, text);
		return;
	}
	if (has(said, "missing comma") && trap_brace(load, mark, text))
		return;
	if (has(said, "plain scalar cannot start")) {
		size_t at = offset_of(text, column);
		diag_error(load, mark, "in YAML a value cannot begin with '%.*s'; quote it",
			   at < text.size ? 1 : 0, text.data ? text.data + at : "");
		return;
	}
	for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++)
		if (has(said, traps[i].said)) {
			diag_error(load, mark, "%s", traps[i].say);
			return;
		}
	diag_error(load, mark, "this cannot be read as YAML: %s", said);
}
