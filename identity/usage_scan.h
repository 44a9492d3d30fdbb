/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage_scan: a number in an answer's body, as it goes by.
 *
 * JSON: the field. text/event-stream: the field in the JSON of its `data:` lines; the last one that is there counts, since a model
 * says what was used at the end. So with application/x-ndjson, a document a line. Bounded: a state of fixed size, no copy of the
 * stream; what it finds does not depend on the pieces.
 */
#ifndef WEIR_IDENTITY_USAGE_SCAN_H
#define WEIR_IDENTITY_USAGE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "identity/json_scan.h"
#include "policy/text.h"

#define USAGE_SCAN_MAX	 (UINT64_C(64) << 20) /* bytes looked at; beyond them nothing is found any more */
#define USAGE_NUMBER_MAX 64u		      /* characters of a number; a longer one is none */

struct usage_scan {
	struct json_scan json;
	uint64_t seen; /* bytes */
	uint32_t amount;
	bool found;
	uint8_t kind;	 /* of the body: a document, lines of documents, events */
	uint8_t line;	 /* of an event stream: where in the line it is */
	uint8_t matched; /* ... bytes of "data" at its beginning */
	uint8_t mark;	 /* ... bytes of a byte order mark at the stream's beginning */
	bool after_cr;	 /* ... a line feed belongs to the line end before it */
	bool has_data;	 /* ... the event has had a data line */
	uint8_t size;	 /* of `number`; USAGE_NUMBER_MAX + 1: too long */
	char number[USAGE_NUMBER_MAX];
};

/* False: nothing will be found in such a body (its type, or `encoding`: it is compressed). `name` (dots lead into objects) must
 * outlive the scan. */
bool usage_scan_begin(struct usage_scan *scan, struct text content_type, struct text encoding,
		      struct text name);
void usage_scan_feed(struct usage_scan *scan, const void *data, size_t size);
/* What has been found so far: 0 or more, rounded up, at most UINT32_MAX. False: nothing. */
bool usage_scan_found(const struct usage_scan *scan, uint32_t *out);

#endif
