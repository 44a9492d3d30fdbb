/* SPDX-License-Identifier: BSD-2-Clause */
/* weir plans: the plans, and what each gets of every limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/options.h"
#include "cli/out.h"
#include "policy/spoken.h"

/* Rates and places of a span of counters: "100 per minute; 5 at the same time". */
static json_t *numbers(const struct image *image, struct image_span span)
{
	const struct image_counter *counters = image_at(image, span.offset);
	char all[1024] = "", one[SPOKEN_MAX];
	for (uint32_t i = 0; i < span.count; i++) {
		size_t used = strlen(all);
		if (counters[i].what == IMAGE_USAGE || counters[i].what == IMAGE_NEW_KEYS)
			continue;
		spoken_counter(image, &counters[i], one);
		snprintf(all + used, sizeof all - used, "%s%s", used ? "; " : "", one);
	}
	return json_string(all);
}

/* What the plan makes of the limit; `plan` count: whoever has none. */
static json_t *cell(const struct image *image, const struct image_limit *limit, uint32_t plan)
{
	const struct image_variant *variants = image_at(image, limit->variants.offset);
	bool none = plan == image->plans.count;
	if (limit->who && !none &&
	    !(limit->who & (IMAGE_WHO_PLAN(plan) | IMAGE_WHO_IDENTIFIED | IMAGE_WHO_ANONYMOUS)))
		return json_null();
	if (limit->who && none && !(limit->who & (IMAGE_WHO_ANONYMOUS | IMAGE_WHO_IDENTIFIED)))
		return json_null();
	for (uint32_t i = 0; i < limit->variants.count && !none; i++)
		if (variants[i].plan == plan)
			return variants[i].how == IMAGE_VARIANT_UNLIMITED ? json_string("unlimited")
			       : variants[i].how == IMAGE_VARIANT_NEVER
				       ? json_string("never")
				       : numbers(image, variants[i].counters);
	return numbers(image, limit->counters);
}

static json_t *document(const struct image *image)
{
	const struct image_plan *plans = image_at(image, image->plans.offset);
	json_t *names = json_array(), *limits = json_array();
	for (uint32_t i = 0; i < image->plans.count; i++)
		json_array_append_new(names, out_own(image_text(image, plans[i].name)));
	for (uint32_t i = 0; i < image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		json_t *by = json_object();
		if (limit->candidate || limit->mode == IMAGE_DISABLED) {
			json_decref(by);
			continue;
		}
		for (uint32_t k = 0; k < image->plans.count; k++) {
			struct text name = image_text(image, plans[k].name);
			char *key = strndup(name.data, name.size);
			json_object_set_new(by, key ? key : "?", cell(image, limit, k));
			free(key);
		}
		json_array_append_new(limits, json_pack("{s:o, s:o, s:o}", "limit",
							out_own(image_text(image, limit->name)), "plans", by,
							"no_plan", cell(image, limit, image->plans.count)));
	}
	struct text unknown = {"", 0}, none = {"", 0};
	if (image->clients.plan_unknown < image->plans.count)
		unknown = image_text(image, plans[image->clients.plan_unknown].name);
	if (image->clients.plan_none < image->plans.count)
		none = image_text(image, plans[image->clients.plan_none].name);
	return json_pack("{s:o, s:o, s:o, s:o}", "plans", names, "limits", limits, "identified_without",
			 unknown.size ? out_own(unknown) : json_null(), "anonymous",
			 none.size ? out_own(none) : json_null());
}

static const char *shown(const json_t *cell)
{
	return json_is_string(cell) ? json_string_value(cell) : "-";
}

static void print(const json_t *document)
{
	const json_t *limits = json_object_get(document, "limits"), *limit, *cell;
	const char *plan;
	size_t i;
	if (json_array_size(json_object_get(document, "plans")) == 0)
		printf("the policy in force has no plans\n\n");
	for (i = 0; (limit = json_array_get(limits, i)); i++) {
		json_t *by = json_object_get(limit, "plans");
		printf("%s\n", json_string_value(json_object_get(limit, "limit")));
		json_object_foreach(by, plan, cell)
		{
			printf("  %-20s %s\n", plan, shown(cell));
		}
		printf("  %-20s %s\n", "(no plan)", shown(json_object_get(limit, "no_plan")));
	}
	if (json_is_string(json_object_get(document, "identified_without")))
		printf("\nwho is known without a plan has %s\n",
		       json_string_value(json_object_get(document, "identified_without")));
	if (json_is_string(json_object_get(document, "anonymous")))
		printf("who is not known has %s\n",
		       json_string_value(json_object_get(document, "anonymous")));
}

int plans_command(int argc, char **argv)
{
	struct find find = {0};
	struct live live = {0};
	const struct options_rule rules[] = {FIND_OPTIONS(&find)};
	struct options options = {
		.synopsis = "weir plans [--policy FILE | --table PATH]",
		.about = "Shows the plans of the policy in force, and what each gets of every limit. A dash: "
			 "the limit is not "
			 "for them.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	status = live_open(&live, &find, true);
	if (status == STATUS_FINE) {
		json_t *out = document(live.image);
		if (out_as_json) {
			out_document(out);
		} else {
			print(out);
			json_decref(out);
		}
	}
	live_close(&live);
	return status;
}
