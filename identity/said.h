/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * said: what a body says under one name, while it is read.
 *
 * A name that stands there twice: PHP, Rails and JSON take the last, Go and Java the first of a form, Express both. Whoever guesses
 * passwords of one account would put the account where his backend looks and anything else where the gate does. So a text that
 * contradicts another is no text (the limit's `missing` decides), and of several numbers the largest counts.
 */
#ifndef WEIR_IDENTITY_SAID_H
#define WEIR_IDENTITY_SAID_H

#include "identity/body.h"

struct said {
	struct body_value *text; /* where it goes; NULL: a number is wanted */
	uint32_t number;
	bool found;
	bool doubtful; /* not all who read it read the same */
};

/* A value of that name, decoded; empty ones are as if they were not there. */
void said_value(struct said *said, struct text value);

#endif
