/* SPDX-License-Identifier: BSD-2-Clause */
/* negotiate: in which of our languages a refused client is answered. */
#ifndef WEIR_FLOW_NEGOTIATE_H
#define WEIR_FLOW_NEGOTIATE_H

#include "policy/text.h"

enum negotiate_kind {
	NEGOTIATE_JSON,
	NEGOTIATE_PROBLEM,
	NEGOTIATE_TEXT,
	NEGOTIATE_HTML,
	NEGOTIATE_FILE,
	NEGOTIATE_COUNT
};

/* RFC 9110 12.5.1, with `configured` (a file: of `file_type`) as the answer to whoever has no wish, and to
 * wishes that none of ours meets. The highest q wins; among equals the type that Accept names most precisely,
 * then the configured one. A problem also answers application/json: it is JSON. */
enum negotiate_kind negotiate(struct text accept, enum negotiate_kind configured, struct text file_type);

#endif
