/* SPDX-License-Identifier: BSD-2-Clause */
/* trials: tells the table which limits are tried from this publication on: for `weir shadow report`. */
#include "policy/publish.h"
#include "table/trial.h"

void publish_trials(struct table *table, const struct image *image)
{
	for (uint32_t i = 0; i < image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		const struct image_counter *counters = image_at(image, limit->counters.offset);
		bool tried = limit->mode == IMAGE_SHADOW ||
			     (limit->mode == IMAGE_ENFORCE && limit->percent && limit->percent < 100);

		if (limit->counters.count)
			trial_set(table, (uint16_t)counters[0].stat, tried, image->compiled_at);
	}
}
