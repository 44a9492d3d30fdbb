/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8: what a policy's text may be made of. */
#ifndef WEIR_POLICY_UTF8_H
#define WEIR_POLICY_UTF8_H

#include <stdint.h>

#include "policy/text.h"

/* Length of the well-formed sequence (RFC 3629) at `data`, 0 if there is none; *code is its code point. */
size_t utf8_next(const char *data, size_t size, uint32_t *code);
/* May this code point stand in a policy? No control characters but tab, line feed and carriage return. */
bool utf8_allowed(uint32_t code);
/* Makes a NUL-terminated string fit to be shown on a terminal, in place: whatever utf8_next or utf8_allowed
 * refuse becomes '?', line ends become blanks. */
void utf8_show(char *string);

#endif
