/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * said: what a body says under some names, while it is read.
 *
 * A name that stands there twice: PHP, Rails and JSON take the last, Go and Java the first of a form, Express both. Whoever guesses
 * passwords of one account would put the account where his backend looks and anything else where the gate does. So a text that
 * contradicts another is doubtful, and of several numbers the largest counts.
 */
#ifndef WEIR_IDENTITY_SAID_H
#define WEIR_IDENTITY_SAID_H

#include "identity/body.h"

struct said {
	struct body_wish *wish;
	uint8_t readers; /* who found something: one bit each */
	bool doubtful;	 /* not all who read it read the same */
};

struct reading {
	struct said said[BODY_WISHES_MAX];
	size_t count;
	uint8_t reader; /* one bit: who reads now. Where there are several, all must find the same */
	bool doubtful;	/* nothing of this body is sure */
};

/* Does a field of a form with that name, decoded, answer it? */
bool said_is_named(const struct said *said, struct text field);
/* A value of that name, decoded; empty ones are as if they were not there. */
void said_value(struct reading *reading, struct said *said, struct text value);
/* A number of elements. */
void said_count(struct reading *reading, struct said *said, uint32_t elements);

#endif
