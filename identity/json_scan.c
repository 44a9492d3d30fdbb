/* SPDX-License-Identifier: BSD-2-Clause */
/* json_scan: one state for each place in the grammar; a stack of bits says what is to be closed. */
#include "identity/field_name.h"
#include "identity/json_scan.h"

enum state {
	START, /* before the document: a byte order mark may stand there */
	MARK_2,
	MARK_3,
	VALUE,
	FIRST,	    /* a value, or `]` */
	NAME,	    /* behind a comma */
	FIRST_NAME, /* a name, or `}` */
	COLON,
	AFTER, /* a value has ended */
	STRING,
	ESCAPE,
	HEX,
	LITERAL,
	MINUS,
	ZERO,
	WHOLE,
	POINT,
	FRACTION,
	E,
	E_SIGN,
	EXPONENT,
	FAILED,
};

static const char *const LITERALS[] = {"true", "false", "null"};

static struct json_path *path_of(struct json_scan *scan, unsigned i)
{
	return scan->paths ? &scan->paths[i] : &scan->one;
}

/* Bits of the paths at whose end, or on whose way, the document itself is. */
static void begin(struct json_scan *scan)
{
	for (unsigned i = 0; i < scan->count; i++) {
		struct json_path *path = path_of(scan, i);
		json_path_begin(path);
		if (path->path.size)
			scan->on |= (uint8_t)(1u << i);
		else
			scan->last |= (uint8_t)(1u << i);
	}
}

void json_scan_begin(struct json_scan *scan, struct text path)
{
	memset(scan, 0, offsetof(struct json_scan, name));
	scan->one.path = path;
	scan->count = 1;
	begin(scan);
}

void json_scan_begin_all(struct json_scan *scan, struct json_path *paths, unsigned count)
{
	memset(scan, 0, offsetof(struct json_scan, name));
	scan->paths = paths;
	scan->count = count;
	begin(scan);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool in_array(const struct json_scan *scan)
{
	unsigned level = scan->depth - 1u;

	return scan->depth && (scan->arrays[level / 64] >> level % 64 & 1);
}

static void emit(struct json_scan *scan, const char *data, size_t size, const struct json_sink *sink)
{
	if (scan->reports) {
		sink->piece(sink->to, data, size);
	} else if (scan->compares) {
		if (scan->name_size + size > JSON_NAME_MAX) {
			scan->name_size = JSON_NAME_MAX + 1;
			return;
		}
		memcpy(scan->name + scan->name_size, data, size);
		scan->name_size = (uint8_t)(scan->name_size + size);
	}
}

static void emit_code(struct json_scan *scan, uint32_t code, const struct json_sink *sink)
{
	char out[4];
	size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = size - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	out[0] = (char)(size == 1 ? code : (0xf00u >> size & 0xff) | code);
	emit(scan, out, size, sink);
}

/* A first surrogate that no second one follows. */
static void alone(struct json_scan *scan, const struct json_sink *sink)
{
	if (scan->high) {
		scan->high = 0;
		emit_code(scan, 0xfffd, sink);
	}
}

static void name_ended(struct json_scan *scan)
{
	struct text name = {scan->name, scan->name_size};

	for (unsigned i = 0; scan->compares && scan->name_size <= JSON_NAME_MAX && i < scan->count; i++) {
		const struct json_path *path = path_of(scan, i);
		if (path->follow != scan->depth || !field_name_is_member(name, path->wanted))
			continue;
		if (path->last)
			scan->last |= (uint8_t)(1u << i);
		else
			scan->on |= (uint8_t)(1u << i);
	}
	scan->is_name = scan->compares = false;
	scan->state = COLON;
}

static void scalar_ended(struct json_scan *scan, enum json_kind kind, const struct json_sink *sink)
{
	if (scan->reports)
		sink->end(sink->to, scan->reports, kind, 0);
	scan->reports = 0;
	scan->state = AFTER;
}

static void string_begins(struct json_scan *scan, bool is_name)
{
	scan->is_name = is_name;
	scan->compares = false;
	for (unsigned i = 0; is_name && scan->depth <= scan->top && i < scan->count; i++)
		scan->compares |= path_of(scan, i)->follow == scan->depth;
	scan->name_size = 0;
	scan->state = STRING;
}

static void open(struct json_scan *scan, bool array)
{
	unsigned level = scan->depth;

	if (level == JSON_DEPTH_MAX) {
		scan->state = FAILED;
		return;
	}
	uint64_t bit = UINT64_C(1) << level % 64;
	scan->arrays[level / 64] = array ? scan->arrays[level / 64] | bit : scan->arrays[level / 64] & ~bit;
	scan->depth++;
	scan->state = array ? FIRST : FIRST_NAME;
}

/* The container that closes is on a path, or counted. */
static void left(struct json_scan *scan, const struct json_sink *sink)
{
	unsigned counted = 0;
	uint32_t elements = 0;

	scan->top = 0;
	for (unsigned i = 0; i < scan->count; i++) {
		struct json_path *path = path_of(scan, i);
		if (path->counts == scan->depth) {
			path->counts = 0;
			counted |= 1u << i;
			elements = path->elements;
		}
		if (path->follow == scan->depth)
			json_path_follow(path, scan->depth - 1u);
		scan->top = path->follow > scan->top ? path->follow : scan->top;
		scan->top = path->counts > scan->top ? path->counts : scan->top;
	}
	if (counted)
		sink->end(sink->to, counted, JSON_SCAN_ARRAY, elements);
}

static void close(struct json_scan *scan, bool array, const struct json_sink *sink)
{
	if (!scan->depth || in_array(scan) != array) {
		scan->state = FAILED;
		return;
	}
	if (scan->depth <= scan->top)
		left(scan, sink);
	scan->depth--;
	scan->state = AFTER;
}

static void value_begins(struct json_scan *scan, char c, const struct json_sink *sink)
{
	unsigned on = scan->on, last = scan->last;

	scan->on = scan->last = 0;
	for (unsigned i = 0; scan->depth && scan->depth <= scan->top && i < scan->count; i++) {
		struct json_path *path = path_of(scan, i);
		path->elements += path->counts == scan->depth && path->elements < UINT32_MAX;
	}
	if (c == '{') {
		if (last)
			sink->end(sink->to, last, JSON_SCAN_OBJECT, 0);
		open(scan, false);
		for (unsigned i = 0; on; i++, on >>= 1)
			if (on & 1) {
				json_path_follow(path_of(scan, i), scan->depth);
				scan->top = scan->depth;
			}
		return;
	}
	if (c == '[') {
		open(scan, true);
		for (unsigned i = 0; last; i++, last >>= 1)
			if (last & 1) {
				path_of(scan, i)->counts = scan->top = scan->depth;
				path_of(scan, i)->elements = 0;
			}
		return;
	}
	scan->reports = (uint8_t)last;
	if (c == '"') {
		string_begins(scan, false);
		return;
	}
	scan->step = 1;
	scan->literal = c == 't' ? 0 : c == 'f' ? 1 : 2;
	scan->state = c == '-'				 ? MINUS
		      : c == '0'			 ? ZERO
		      : is_digit(c)			 ? WHOLE
		      : c == 't' || c == 'f' || c == 'n' ? LITERAL
							 : FAILED;
	emit(scan, &c, 1, sink);
}

/* The run of a string up to what is special in it. Returns where to go on. */
static const char *string(struct json_scan *scan, const char *at, const char *end,
			  const struct json_sink *sink)
{
	const char *from = at;

	while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
		at++;
	if (at > from) {
		alone(scan, sink);
		emit(scan, from, (size_t)(at - from), sink);
	}
	if (at == end)
		return at;
	if (*at == '\\') {
		scan->state = ESCAPE;
	} else if (*at == '"') {
		alone(scan, sink);
		if (scan->is_name)
			name_ended(scan);
		else
			scalar_ended(scan, JSON_SCAN_STRING, sink);
	} else {
		scan->state = FAILED;
	}
	return at + 1;
}

static void escape(struct json_scan *scan, char c, const struct json_sink *sink)
{
	static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";

	scan->state = STRING;
	if (c == 'u') {
		scan->state = HEX;
		scan->code = 0;
		scan->step = 0;
		return;
	}
	const char *found = c ? strchr(FROM, c) : NULL;
	if (!found) {
		scan->state = FAILED;
		return;
	}
	alone(scan, sink);
	emit(scan, &TO[found - FROM], 1, sink);
}

static void hex(struct json_scan *scan, char c, const struct json_sink *sink)
{
	char low = text_lower(c);

	if (!is_digit(c) && (low < 'a' || low > 'f')) {
		scan->state = FAILED;
		return;
	}
	scan->code = scan->code << 4 | (uint32_t)(is_digit(c) ? c - '0' : low - 'a' + 10);
	if (++scan->step < 4)
		return;
	scan->state = STRING;
	if (scan->code >= 0xdc00 && scan->code < 0xe000 && scan->high) {
		uint32_t code = 0x10000 + ((scan->high - 0xd800) << 10) + (scan->code - 0xdc00);
		scan->high = 0;
		emit_code(scan, code, sink);
		return;
	}
	alone(scan, sink);
	if (scan->code >= 0xd800 && scan->code < 0xdc00)
		scan->high = scan->code;
	else
		emit_code(scan, scan->code >= 0xdc00 && scan->code < 0xe000 ? 0xfffd : scan->code, sink);
}

static void literal(struct json_scan *scan, char c, const struct json_sink *sink)
{
	const char *word = LITERALS[scan->literal];

	if (c != word[scan->step]) {
		scan->state = FAILED;
		return;
	}
	emit(scan, &c, 1, sink);
	if (!word[++scan->step])
		scalar_ended(scan, scan->literal == 2 ? JSON_SCAN_NULL : JSON_SCAN_LITERAL, sink);
}

static bool number_may_end(const struct json_scan *scan)
{
	return scan->state == ZERO || scan->state == WHOLE || scan->state == FRACTION ||
	       scan->state == EXPONENT;
}

/* True: `c` belongs to the number. */
static bool number(struct json_scan *scan, char c, const struct json_sink *sink)
{
	enum state next = FAILED;

	switch (scan->state) {
	case MINUS:
		next = c == '0' ? ZERO : is_digit(c) ? WHOLE : FAILED;
		break;
	case WHOLE:
	case ZERO:
		if (is_digit(c) && scan->state == WHOLE)
			next = WHOLE;
		else if (c == '.')
			next = POINT;
		else if (c == 'e' || c == 'E')
			next = E;
		break;
	case POINT:
	case FRACTION:
		if (is_digit(c))
			next = FRACTION;
		else if (scan->state == FRACTION && (c == 'e' || c == 'E'))
			next = E;
		break;
	default: /* E, E_SIGN, EXPONENT */
		if (is_digit(c))
			next = EXPONENT;
		else if (scan->state == E && (c == '+' || c == '-'))
			next = E_SIGN;
	}
	if (next != FAILED) {
		emit(scan, &c, 1, sink);
		scan->state = (uint8_t)next;
		return true;
	}
	if (number_may_end(scan))
		scalar_ended(scan, JSON_SCAN_NUMBER, sink);
	else
		scan->state = FAILED;
	return false;
}

/* Between the values. */
static void between(struct json_scan *scan, char c, const struct json_sink *sink)
{
	if (scan->state == START && c == '\xef') {
		scan->state = MARK_2;
		return;
	}
	if (scan->state == MARK_2 || scan->state == MARK_3) {
		bool good = c == (scan->state == MARK_2 ? '\xbb' : '\xbf');
		scan->state = !good ? FAILED : scan->state == MARK_2 ? MARK_3 : VALUE;
		return;
	}
	if (is_space(c)) {
		if (scan->state == START)
			scan->state = VALUE;
		return;
	}
	switch (scan->state) {
	case FIRST:
		if (c == ']') {
			close(scan, true, sink);
			return;
		}
		/* fall through */
	case START:
	case VALUE:
		value_begins(scan, c, sink);
		return;
	case FIRST_NAME:
		if (c == '}') {
			close(scan, false, sink);
			return;
		}
		/* fall through */
	case NAME:
		if (c == '"')
			string_begins(scan, true);
		else
			scan->state = FAILED;
		return;
	case COLON:
		scan->state = c == ':' ? VALUE : FAILED;
		return;
	default: /* AFTER */
		if (c == ',' && scan->depth)
			scan->state = in_array(scan) ? VALUE : NAME;
		else if (c == '}' || c == ']')
			close(scan, c == ']', sink);
		else
			scan->state = FAILED;
	}
}

void json_scan_feed(struct json_scan *scan, const void *data, size_t size, const struct json_sink *sink)
{
	const char *at = data, *end = at + size;

	while (at < end && scan->state != FAILED) {
		switch (scan->state) {
		case STRING:
			at = string(scan, at, end, sink);
			break;
		case ESCAPE:
			escape(scan, *at++, sink);
			break;
		case HEX:
			hex(scan, *at++, sink);
			break;
		case LITERAL:
			literal(scan, *at++, sink);
			break;
		case MINUS:
		case ZERO:
		case WHOLE:
		case POINT:
		case FRACTION:
		case E:
		case E_SIGN:
		case EXPONENT:
			at += number(scan, *at, sink);
			break;
		default:
			between(scan, *at++, sink);
		}
	}
}

bool json_scan_end(struct json_scan *scan, const struct json_sink *sink)
{
	if (number_may_end(scan) && !scan->depth)
		scalar_ended(scan, JSON_SCAN_NUMBER, sink);
	return scan->state == AFTER && !scan->depth;
}

bool json_scan_failed(const struct json_scan *scan)
{
	return scan->state == FAILED;
}

bool json_scan_counting(const struct json_scan *scan, unsigned path, uint32_t *elements)
{
	const struct json_path *at = scan->paths ? &scan->paths[path] : &scan->one;

	*elements = at->elements;
	return at->counts && scan->state != FAILED;
}
