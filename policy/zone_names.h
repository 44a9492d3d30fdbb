/* SPDX-License-Identifier: BSD-2-Clause */
/* zone_names: the names of a tz database, to find the one that was meant. */
#ifndef WEIR_POLICY_ZONE_NAMES_H
#define WEIR_POLICY_ZONE_NAMES_H

#include <stddef.h>

#include "policy/text.h"

#define ZONE_NAME_MAX 64

/* Walks the folder and returns how many zones it has. nearest[] is the name most like `wrong`, as a whole or in its
 * last part (Berlin), or empty. Of equals the first in order of the alphabet. */
size_t zone_names_nearest(const char *folder, struct text wrong, char nearest[ZONE_NAME_MAX + 1]);

#endif
