/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys_secret: new secrets: a readable beginning ("weir_"), 32 characters of base 62 from the system's random source (190 bits; what
 * is shown of it afterwards leaves 166), and a check digit, so that a mistyped one is known as such without asking anybody.
 */
#ifndef WEIR_CONTROL_KEYS_SECRET_H
#define WEIR_CONTROL_KEYS_SECRET_H

#include <stdbool.h>

#include "control/keys_store.h"

#define KEYS_PREFIX	"weir_"
#define KEYS_PREFIX_MAX 20u
#define KEYS_RANDOM	32u
#define KEYS_SECRET_MIN 8u /* bytes; the most is RING_SECRET_MAX */
#define KEYS_SHOWN	4u /* characters behind the prefix that are kept readable */
#define KEYS_TEXT_MAX	(KEYS_PREFIX_MAX + KEYS_RANDOM + 1 + 1)

/* 1 to KEYS_PREFIX_MAX letters, digits, _ and -. */
bool keys_prefix_fine(struct text prefix);
/* False: the system gives no random numbers. */
bool keys_secret_new(struct text prefix, char out[KEYS_TEXT_MAX]);
/* May a secret that clients have already be one here? KEYS_SECRET_MIN to RING_SECRET_MAX bytes of ASCII, as a header can carry them. NULL,
 * or what is wrong with it, as "a secret has 8 to 512 characters". */
const char *keys_secret_wrong(struct text secret);
/* The check digit of base-62 characters (Luhn, modulo 62); 0: there is another character. */
char keys_check_digit(struct text characters);
/* How a secret is recognised afterwards: its prefix up to the last _ and four characters, never more than a quarter of it. */
void keys_secret_shown(struct text secret, char out[KEYS_SHOWN_MAX + 1]);

#endif
