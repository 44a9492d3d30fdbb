/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * body: what the beginning of a request's body says under a name.
 *
 * Form (application/x-www-form-urlencoded), multipart/form-data and JSON, by the content type; none other. Only the first
 * BODY_MAX bytes are looked at; a value that is cut off there is not there. Nothing is allocated.
 */
#ifndef WEIR_IDENTITY_BODY_H
#define WEIR_IDENTITY_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

#define BODY_MAX       16384u
#define BODY_VALUE_MAX 1024u /* bytes of a normalised value; what is longer is cut there */

struct body_value {
	size_t size;
	char data[BODY_VALUE_MAX];
};

/* The first value of that name that is not empty: decoded, then normalised (white space at its ends cut off, Unicode NFC, case
 * folded), so that all spellings of one account are one. JSON: "a.b" is b in the object a; strings, numbers, booleans. `whole`:
 * the body ends here. False: not there. */
bool body_field(struct text content_type, struct text body, bool whole, struct text name,
		struct body_value *out);
/* The same for a number: 0 or more, rounded up, at most UINT32_MAX. */
bool body_number(struct text content_type, struct text body, bool whole, struct text name, uint32_t *out);
/* Elements of the JSON array of that name; name "": of the body itself. One that goes on beyond BODY_MAX: what is there; *more. */
bool body_count(struct text content_type, struct text body, bool whole, struct text name, uint32_t *out,
		bool *more);

#endif
