/* SPDX-License-Identifier: BSD-2-Clause */
/* api_keys_plan: is the plan that a key is given one of the policy's? The database knows nothing of policies, so a misspelt one would be
 * noticed by the customer. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/api_keys.h"
#include "policy/place.h"
#include "policy/suggest.h"

#define TOLD_MAX 20u

void api_keys_policy(struct api_keys *keys, const char *database)
{
	char path[PLACE_MAX];
	if (keys->plans.image || access("policy.yaml", R_OK) != 0 ||
	    !policy_absolute_path("policy.yaml", path, sizeof path))
		return;
	policy_load(&(struct policy_options){.path = path}, &keys->plans);
	if (keys->plans.image &&
	    text_equal(image_text(keys->plans.image, keys->plans.image->clients.keys_database),
		       text_of(database)))
		return;
	policy_free(&keys->plans);
	keys->plans = (struct policy){0};
}

void api_keys_plan(struct api_keys *keys, const char *plan)
{
	const struct image *image = keys->plans.image;
	struct suggest suggest = suggest_begin(text_of(plan ? plan : ""));
	char shown[RING_PLAN_MAX * 4 + 4];
	if (!image || image->plans.count == 0 || !plan || !*plan)
		return;
	const struct image_plan *plans = image_at(image, image->plans.offset);
	for (uint32_t i = 0; i < image->plans.count; i++) {
		if (text_equal(image_text(image, plans[i].name), text_of(plan)))
			return;
		suggest_offer(&suggest, image_text(image, plans[i].name));
	}
	if (!keys->odd)
		keys->odd = json_object();
	if (json_object_get(keys->odd, plan) || json_object_size(keys->odd) == TOLD_MAX)
		return;
	json_object_set_new(keys->odd, plan, json_true());
	out_escape(text_of(plan), shown, sizeof shown);
	struct text file = image_text(image, image->source);
	fprintf(stderr, "weir: warning: no plan '%s' in %.*s", shown, (int)file.size, file.data);
	if (suggest.best.size)
		fprintf(stderr, "; did you mean %.*s?", (int)suggest.best.size, suggest.best.data);
	fprintf(stderr, " (it is kept, and counts once there is one)\n");
}
