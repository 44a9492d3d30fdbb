/* SPDX-License-Identifier: BSD-2-Clause */
/* value: reading scalars. */
#include "policy/value.h"

#include <stdio.h>

#include "policy/load.h"
#include "policy/rate.h"

struct text value_trim(struct text text)
{
	while (text.size && (text.data[0] == ' ' || text.data[0] == '\t' || text.data[0] == '\n'))
		text.data++, text.size--;
	while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t' ||
			     text.data[text.size - 1] == '\n'))
		text.size--;
	return text;
}

bool value_text(struct load *load, const struct node *node, const char *what, struct text *out)
{
	switch (node->kind) {
	case NODE_SCALAR:
		*out = value_trim(node->text);
		if (out->size)
			return true;
		diag_error(load, node->mark, "'%s' is empty", what);
		return false;
	case NODE_EMPTY:
		diag_error(load, node->mark, "'%s' has no value", what);
		return false;
	case NODE_LIST:
		diag_error(load, node->mark, "'%s' is one value, not a list", what);
		return false;
	case NODE_MAP:
		diag_error(load, node->mark,
			   "'%s' is one value; this is a section (is a ': ' in it? then quote it)", what);
		return false;
	case NODE_BROKEN:
		break;
	}
	return false;
}

bool value_line(struct load *load, const struct node *node, const char *what, struct text *out)
{
	struct text text;
	if (!value_text(load, node, what, out))
		return false;
	text = *out;
	if (!memchr(text.data, '\n', text.size) && !memchr(text.data, '\t', text.size))
		return true;
	char *copy = arena_alloc(&load->arena, text.size + 1);
	for (size_t i = 0; i < text.size; i++)
		copy[i] = text.data[i] == '\n' || text.data[i] == '\t' ? ' ' : text.data[i];
	*out = (struct text){copy, text.size};
	return true;
}

static bool name_byte(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (!first && (c == '-' || c == '_' || c == '.'));
}

bool value_name(struct load *load, struct text text, struct model_mark mark, const char *what)
{
	bool good = text.size > 0 && text.size <= 64;
	for (size_t i = 0; good && i < text.size; i++)
		good = name_byte(text.data[i], i == 0);
	if (!good)
		diag_error(load, mark,
			   "'%.*s' cannot be the name of %s; it has 1 to 64 letters, digits, - _ . and "
			   "begins with a letter or digit",
			   SHOW(text), what);
	return good;
}

const char *value_grouped(struct load *load, uint32_t number)
{
	if (number < 10000)
		return arena_format(&load->arena, "%u", number).data;
	if (number < 1000000)
		return arena_format(&load->arena, "%u,%03u", number / 1000, number % 1000).data;
	return arena_format(&load->arena, "%u,%03u,%03u", number / 1000000, number / 1000 % 1000,
			    number % 1000)
		.data;
}

bool value_number(struct load *load, const struct node *node, const char *what, uint32_t min, uint32_t max,
		  uint32_t *out)
{
	struct text text;
	uint64_t number = 0;

	if (!value_text(load, node, what, &text))
		return false;
	/* 010 is eight for some readers of YAML and ten for others */
	bool good = text.size <= 10 && (text.data[0] != '0' || text.size == 1);
	for (size_t i = 0; good && i < text.size; i++) {
		good = text.data[i] >= '0' && text.data[i] <= '9';
		number = number * 10 + (uint64_t)(text.data[i] - '0');
	}
	if (!good)
		diag_error(load, node->mark, "'%s' is a whole number from %s to %s, not '%.*s'", what,
			   value_grouped(load, min), value_grouped(load, max), SHOW(text));
	else if (number < min || number > max)
		diag_error(load, node->mark, "'%s' is out of range: %s to %s", what, value_grouped(load, min),
			   value_grouped(load, max));
	else
		return *out = (uint32_t)number, true;
	return false;
}

bool value_flag(struct load *load, const struct node *node, const char *what, bool *out)
{
	static const char *const words[] = {"yes", "true", "on", "no", "false", "off"};
	struct text text;

	if (!value_text(load, node, what, &text))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (text_equal_folded(text, text_of(words[i])))
			return *out = i < 3, true;
	diag_error(load, node->mark, "'%s' is yes or no, not '%.*s'", what, SHOW(text));
	return false;
}

bool value_duration(struct load *load, const struct node *node, const char *what, uint64_t *ns)
{
	char why[256];
	struct text text;

	if (!value_text(load, node, what, &text))
		return false;
	if (duration_parse(text, ns, why, sizeof why))
		return true;
	diag_error(load, node->mark, "%s", why);
	return false;
}

/* Days since 1970-01-01 of a Gregorian date, counted from 1 March so that the leap day is the year's last. */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = month > 2 ? year : year - 1;
	int64_t m = month > 2 ? month - 3 : month + 9;
	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static int days_in(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return days[month - 1] + (month == 2 && leap);
}

/* Exactly `count` digits at *at. */
static bool digits(const char **at, int count, int *out)
{
	for (*out = 0; count > 0; count--, ++*at) {
		if (**at < '0' || **at > '9')
			return false;
		*out = *out * 10 + (**at - '0');
	}
	return true;
}

static bool read_date(const char *at, int64_t *out)
{
	int year, month, day, hour = 0, minute = 0, second = 0;

	if (!digits(&at, 4, &year) || *at++ != '-' || !digits(&at, 2, &month) || *at++ != '-' ||
	    !digits(&at, 2, &day))
		return false;
	if (*at == 'T' || *at == 't' || *at == ' ') {
		at++;
		if (!digits(&at, 2, &hour) || *at++ != ':' || !digits(&at, 2, &minute))
			return false;
		if (*at == ':' && (at++, !digits(&at, 2, &second)))
			return false;
		if (*at == 'Z' || *at == 'z')
			at++;
	}
	if (*at || year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
	    hour > 23 || minute > 59 || second > 59)
		return false;
	*out = days_of(year, month, day) * 86400 + (int64_t)(hour * 60 + minute) * 60 + second;
	return true;
}

bool value_date(struct load *load, const struct node *node, const char *what, int64_t *out)
{
	struct text text;

	if (!value_text(load, node, what, &text))
		return false;
	/* a copy, for its NUL: the text may end inside a longer one */
	if (text.size < 32 && read_date(arena_text(&load->arena, text.data, text.size).data, out))
		return true;
	diag_error(load, node->mark,
		   "'%s' is a date like 2027-01-01 or 2027-01-01T18:30:00Z (UTC), not '%.*s'", what,
		   SHOW(text));
	return false;
}

void value_each(struct load *load, const struct node *node, const char *what,
		void (*visit)(struct load *load, const struct node *item, void *context), void *context)
{
	if (node->kind == NODE_SCALAR) {
		visit(load, node, context);
	} else if (node->kind == NODE_LIST) {
		if (node->count == 0)
			diag_error(load, node->mark, "'%s' is an empty list; leave it out, or name something",
				   what);
		for (size_t i = 0; i < node->count; i++) {
			if (node->items[i].kind == NODE_SCALAR)
				visit(load, &node->items[i], context);
			else if (node->items[i].kind != NODE_BROKEN)
				diag_error(load, node->items[i].mark, "'%s' is a list of plain values", what);
		}
	} else if (node->kind != NODE_BROKEN) {
		diag_error(load, node->mark, "'%s' is a value or a list of values", what);
	}
}
