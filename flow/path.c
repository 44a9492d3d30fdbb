/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path: one spelling for each path (B14).
 *
 * Where servers read a path differently, this reading is the one that finds a limit more often: an encoded
 * slash separates (as it does for nginx, which routes by it), a backslash too (as for IIS and browsers), and
 * ;params go before dots are resolved, so that `/a/..;/login` is `/login` (as for Tomcat). Empty segments are
 * merged before dots are resolved (as nginx does). `%3B` and `%00` cut like their raw forms, because a proxy
 * that rewrites a path unescapes the first, and a backend written in C stops at the second.
 *
 * A backend that takes all of those literally is offered `/search/x%2F..%2F..%2Ffree`, searches for x, and
 * would not be limited. So a target that can be read in two ways is read literally too, and limits apply that
 * match either (match.c).
 *
 * One pass in constant memory: what lies past the cut is only counted, so that a `..` after kilobytes of
 * padding still takes back the right segment.
 */
#include "flow/read.h"

struct segments {
	char *out;
	size_t used;   /* bytes of the finished segments that begin before the cut, a slash before each */
	size_t beyond; /* finished segments that begin past it */
	bool literal;  /* only a plain slash separates, nothing is cut off or resolved */
	bool differs;  /* something was read that the other way reads differently */
};

static void take_back(struct segments *s)
{
	if (s->beyond) {
		s->beyond--;
		return;
	}
	while (s->used && s->out[--s->used] != '/')
		;
}

/* One byte of the path, decoded once. An invalid escape is its own text. */
static char next(const char **at, const char *end)
{
	char c = *(*at)++;
	int high, low;

	if (c != '%' || end - *at < 2)
		return c;
	high = read_hex((*at)[0]);
	low = read_hex((*at)[1]);
	if (high < 0 || low < 0)
		return c;
	*at += 2;
	return (char)(high << 4 | low);
}

/* Bytes that only stand for themselves. */
static bool plain(char c)
{
	static const bool special[256] = {
		['/'] = true, ['\\'] = true, ['%'] = true, [';'] = true, ['.'] = true, [0] = true};

	return !special[(unsigned char)c];
}

/* Reads one segment and its separator. True if the path up to here is a folder: the separator was there, or
 * the segment names nothing of its own (empty, `.`, `..`). */
static bool segment(struct segments *s, const char **at, const char *end)
{
	size_t room = s->used < IMAGE_PATH_MAX ? IMAGE_PATH_MAX - s->used - 1 : 0, size = 0;
	char *out = s->out + s->used + 1;
	bool dots = true, cut = false, closed = false;
	const char *from = *at;

	while (from < end && size < room && plain(*from)) /* all there is to nearly every segment */
		out[size++] = *from++;
	if (size)
		dots = false;
	while (from < end) {
		bool raw = *from == '/';
		char c = next(&from, end);

		closed = raw || (!s->literal && (c == '/' || c == '\\'));
		s->differs |= closed && !raw;
		if (closed)
			break;
		cut = cut || (!s->literal && (c == ';' || c == '\0'));
		if (cut)
			continue;
		dots = dots && c == '.';
		if (size < room)
			out[size] = c;
		size++;
	}
	*at = from;
	s->differs |= cut || (size && dots);
	if (size == 0)
		return true;
	if (dots && size <= 2 && !s->literal) {
		if (size == 2)
			take_back(s);
		return true;
	}
	if (s->used >= IMAGE_PATH_MAX) {
		s->beyond++;
	} else {
		s->out[s->used] = '/';
		s->used += 1 + (size < room ? size : room);
	}
	return closed;
}

bool flow_path_authority(struct text target, struct text *authority, struct text *rest)
{
	size_t at = 0, from;

	while (at < target.size &&
	       ((text_lower(target.data[at]) >= 'a' && text_lower(target.data[at]) <= 'z') ||
		(at && strchr("0123456789+-.", target.data[at]) && target.data[at])))
		at++;
	if (at == 0 || target.size - at < 3 || memcmp(target.data + at, "://", 3) != 0)
		return false;
	from = at += 3;
	while (at < target.size && !memchr("/\\?#", target.data[at], 4)) {
		if (target.data[at++] == '@')
			from = at;
	}
	*authority = (struct text){target.data + from, at - from};
	*rest = (struct text){target.data + at, target.size - at};
	return true;
}

/* What stands between authority and query, and the query. */
static struct text path_of(struct text target, struct text *query)
{
	struct text authority, path = target;
	const char *at;

	if (target.size && target.data[0] != '/')
		flow_path_authority(target, &authority, &path);
	*query = (struct text){NULL, 0};
	if (path.size && (at = memchr(path.data, '#', path.size)))
		path.size = (size_t)(at - path.data);
	if (path.size && (at = memchr(path.data, '?', path.size))) {
		*query = (struct text){at + 1, path.size - (size_t)(at + 1 - path.data)};
		path.size = (size_t)(at - path.data);
	}
	if (text_equal(path, TEXT("*"))) /* OPTIONS for the server itself */
		path.size = 0;
	return path;
}

/* The way through all segments. True if the other way leads elsewhere. */
static bool follow(struct text path, bool literal, char *exact, size_t *exact_size, char *folded,
		   size_t *folded_size)
{
	struct segments s = {.out = exact, .literal = literal};
	const char *at = path.data, *end = at + path.size;
	bool folder = false;

	while (at < end)
		folder = segment(&s, &at, end);
	for (size_t i = 0; i < s.used; i++)
		folded[i] = text_lower(exact[i]);
	*folded_size = s.used;
	if (s.used == IMAGE_PATH_MAX && folded[s.used - 1] == '/') /* cut right behind it */
		(*folded_size)--;
	if (s.used == 0)
		folded[(*folded_size)++] = '/';
	if (s.used == 0 || (folder && s.used < IMAGE_PATH_MAX))
		exact[s.used++] = '/';
	*exact_size = s.used;
	exact[*exact_size] = folded[*folded_size] = '\0';
	return s.differs;
}

bool flow_path_normalise(struct text target, char *exact, size_t *exact_size, char *folded,
			 size_t *folded_size, struct text *query)
{
	return follow(path_of(target, query), false, exact, exact_size, folded, folded_size);
}

void flow_path_literal(struct text target, char *exact, size_t *exact_size, char *folded, size_t *folded_size)
{
	struct text query;

	follow(path_of(target, &query), true, exact, exact_size, folded, folded_size);
}
