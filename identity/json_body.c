/* SPDX-License-Identifier: BSD-2-Clause */
/* json_body: what json_scan finds, gathered. */
#include "identity/json_body.h"
#include "identity/json_scan.h"
#include "identity/number.h"

struct gathered {
	struct said *said;
	size_t size;
	char data[BODY_MAX];
};

bool json_body_looks(struct text body)
{
	size_t at = body.size >= 3 && memcmp(body.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (at < body.size && body.data[at] && strchr(" \t\r\n", body.data[at]))
		at++;
	return at < body.size && (body.data[at] == '{' || body.data[at] == '[');
}

static void piece(void *to, const char *data, size_t size)
{
	struct gathered *gathered = to;

	memcpy(gathered->data + gathered->size, data, size); /* decoded, it is never longer than it was */
	gathered->size += size;
}

static void end(void *to, enum json_kind kind, uint32_t elements)
{
	struct gathered *gathered = to;
	char spelled[NUMBER_TEXT_MAX];
	struct text value = {gathered->data, gathered->size};

	(void)elements;
	gathered->size = 0;
	switch (kind) {
	case JSON_SCAN_NUMBER:
		if (gathered->said->text)
			value = (struct text){spelled, number_spell(value, spelled)};
		/* fall through */
	case JSON_SCAN_STRING:
	case JSON_SCAN_LITERAL:
		said_value(gathered->said, value);
		break;
	case JSON_SCAN_NULL:
		break;
	default:
		gathered->said->doubtful = true; /* ["alice"] is "alice" to some */
	}
}

void json_body_read(struct text body, bool whole, struct text path, struct said *said)
{
	struct gathered gathered;
	struct json_scan scan;
	const struct json_sink sink = {piece, end, &gathered};

	gathered.said = said;
	gathered.size = 0;
	json_scan_begin(&scan, path);
	json_scan_feed(&scan, body.data, body.size, &sink);
	said->doubtful |= whole ? !json_scan_end(&scan, &sink) : json_scan_failed(&scan);
}

struct counted {
	bool found;
	uint32_t elements;
};

static void no_piece(void *to, const char *data, size_t size)
{
	(void)to, (void)data, (void)size;
}

static void count(void *to, enum json_kind kind, uint32_t elements)
{
	struct counted *counted = to;

	if (kind == JSON_SCAN_ARRAY) {
		counted->elements = elements > counted->elements ? elements : counted->elements;
		counted->found = true;
	}
}

bool json_body_count(struct text body, bool whole, struct text path, uint32_t *out, bool *more)
{
	struct counted counted = {0};
	struct json_scan scan;
	const struct json_sink sink = {no_piece, count, &counted};
	uint32_t elements;

	json_scan_begin(&scan, path);
	json_scan_feed(&scan, body.data, body.size, &sink);
	if (whole ? !json_scan_end(&scan, &sink) : json_scan_failed(&scan))
		return false;
	*more = !whole && json_scan_counting(&scan, &elements);
	if (*more)
		count(&counted, JSON_SCAN_ARRAY, elements);
	*out = counted.elements;
	return counted.found;
}
