/* SPDX-License-Identifier: BSD-2-Clause */
/* weir shadow report: what limits that are tried would have refused, whom, and since when. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/out.h"
#include "cli/sketch.h"
#include "table/stats.h"
#include "table/trial.h"

#define WHO_MAX 10u

static bool tried(const struct image_limit *limit)
{
	return limit->mode == IMAGE_SHADOW ||
	       (limit->mode == IMAGE_ENFORCE && limit->percent && limit->percent < 100);
}

/* From the sketch, who would be refused now; else whom the recent events name. */
static json_t *who_json(const struct live *live, uint32_t index, uint16_t stat)
{
	struct stats_event events[256];
	struct sketch sketch;
	json_t *out = json_array();
	char name[TOP_NAME_MAX * 4 + 4];
	if (sketch_read(&sketch, live)) {
		sketch_choose(&sketch, SKETCH_LIMITED, index);
		for (size_t i = 0; i < sketch.count && i < WHO_MAX; i++)
			json_array_append_new(
				out,
				json_pack("{s:s, s:I, s:I}", "key",
					  sketch_name(&sketch.rows[i], name, sizeof name), "asked",
					  (json_int_t)(sketch.rows[i].row.asked - sketch.rows[i].row.error +
						       sketch.rows[i].row.before),
					  "would_refuse",
					  (json_int_t)(sketch.rows[i].row.refused +
						       sketch.rows[i].row.before_refused)));
	}
	sketch_free(&sketch);
	size_t count = json_array_size(out) ? 0 : stats_events(live->table, events, 256);
	for (size_t i = 0; i < count && json_array_size(out) < WHO_MAX; i++) {
		const struct stats_event *event = &events[i];
		size_t size = event->length < sizeof event->text ? event->length : sizeof event->text, k;
		const json_t *one;
		if (event->kind != STATS_EVENT_SHADOW || event->stat != stat || stat == 0)
			continue;
		json_t *key = out_hostile((struct text){event->text, size});
		for (k = 0; (one = json_array_get(out, k)); k++)
			if (json_equal(json_object_get(one, "key"), key))
				break;
		if (one)
			json_decref(key);
		else
			json_array_append_new(
				out, json_pack("{s:o, s:n, s:n}", "key", key, "asked", "would_refuse"));
	}
	return out;
}

static json_t *limit_json(const struct live *live, uint32_t index)
{
	const struct image *image = live->image;
	const struct image_limit *limit = image_limit_at(image, index);
	const struct image_counter *first = image_at(image, limit->counters.offset);
	uint16_t stat = limit->counters.count ? (uint16_t)first->stat : 0;
	struct trial trial;
	trial_read(live->table, stat, &trial);
	return json_pack("{s:o, s:s, s:I, s:o, s:o, s:I, s:I, s:f, s:o}", "limit",
			 out_own(image_text(image, limit->name)), "mode",
			 limit->mode == IMAGE_SHADOW ? "shadow" : "enforce", "percent",
			 (json_int_t)(limit->mode == IMAGE_SHADOW ? 0 : limit->percent), "candidate_of",
			 limit->candidate ? out_own(image_text(
						    image, image_limit_at(image, limit->candidate - 1)->name))
					  : json_null(),
			 "since", trial.since ? json_integer(trial.since) : json_null(), "requests",
			 (json_int_t)trial.seen, "would_refuse", (json_int_t)trial.shadow, "share",
			 trial.seen ? (double)trial.shadow / (double)trial.seen : 0.0, "who",
			 who_json(live, index, stat));
}

static void print(const json_t *limits, const struct live *live)
{
	const json_t *limit, *who;
	size_t i, k;
	char since[32], a[32], b[32];
	if (json_array_size(limits) == 0)
		printf("no limit is tried: mode: shadow, mode: enforce 10%%, candidate:\n");
	for (i = 0; (limit = json_array_get(limits, i)); i++) {
		long long percent = json_integer_value(json_object_get(limit, "percent"));
		const json_t *at = json_object_get(limit, "since");
		printf("%s: ", json_string_value(json_object_get(limit, "limit")));
		if (percent)
			printf("enforced for %lld %% of the keys; of the others ", percent);
		printf("%s of %s requests would have been refused (%.2f %%)",
		       out_number((uint64_t)json_integer_value(json_object_get(limit, "would_refuse")), a,
				  sizeof a),
		       out_number((uint64_t)json_integer_value(json_object_get(limit, "requests")), b,
				  sizeof b),
		       100 * json_real_value(json_object_get(limit, "share")));
		if (json_is_integer(at))
			printf(" since %s",
			       out_when(json_integer_value(at), live_wall(live), since, sizeof since));
		printf("\n");
		for (k = 0; (who = json_array_get(json_object_get(limit, "who"), k)); k++) {
			printf("  %s", json_string_value(json_object_get(who, "key")));
			if (json_is_integer(json_object_get(who, "would_refuse")))
				printf(": %lld of the last %lld",
				       (long long)json_integer_value(json_object_get(who, "would_refuse")),
				       (long long)json_integer_value(json_object_get(who, "asked")));
			printf("\n");
		}
	}
}

int shadow_command(int argc, char **argv)
{
	struct find find = {0};
	struct live live = {0};
	const struct options_rule rules[] = {FIND_OPTIONS(&find)};
	struct options options = {
		.synopsis = "weir shadow report [--policy FILE | --table PATH]",
		.about = "For each limit that is tried (mode: shadow, mode: enforce 10%, candidate): since "
			 "when, how many requests "
			 "it\n"
			 "saw, how many it would have refused, and whose they are now. weir promote LIMIT "
			 "puts it in "
			 "force.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count != 1 || strcmp(options.words.items[0], "report") != 0) {
		out_error("say what: weir shadow report");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, true);
	if (status == STATUS_FINE) {
		json_t *limits = json_array();
		for (uint32_t i = 0; i < live.image->limits.count; i++)
			if (tried(image_limit_at(live.image, i)))
				json_array_append_new(limits, limit_json(&live, i));
		if (out_as_json) {
			out_document(json_pack("{s:o}", "limits", limits));
		} else {
			print(limits, &live);
			json_decref(limits);
		}
	}
	live_close(&live);
	return status;
}
