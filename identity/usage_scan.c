/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_scan: a stream of events taken apart (WHATWG HTML 9.2.6), its data and plain JSON read by json_scan. */
#include "identity/usage_scan.h"
#include "identity/media_type.h"
#include "identity/number.h"

enum kind { DOCUMENT, LINES, EVENTS };
enum line {
	FIELD, /* its name may still be "data" */
	SPACE, /* behind the colon: one space is not data */
	DATA,
	OTHER,
};

_Static_assert(sizeof(struct usage_scan) <= 512, "it is part of every request");

bool usage_scan_begin(struct usage_scan *scan, struct text content_type, struct text encoding,
		      struct text name)
{
	struct text type = media_type(content_type);

	memset(scan, 0, sizeof *scan);
	if (media_type_is_json(type))
		scan->kind = DOCUMENT;
	else if (text_equal_folded(type, TEXT("text/event-stream")))
		scan->kind = EVENTS;
	else if (text_equal_folded(type, TEXT("application/x-ndjson")))
		scan->kind = LINES;
	else
		return false;
	json_scan_begin(&scan->json, name);
	return !encoding.size || text_equal_folded(encoding, TEXT("identity"));
}

static void piece(void *to, const char *data, size_t size)
{
	struct usage_scan *scan = to;

	if (scan->size + size > USAGE_NUMBER_MAX) {
		scan->size = USAGE_NUMBER_MAX + 1;
		return;
	}
	memcpy(scan->number + scan->size, data, size);
	scan->size = (uint8_t)(scan->size + size);
}

static void ended(void *to, unsigned at, enum json_kind kind, uint32_t elements)
{
	struct usage_scan *scan = to;
	uint32_t amount;

	(void)at, (void)elements;
	if ((kind == JSON_SCAN_NUMBER || kind == JSON_SCAN_STRING) && scan->size <= USAGE_NUMBER_MAX &&
	    number_read((struct text){scan->number, scan->size}, &amount)) {
		scan->amount = amount;
		scan->found = true;
	}
	scan->size = 0;
}

static void feed(struct usage_scan *scan, const char *data, size_t size)
{
	const struct json_sink sink = {piece, ended, scan};

	json_scan_feed(&scan->json, data, size, &sink);
}

/* The document ends here, and the next one begins. */
static void next(struct usage_scan *scan)
{
	const struct json_sink sink = {piece, ended, scan};

	json_scan_end(&scan->json, &sink);
	json_scan_begin(&scan->json, scan->json.one.path);
	scan->size = 0;
}

static void lines(struct usage_scan *scan, const char *at, const char *end)
{
	while (at < end) {
		const char *feed_at = memchr(at, '\n', (size_t)(end - at));
		const char *stop = feed_at ? feed_at : end;
		feed(scan, at, (size_t)(stop - at));
		if (feed_at)
			next(scan);
		at = stop + (feed_at != NULL);
	}
}

static void data_line(struct usage_scan *scan)
{
	if (scan->has_data)
		feed(scan, "\n", 1);
	scan->has_data = true;
}

static void line_ended(struct usage_scan *scan)
{
	if (scan->line == FIELD && scan->matched == 4) {
		data_line(scan);
	} else if (scan->line == FIELD && scan->matched == 0 && scan->has_data) {
		next(scan);
		scan->has_data = false;
	}
	scan->line = FIELD;
	scan->matched = 0;
}

/* What is not yet known to be data, a byte at a time. */
static void field(struct usage_scan *scan, char c)
{
	static const char MARK[] = "\xef\xbb\xbf";

	if (scan->mark < 3 && c == MARK[scan->mark]) {
		scan->mark++;
		return;
	}
	bool garbled = scan->mark == 1 || scan->mark == 2;
	scan->mark = 3;
	if (scan->matched == 4 && c == ':') {
		data_line(scan);
		scan->line = SPACE;
	} else if (!garbled && scan->matched < 4 && c == "data"[scan->matched]) {
		scan->matched++;
	} else {
		scan->line = OTHER;
	}
}

static void events(struct usage_scan *scan, const char *at, const char *end)
{
	while (at < end) {
		char c = *at;
		bool swallow = scan->after_cr && c == '\n';
		scan->after_cr = c == '\r';
		if (swallow) {
			at++;
		} else if (c == '\r' || c == '\n') {
			line_ended(scan);
			scan->mark = 3;
			at++;
		} else if (scan->line == FIELD) {
			field(scan, c);
			at++;
		} else if (scan->line == SPACE) {
			scan->line = DATA;
			at += c == ' ';
		} else {
			const char *from = at;
			while (at < end && *at != '\r' && *at != '\n')
				at++;
			if (scan->line == DATA)
				feed(scan, from, (size_t)(at - from));
		}
	}
}

void usage_scan_feed(struct usage_scan *scan, const void *data, size_t size)
{
	const char *at = data;

	if (size > USAGE_SCAN_MAX - scan->seen)
		size = (size_t)(USAGE_SCAN_MAX - scan->seen);
	scan->seen += size;
	if (!size)
		return;
	if (scan->kind == EVENTS)
		events(scan, at, at + size);
	else if (scan->kind == LINES)
		lines(scan, at, at + size);
	else
		feed(scan, at, size);
}

bool usage_scan_found(const struct usage_scan *scan, uint32_t *out)
{
	*out = scan->amount;
	return scan->found;
}
