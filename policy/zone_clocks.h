/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_clocks: what a TZif file says of the future, in the two words of algo/zone.h. */
#ifndef WEIR_POLICY_ZONE_CLOCKS_H
#define WEIR_POLICY_ZONE_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* The footer's rule, if it gives what the file lists for the ten years from `now_s` on (seconds since 1970; taken as
 * within 1970 to 2065); else the next changes that the file lists. NULL, or what is wrong as the rest of a sentence
 * whose subject is the file; zone[] is then left alone. Bytes may be any. */
const char *zone_clocks(const unsigned char *bytes, size_t size, int64_t now_s, uint64_t zone[2]);

#endif
