/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage_scan: a number in an answer's body, as it goes by.
 *
 * JSON: the field. text/event-stream: the field in the JSON of its `data:` lines; the last one that is there counts, since a model
 * says what was used at the end. Bounded: a state of fixed size, no copy of the stream.
 */
#ifndef WEIR_IDENTITY_USAGE_SCAN_H
#define WEIR_IDENTITY_USAGE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

#define USAGE_SCAN_MAX (UINT64_C(64) << 20) /* bytes looked at; beyond them nothing is found any more */

struct usage_scan {
	uint64_t state[64]; /* the scanner's own */
};

/* False: nothing will be found in such a body (its type, or `encoding`: it is compressed). `name` must outlive the scan. */
bool usage_scan_begin(struct usage_scan *scan, struct text content_type, struct text encoding,
		      struct text name);
void usage_scan_feed(struct usage_scan *scan, const void *data, size_t size);
/* What has been found so far: 0 or more, rounded up, at most UINT32_MAX. False: nothing. */
bool usage_scan_found(const struct usage_scan *scan, uint32_t *out);

#endif
