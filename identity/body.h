/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * body: what the beginning of a request's body says under some names, read once for all of them.
 *
 * Form (application/x-www-form-urlencoded), multipart/form-data and JSON, by the content type and, for JSON, by the first character.
 * Whoever would not be counted sends what the gate reads in one way and the backend in another; so what is not surely read by all
 * alike is not guessed: it is doubtful, and who asks decides what that means (a key: missing; a cost: the most; a value of
 * `distinct`: a new one). Only the first BODY_MAX bytes are looked at. Nothing is allocated, all state is in arguments.
 */
#ifndef WEIR_IDENTITY_BODY_H
#define WEIR_IDENTITY_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

#define BODY_MAX	16384u
#define BODY_VALUE_MAX	1024u /* bytes of a normalised value; what is longer is cut there */
#define BODY_WISHES_MAX 8u

enum body_said {
	BODY_NONE,  /* there is no body, or it can be read to its end and does not say it */
	BODY_FOUND, /* all readings of what is looked at say the same */
	/* It says several things; or nobody can tell: another type, an unknown charset, broken, cut off before the field has ended, and
	 * whatever else some read in another way than others. Nothing else of the wish is set. */
	BODY_DOUBTFUL,
};

enum body_what {
	/* A text: decoded, then normalised (white space at its ends cut off, Unicode NFC, case folded), so that all spellings of one
	 * account are one. Strings, numbers (one spelling each) and booleans of JSON. Empty values and null are as if they were not there;
	 * of several all must be the same; an array or object is doubtful. */
	BODY_FIELD,
	/* A number of 0 or more, rounded up, at most UINT32_MAX; of several the largest. Anything else there ("900 tokens", "1,000", -1,
	 * [5], true) is doubtful; empty values and null as above. */
	BODY_NUMBER,
	/* Elements of a JSON array; of several the longest. name "": of the body itself, which says nothing if it is no array. Anything
	 * but an array or null there, or a field of a form of that name, is doubtful, and so is an array that is cut off. */
	BODY_COUNT,
};

struct body_value {
	size_t size; /* 1..BODY_VALUE_MAX */
	char data[BODY_VALUE_MAX];
};

struct body_wish {
	struct text name; /* JSON: "a.b" is b in the object a */
	enum body_what what;
	enum body_said said; /* the answer, and of BODY_FOUND: */
	uint32_t number;
	struct body_value *text; /* FIELD: the caller's, where it goes */
};

/* Answers 0 to BODY_WISHES_MAX wishes. `whole`: the body ends where `body` does; one that is empty and not whole could not be had. A
 * field of the same name behind the first BODY_MAX bytes is not seen. */
void body_read(struct text content_type, struct text body, bool whole, struct body_wish *wishes,
	       size_t count);

#endif
