/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * body: any request body. The first byte chooses type and name, the second how it is cut.
 *
 * JSON in pieces says what it says in one; nothing that is found is longer than it may be; asking twice gives the same; and a body
 * that ends says no less than one that goes on after the same bytes.
 */
#include <stdlib.h>

#include "identity/body.h"
#include "identity/json_scan.h"
#include "identity/normalise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct text types[] = {
	{"application/x-www-form-urlencoded", 33},
	{"multipart/form-data; boundary=B", 31},
	{"application/json", 16},
	{"text/plain", 10},
};
static const struct text names[] = {{"a", 1}, {"user.name", 9}, {"", 0}, {"a.b.c", 5}};

struct heard {
	uint64_t digest;
	size_t bytes, ends;
};

static void mix(struct heard *heard, uint64_t value)
{
	heard->digest = (heard->digest ^ value) * UINT64_C(0x100000001b3);
}

static void piece(void *to, const char *data, size_t size)
{
	struct heard *heard = to;

	for (size_t i = 0; i < size; i++)
		mix(heard, (unsigned char)data[i]);
	heard->bytes += size;
}

static void end(void *to, unsigned at, enum json_kind kind, uint32_t elements)
{
	struct heard *heard = to;

	mix(heard, 256 * at + (uint64_t)kind);
	mix(heard, elements);
	heard->ends++;
}

static bool scan(struct text body, struct text path, size_t step, struct heard *heard)
{
	const struct json_sink sink = {piece, end, heard};
	struct json_scan scan;

	*heard = (struct heard){0};
	json_scan_begin(&scan, path);
	for (size_t at = 0; at < body.size; at += step) {
		size_t left = body.size - at;
		json_scan_feed(&scan, body.data + at, left < step ? left : step, &sink);
	}
	return json_scan_end(&scan, &sink);
}

static void in_pieces(struct text body, struct text path, size_t step)
{
	struct heard one, many;
	bool good = scan(body, path, body.size + 1, &one);

	if (good != scan(body, path, step, &many) || one.digest != many.digest || one.bytes != many.bytes ||
	    one.ends != many.ends || one.bytes > body.size)
		abort();
}

static enum body_said ask(struct text type, struct text body, bool whole, struct text name,
			  enum body_what what, struct body_wish *wish, struct body_value *value)
{
	*wish = (struct body_wish){.name = name, .what = what, .text = value};
	body_read(type, body, whole, wish, 1);
	if (wish->said == BODY_FOUND && what == BODY_FIELD &&
	    (value->size == 0 || value->size > BODY_VALUE_MAX))
		abort();
	if (!whole && wish->said == BODY_NONE)
		abort();
	return wish->said;
}

/* All questions at once, each answered as if it were the only one. */
static void together(struct text type, struct text body, bool whole)
{
	static struct body_value values[BODY_WISHES_MAX], value;
	struct body_wish wishes[BODY_WISHES_MAX], wish;

	for (size_t i = 0; i < BODY_WISHES_MAX; i++)
		wishes[i] = (struct body_wish){.name = names[i & 3],
					       .what = i < 4   ? BODY_FIELD
						       : i & 1 ? BODY_COUNT
							       : BODY_NUMBER,
					       .text = &values[i]};
	body_read(type, body, whole, wishes, BODY_WISHES_MAX);
	for (size_t i = 0; i < BODY_WISHES_MAX; i++) {
		if (ask(type, body, whole, wishes[i].name, wishes[i].what, &wish, &value) != wishes[i].said)
			abort();
		if (wish.said != BODY_FOUND)
			continue;
		if (wish.what != BODY_FIELD ? wish.number != wishes[i].number
					    : value.size != values[i].size ||
						      memcmp(value.data, values[i].data, value.size) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct body_value value, again;
	struct body_wish wish;

	if (size < 2)
		return 0;
	struct text type = types[data[0] & 3], name = names[data[0] >> 2 & 3];
	size_t step = 1 + (data[1] & 15);
	/* of its own size, for the sanitizer */
	char *copy = malloc(size - 2 + 1);
	memcpy(copy, data + 2, size - 2);
	struct text body = {copy, size - 2};

	in_pieces(body, name, step);
	together(type, body, true);
	together(type, body, false);
	if (ask(types[2], body, true, name, BODY_COUNT, &wish, NULL) == BODY_FOUND && wish.number > body.size)
		abort();
	value.size = normalise(body, value.data, sizeof value.data);
	again.size = normalise((struct text){value.data, value.size}, again.data, sizeof again.data);
	if (value.size > BODY_VALUE_MAX ||
	    (value.size < 1000 &&
	     (again.size != value.size || memcmp(again.data, value.data, value.size) != 0)))
		abort();
	free(copy);
	return 0;
}
