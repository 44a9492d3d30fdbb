/* SPDX-License-Identifier: BSD-2-Clause */
/* media_type: what Content-Type says, and Content-Disposition (RFC 9110 8.3, RFC 7578 4.2): a type, then parameters. */
#ifndef WEIR_IDENTITY_MEDIA_TYPE_H
#define WEIR_IDENTITY_MEDIA_TYPE_H

#include <stdbool.h>

#include "policy/text.h"

/* What stands before the first `;`, without white space around it. */
struct text media_type(struct text value);
bool media_type_is_json(struct text type); /* application/json, anything +json */

/* The parameters that follow. */
struct media_parameter {
	struct text name;  /* compare it without case */
	struct text value; /* without its quotes, what is escaped left as it is */
	bool quoted;
};
/* The next one; `rest` begins as the whole value and moves on. False: no more, or (*odd) what follows is none that all who read it
 * read alike. */
bool media_parameter(struct text *rest, struct media_parameter *out, bool *odd);

/* All readers take its characters for UTF-8: no charset, UTF-8 or ASCII; nothing odd that could hide another. */
bool media_is_utf8(struct text value);

#endif
