/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path: one spelling for each path (B14), and every other way in which it can be read.
 *
 * Servers read a path differently: whether a backslash or an encoded slash separates, whether ;params are
 * cut off, whether empty segments are merged before dots are resolved or after. Each of these moves what a
 * `..` takes back, so no single reading finds every limit. The widest reading (all of them, in that order:
 * `/a/..;/login` is `/login`, as for Tomcat) is the one that keys and variables speak of. Where a target can
 * be read in more than one way, match.c asks for all of them.
 *
 * One pass in constant memory: a segment is kept up to IMAGE_SEGMENT_MAX bytes, which is all a pattern can
 * name of it, and what lies past the cut is only counted, so that a `..` after kilobytes of padding still
 * takes back the right segment.
 */
#include "flow/read.h"

struct segments {
	char *out;
	size_t used;   /* bytes of the finished segments that begin before the cut, a slash before each */
	size_t beyond; /* finished segments that begin past it */
	unsigned how;  /* enum flow_path_how */
	bool begun;    /* the root has been passed */
	bool differs;  /* something was read that another way reads differently */
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

/* The byte separates, in this reading. */
static bool separates(unsigned how, char c, bool escaped)
{
	if (c != '/' && !(c == '\\' && (how & FLOW_PATH_BACKSLASH)))
		return false;
	return !escaped || (how & FLOW_PATH_ESCAPED);
}

static void keep(struct segments *s, size_t size)
{
	size_t room;

	if (s->used >= IMAGE_PATH_MAX) {
		s->beyond++;
		return;
	}
	room = IMAGE_PATH_MAX - s->used - 1;
	s->out[s->used] = '/';
	s->used += 1 + (size < room ? size : room);
}

/* Reads one segment and its separator. True if the path up to here is a folder: the separator was there, or
 * the segment names nothing of its own (empty, `.`, `..`). */
static bool segment(struct segments *s, const char **at, const char *end)
{
	size_t room = s->used < IMAGE_PATH_MAX ? IMAGE_PATH_MAX - s->used - 1 : 0, size = 0;
	char *out = s->out + s->used + 1;
	bool dots = true, cut = false, closed = false, root = !s->begun;
	const char *from = *at;

	s->begun = true;
	if (room > IMAGE_SEGMENT_MAX)
		room = IMAGE_SEGMENT_MAX;
	while (from < end && size < room && plain(*from)) /* all there is to nearly every segment */
		out[size++] = *from++;
	if (size)
		dots = false;
	while (from < end) {
		bool escaped = *from == '%';
		char c = next(&from, end);

		closed = separates(s->how, c, escaped);
		s->differs |= c == '\\' || (c == '/' && escaped);
		if (closed)
			break;
		s->differs |= c == ';' || c == '\0';
		cut = cut || ((s->how & FLOW_PATH_PARAMS) && (c == ';' || c == '\0'));
		if (cut)
			continue;
		dots = dots && c == '.';
		if (size < room)
			out[size] = c;
		size++;
	}
	*at = from;
	s->differs |= size && dots;
	if (size == 0) {
		if (!root && !(s->how & FLOW_PATH_MERGED))
			keep(s, 0); /* one that a `..` can take back; merged at the end */
		return true;
	}
	if (dots && size <= 2 && (s->how & FLOW_PATH_RESOLVED)) {
		if (size == 2)
			take_back(s);
		return true;
	}
	keep(s, size < IMAGE_SEGMENT_MAX ? size : IMAGE_SEGMENT_MAX);
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
	while (at < target.size && (target.data[at] == '\0' || !strchr("/\\?#", target.data[at]))) {
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

/* Takes out the empty segments that were kept. */
static size_t merge(char *path, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++)
		if (path[i] != '/' || (i + 1 < size && path[i + 1] != '/'))
			path[used++] = path[i];
	return used;
}

bool flow_path_read(struct text target, unsigned how, struct flow_path *out, struct text *query)
{
	struct text path = path_of(target, query);
	struct segments s = {.out = out->exact, .how = how};
	const char *at = path.data, *end = at + path.size;
	bool folder = false;

	while (at < end)
		folder = segment(&s, &at, end);
	if (!(how & FLOW_PATH_MERGED))
		s.used = merge(out->exact, s.used);
	for (size_t i = 0; i < s.used; i++)
		out->folded[i] = text_lower(out->exact[i]);
	out->folded_size = s.used;
	if (s.used == IMAGE_PATH_MAX && out->folded[s.used - 1] == '/') /* cut right behind it */
		out->folded_size--;
	if (s.used == 0)
		out->folded[out->folded_size++] = '/';
	if (s.used == 0 || (folder && s.used < IMAGE_PATH_MAX))
		out->exact[s.used++] = '/';
	out->exact_size = s.used;
	out->exact[out->exact_size] = out->folded[out->folded_size] = '\0';
	return s.differs;
}

static bool known(const struct flow_path *path, const struct flow_path *const *readings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (readings[i]->exact_size == path->exact_size &&
		    memcmp(readings[i]->exact, path->exact, path->exact_size) == 0)
			return true;
	return false;
}

size_t flow_path_others(struct text target, const struct flow_path *widest, struct flow_path *out)
{
	const struct flow_path *seen[FLOW_PATH_OTHERS + 1] = {widest};
	struct text query;
	size_t count = 0;

	for (unsigned how = FLOW_PATH_WIDEST; how-- > FLOW_PATH_RESOLVED;) {
		flow_path_read(target, how, &out[count], &query);
		if (!known(&out[count], seen, count + 1)) {
			seen[count + 1] = &out[count];
			count++;
		}
	}
	flow_path_read(target, FLOW_PATH_LITERAL, &out[count], &query);
	return count + !known(&out[count], seen, count + 1);
}
