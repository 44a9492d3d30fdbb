/* SPDX-License-Identifier: BSD-2-Clause */
/* body_rig: one question to a body, and the answer as text. */
#ifndef WEIR_TESTS_IDENTITY_BODY_RIG_H
#define WEIR_TESTS_IDENTITY_BODY_RIG_H

#include "identity/body.h"
#include "tests/tap.h"

#define FORM "application/x-www-form-urlencoded"
#define JSON "application/json"

static inline enum body_said body_ask(const char *type, struct text body, bool whole, const char *name,
				      enum body_what what, uint32_t *number, struct body_value *value)
{
	struct body_wish wish = {.name = text_of(name), .what = what, .text = value};

	body_read(text_of(type), body, whole, &wish, 1);
	*number = wish.number;
	return wish.said;
}

/* "-": not there; "?": doubtful */
static inline const char *said(const char *type, struct text body, bool whole, const char *name)
{
	static struct body_value value;
	static char out[BODY_VALUE_MAX + 1];
	uint32_t number;
	enum body_said what = body_ask(type, body, whole, name, BODY_FIELD, &number, &value);

	if (what != BODY_FOUND)
		return what == BODY_NONE ? "-" : "?";
	memcpy(out, value.data, value.size);
	out[value.size] = 0;
	return strlen(out) == value.size ? out : "(with a NUL inside)";
}

/* -1: not there; -2: doubtful */
static inline int64_t number_said(const char *type, const char *body, bool whole, const char *name,
				  enum body_what what)
{
	uint32_t number;
	enum body_said found = body_ask(type, text_of(body), whole, name, what, &number, NULL);

	return found == BODY_FOUND ? (int64_t)number : found == BODY_NONE ? -1 : -2;
}

#endif
