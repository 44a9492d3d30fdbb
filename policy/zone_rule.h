/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_rule: a POSIX TZ string, as the footers of TZif files have it, packed into the words of algo/zone.h. */
#ifndef WEIR_POLICY_ZONE_RULE_H
#define WEIR_POLICY_ZONE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/text.h"

/* "CET-1CEST,M3.5.0,M10.5.0/3". POSIX.1-2017 8.3 with the times of -167 to 167 hours of RFC 8536, 3.3.1; summer
 * without its two days is refused, nobody says when it would be. False leaves zone[] alone. */
bool zone_rule_read(struct text text, uint64_t zone[2]);

#endif
