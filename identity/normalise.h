/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * normalise: one spelling of an account's name.
 *
 * White space and control characters at its ends are cut off, case is folded, Unicode is composed (NFC of the canonical caseless
 * form). Not NFKC: a full-width letter stays another letter, as it is to most who look accounts up. What is not UTF-8 keeps its
 * bytes; ASCII letters are folded.
 */
#ifndef WEIR_IDENTITY_NORMALISE_H
#define WEIR_IDENTITY_NORMALISE_H

#include "policy/text.h"

/* Into at most `max` bytes, cut between characters; `out` is not the text. Returns the size. Nothing is allocated. */
size_t normalise(struct text text, char *out, size_t max);

#endif
