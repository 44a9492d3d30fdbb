/* SPDX-License-Identifier: BSD-2-Clause */
/* worst_case: what a counter lets through at the worst moment, for reading out. Inside the layer only. */
#ifndef WEIR_POLICY_WORST_CASE_H
#define WEIR_POLICY_WORST_CASE_H

#include "policy/spoken.h"

/* "5 at once, then one every 12 s; at most 9 in any minute", for requests of this cost. */
void worst_case_say(struct spoken *spoken, const struct image *image, const struct image_counter *counter,
		    uint32_t cost);

#endif
