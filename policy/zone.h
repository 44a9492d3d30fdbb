/* SPDX-License-Identifier: BSD-2-Clause */
/* zone: a time zone by its name in the system's tz database (RFC 8536 TZif files), as the two words that calendar
 * windows follow (algo/zone.h). */
#ifndef WEIR_POLICY_ZONE_H
#define WEIR_POLICY_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/text.h"

/* The clocks of `name` (Europe/Berlin, UTC) from `now_s` (seconds since 1970) on. The file is read from $TZDIR, else
 * /usr/share/zoneinfo; UTC needs none. A zone whose changes follow a rule for the next ten years is good for those
 * and more; of one whose changes are listed (Africa/Casablanca) the next four are kept, so it is read again whenever
 * a policy is published. False: `why` is one sentence, NUL-terminated, without a line break: no such zone and what was
 * probably meant, no tz database and which package has it, a file that is damaged. zone[] is then left alone.
 * The name is hostile: letters, digits, _ + - and / between them, no more than 64. Any thread; opens files. */
bool zone_read(struct text name, int64_t now_s, uint64_t zone[2], char *why, size_t size);

#endif
