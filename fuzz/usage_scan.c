/* SPDX-License-Identifier: BSD-2-Clause */
/* usage_scan: any answer's body. The first byte chooses its type, the second how it is cut: in pieces it says what it says in one. */
#include <stdlib.h>

#include "identity/usage_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct text types[] = {
	{"application/json", 16},
	{"text/event-stream", 17},
	{"application/x-ndjson", 20},
};

static bool scan(struct text type, struct text body, size_t step, uint32_t *out)
{
	struct usage_scan scan;

	if (!usage_scan_begin(&scan, type, TEXT(""), TEXT("u.n")))
		abort();
	for (size_t at = 0; at < body.size; at += step) {
		size_t left = body.size - at, part = left < step ? left : step;
		char *copy = malloc(part); /* of its own size, for the sanitizer */
		memcpy(copy, body.data + at, part);
		usage_scan_feed(&scan, copy, part);
		free(copy);
	}
	return usage_scan_found(&scan, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t one, many;

	if (size < 2)
		return 0;
	struct text type = types[data[0] % 3], body = {(const char *)data + 2, size - 2};
	size_t step = 1 + (data[1] & 15);
	bool found = scan(type, body, body.size + 1, &one);

	if (found != scan(type, body, step, &many) || one != many)
		abort();
	return 0;
}
