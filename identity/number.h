/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number: a decimal number as it is written in JSON or a form: digits, a fraction, an exponent.
 *
 * Exact, by its digits: no floating point, no locale.
 */
#ifndef WEIR_IDENTITY_NUMBER_H
#define WEIR_IDENTITY_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

/* Rounded up, at most UINT32_MAX. ASCII white space around it is allowed, and a form's `+5`, `05`, `.5`. False: it is none, or below 0. */
bool number_read(struct text written, uint32_t *out);

#define NUMBER_TEXT_MAX 128u
/* One spelling of each value: 1, 1.0, 1e0 and 10e-1 are "1". A fraction is rounded to 15 digits, about what a double holds: what
 * many who read JSON cannot tell apart is one. Returns the size; 0: it is no number. */
size_t number_spell(struct text written, char out[static NUMBER_TEXT_MAX]);

#endif
