/* SPDX-License-Identifier: BSD-2-Clause */
/* import_regex: those regular expressions that are a list of texts: ^/(login|admin)/, ^GET$, ^/users/[^/]+/avatar$. Anything else
 * is left alone rather than guessed at. */
#include "cli/import_model.h"

#define TEXTS_MAX 64u
#define SIZE_MAX_ 500u

struct reading {
	struct import_model *model;
	struct text text;
	size_t at;
	unsigned depth;
	struct import_regex *out;
	bool bad, stop; /* stop: nothing may follow */
};

static int look(const struct reading *r, size_t ahead)
{
	return r->at + ahead < r->text.size ? (unsigned char)r->text.data[r->at + ahead] : -1;
}

static bool take(struct reading *r, const char *what)
{
	struct text rest;
	if (!import_begins((struct text){r->text.data + r->at, r->text.size - r->at}, what, &rest))
		return false;
	r->at += strlen(what);
	return true;
}

/* Each of `heads` before each of `tails`. */
static void multiply(struct reading *r, struct import_texts *heads, const struct import_texts *tails)
{
	struct import_texts out = {0};
	if (heads->count * tails->count > TEXTS_MAX) {
		r->bad = true;
		return;
	}
	for (size_t i = 0; i < heads->count; i++)
		for (size_t k = 0; k < tails->count; k++) {
			struct text a = heads->items[i], b = tails->items[k];
			char *both = arena_alloc(r->model->arena, a.size + b.size + 1);
			if (a.size + b.size > SIZE_MAX_) {
				r->bad = true;
				return;
			}
			memcpy(both, a.data, a.size);
			memcpy(both + a.size, b.data, b.size);
			import_push(r->model, &out, (struct text){both, a.size + b.size});
		}
	*heads = out;
}

static void one(struct reading *r, struct import_texts *out, char c)
{
	import_push(r->model, out, arena_text(r->model->arena, &c, 1));
}

/* The members of [...], if they are few; `any`: it is all but a '/', `wide`: it is something else that has no '/'. */
static void class(struct reading *r, struct import_texts *out, bool *any, bool *wide)
{
	bool not_slash = take(r, "^/]");
	*any = not_slash;
	*wide = false;
	while (!not_slash && !r->bad && look(r, 0) != ']') {
		int c = look(r, 0), last = c;
		if (c == -1 || c == '[' || c == '^') {
			r->bad = true;
			return;
		}
		if (c == '\\') {
			c = last = look(r, 1);
			r->at += 2;
			if (c == 'd' || c == 'w') {
				*wide = true;
				continue;
			}
			if (c == -1 || (text_lower((char)c) >= 'a' && text_lower((char)c) <= 'z'))
				r->bad = true;
		} else if (look(r, 1) == '-' && look(r, 2) != ']') {
			last = look(r, 2);
			r->at += 3;
		} else {
			r->at++;
		}
		for (int i = c; i <= last && !r->bad; i++) {
			r->bad |= i == '/';
			if (out->count < TEXTS_MAX)
				one(r, out, (char)i);
			else
				*wide = true;
		}
	}
	if (!not_slash)
		r->at++;
}

static void sequence(struct reading *r, struct import_texts *out);

/* a|b|c up to the ')' of a group, which is eaten. */
static void group(struct reading *r, struct import_texts *out)
{
	if (take(r, "?:"))
		;
	else if (look(r, 0) == '?')
		r->bad = true;
	if (++r->depth > 8)
		r->bad = true;
	while (!r->bad) {
		struct import_texts branch = {0};
		sequence(r, &branch);
		for (size_t i = 0; i < branch.count; i++)
			import_push(r->model, out, branch.items[i]);
		if (take(r, "|"))
			continue;
		r->bad |= !take(r, ")") || out->count > TEXTS_MAX;
		break;
	}
	r->depth--;
}

/* Anything, up to the end. */
static bool rest(struct reading *r)
{
	static const char *const RESTS[] = {".*$", ".*", ".+$", ".+", "(.*)$", "(.*)", "(.+)$", "(.+)"};
	for (size_t i = 0; i < sizeof RESTS / sizeof *RESTS; i++)
		if (take(r, RESTS[i]))
			return true;
	return false;
}

/* How the value ends, where only that can follow. */
static bool ending(struct reading *r)
{
	static const char *const BELOW[] = {"(/|$)", "(?:/|$)", "($|/)", "(?:$|/)", "(/.*)?$", "(?:/.*)?$"};
	for (size_t i = 0; i < sizeof BELOW / sizeof *BELOW; i++)
		if (take(r, BELOW[i])) {
			rest(r);
			return r->out->below = true;
		}
	if (rest(r))
		return true;
	return take(r, "$") ? (r->out->ends = true) : false;
}

static bool after_slash(const struct import_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!texts->items[i].size || texts->items[i].data[texts->items[i].size - 1] != '/')
			return false;
	return true;
}

/* One thing and what says how often it comes. */
static void atom(struct reading *r, struct import_texts *heads)
{
	struct import_texts tails = {0};
	bool any = false, wide = false, is_class = false;
	int c = look(r, 0);

	r->at++;
	if (c == '(') {
		group(r, &tails);
	} else if (c == '[') {
		class(r, &tails, &any, &wide);
		is_class = true;
	} else if (c == '\\') {
		int next = look(r, 0);
		r->at += next != -1;
		if (next == 'd' || next == 'w')
			is_class = wide = true;
		else if (next == -1 || (next >= '0' && next <= '9') ||
			 (text_lower((char)next) >= 'a' && text_lower((char)next) <= 'z'))
			r->bad = true;
		else
			one(r, &tails, (char)next);
	} else if (strchr(".*+?{}^$", c)) {
		r->bad = true;
	} else {
		one(r, &tails, (char)c);
	}
	if (is_class && take(r, "+")) {
		/* it must be a whole segment */
		int next = look(r, 0);
		r->bad |= r->depth > 0 || !after_slash(heads) || (next != '/' && next != '$' && next != -1);
		r->out->wider |= !any;
		tails = (struct import_texts){0};
		one(r, &tails, IMPORT_ANY);
	} else if (any || wide) {
		r->bad = true;
	} else if (take(r, "?")) {
		import_push(r->model, &tails, TEXT(""));
	}
	c = look(r, 0);
	r->bad |= c != -1 && strchr("*+?{", c) != NULL;
	if (!r->bad)
		multiply(r, heads, &tails);
}

static void sequence(struct reading *r, struct import_texts *out)
{
	import_push(r->model, out, TEXT(""));
	while (!r->bad && r->at < r->text.size && look(r, 0) != '|' && look(r, 0) != ')') {
		if (r->depth == 0 && ending(r)) {
			r->bad |= r->at < r->text.size && look(r, 0) != '|';
			return;
		}
		atom(r, out);
	}
	r->bad |= r->depth == 0 && look(r, 0) == ')';
}

bool import_regex(struct import_model *model, struct text regex, struct import_regex *out)
{
	struct reading r = {.model = model, .text = regex, .out = out};
	bool first = true;

	*out = (struct import_regex){0};
	if (!regex.data)
		r.text = regex = TEXT("");
	if (regex.size > SIZE_MAX_ || memchr(regex.data, '\0', regex.size) ||
	    memchr(regex.data, IMPORT_ANY, regex.size))
		return false;
	while (!r.bad) {
		struct import_texts branch = {0};
		struct import_regex before = *out;
		out->begins = out->ends = out->below = false;
		out->begins = take(&r, "^");
		sequence(&r, &branch);
		if (!first &&
		    (before.begins != out->begins || before.ends != out->ends || before.below != out->below))
			return false;
		for (size_t i = 0; i < branch.count; i++)
			import_push(model, &out->texts, branch.items[i]);
		first = false;
		if (!take(&r, "|"))
			break;
	}
	return !r.bad && r.at == regex.size && out->texts.count <= TEXTS_MAX;
}

bool import_regex_paths(struct import_model *model, const struct import_regex *regex,
			struct import_texts *out, bool *textual)
{
	for (size_t i = 0; i < regex->texts.count; i++) {
		struct text text = regex->texts.items[i], pattern;
		char last = text.size ? text.data[text.size - 1] : '\0';
		bool whole = text_equal(text, TEXT("/")), open = !regex->ends && !regex->below;
		if (!regex->begins || !text.size || text.data[0] != '/')
			return false;
		if (open && last != '/' && last != IMPORT_ANY)
			*textual = true;
		pattern = import_pattern(model, text, regex->ends ? "" : last == '/' ? "*" : "/*");
		if (!pattern.size)
			return false;
		import_push(model, out, whole && !regex->ends ? TEXT("") : pattern);
	}
	return out->count > 0;
}
