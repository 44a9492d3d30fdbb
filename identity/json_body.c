/* SPDX-License-Identifier: BSD-2-Clause */
/* json_body: what json_scan finds, gathered. */
#include "identity/json_body.h"
#include "identity/json_scan.h"
#include "identity/number.h"

_Static_assert(BODY_WISHES_MAX <= JSON_PATHS_MAX, "a path for each wish");

struct gathered {
	struct reading *reading;
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

/* The body itself, where an array is asked for: an object is one query, and not many. */
static bool is_one(const struct said *said, enum json_kind kind)
{
	return said->wish->what == BODY_COUNT && said->wish->name.size == 0 && kind != JSON_SCAN_ARRAY;
}

static void value(struct reading *reading, struct said *said, enum json_kind kind, struct text written,
		  uint32_t elements)
{
	char spelled[NUMBER_TEXT_MAX];

	if (kind == JSON_SCAN_NULL || is_one(said, kind))
		return;
	if (kind == JSON_SCAN_NUMBER && said->wish->what == BODY_FIELD)
		written = (struct text){spelled, number_spell(written, spelled)};
	if (kind == JSON_SCAN_ARRAY)
		said_count(reading, said, elements);
	else if (kind == JSON_SCAN_OBJECT)
		said->doubtful = true;
	else
		said_value(reading, said, written);
}

static void end(void *to, unsigned at, enum json_kind kind, uint32_t elements)
{
	struct gathered *gathered = to;
	struct reading *reading = gathered->reading;

	for (size_t i = 0; i < reading->count; i++)
		if (at >> i & 1)
			value(reading, &reading->said[i], kind, (struct text){gathered->data, gathered->size},
			      elements);
	gathered->size = 0;
}

void json_body_read(struct text body, bool whole, struct reading *reading)
{
	struct json_path paths[BODY_WISHES_MAX];
	struct gathered gathered;
	struct json_scan scan;
	const struct json_sink sink = {piece, end, &gathered};
	uint32_t elements;

	gathered.reading = reading;
	gathered.size = 0;
	for (size_t i = 0; i < reading->count; i++)
		paths[i].path = reading->said[i].wish->name;
	json_scan_begin_all(&scan, paths, (unsigned)reading->count);
	json_scan_feed(&scan, body.data, body.size, &sink);
	reading->doubtful |= whole ? !json_scan_end(&scan, &sink) : json_scan_failed(&scan);
	for (unsigned i = 0; i < reading->count; i++)
		reading->said[i].doubtful |= json_scan_counting(&scan, i, &elements);
}
