/* SPDX-License-Identifier: BSD-2-Clause */
/* body_rig: one question to a body, and the answer as text. */
#ifndef WEIR_TESTS_IDENTITY_BODY_RIG_H
#define WEIR_TESTS_IDENTITY_BODY_RIG_H

#include "identity/body.h"
#include "tests/tap.h"

#define FORM "application/x-www-form-urlencoded"
#define JSON "application/json"

/* "-": not there */
static inline const char *said(const char *type, struct text body, bool whole, const char *name)
{
	static struct body_value value;
	static char out[BODY_VALUE_MAX + 1];

	if (!body_field(text_of(type), body, whole, text_of(name), &value))
		return "-";
	memcpy(out, value.data, value.size);
	out[value.size] = 0;
	return strlen(out) == value.size ? out : "(with a NUL inside)";
}

#endif
