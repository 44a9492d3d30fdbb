/* SPDX-License-Identifier: BSD-2-Clause */
/* base64url: RFC 4648 5 without padding (RFC 7515 2), and only the one spelling that an encoder writes. */
#ifndef WEIR_IDENTITY_BASE64URL_H
#define WEIR_IDENTITY_BASE64URL_H

#include <stdbool.h>

#include "policy/text.h"

/* Bytes that `size` characters stand for, rounded up. */
#define BASE64URL_BYTES(size) ((size) / 4 * 3 + 3)

/* False: a character of another alphabet (also '=', white space), an impossible length, bits behind the last byte that are not 0, or
 * more than `max` bytes. What is in `out` then says nothing. */
bool base64url_decode(struct text text, void *out, size_t max, size_t *size);

#endif
