/* SPDX-License-Identifier: BSD-2-Clause */
/* report_manner: in the words of `weir check`. */
#include "policy/report_manner.h"

#include <stdlib.h>

#include "policy/aloud.h"
#include "policy/spoken.h"

char *report_manner(const struct image *image, const struct image_limit *limit)
{
	static const char *const MODES[] = {
		[IMAGE_ENFORCE] = "in force", [IMAGE_SHADOW] = "in a shadow", [IMAGE_DISABLED] = "disabled"};
	const struct image_counter *counters = image_at(image, limit->counters.offset);
	struct spoken spoken = {0};

	spoken_add(&spoken, "%s", MODES[limit->mode]);
	for (uint32_t i = 0; i < limit->counters.count; i++)
		if (counters[i].soft)
			spoken_add(&spoken, "; %u of %u are the quota", counters[i].soft,
				   counters[i].capacity);
	aloud_words(&spoken, image, limit);
	if (spoken.failed) {
		free(spoken.text);
		return NULL;
	}
	return spoken.text;
}
