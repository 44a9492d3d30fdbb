/* SPDX-License-Identifier: BSD-2-Clause */
/* show_state: the parts of `weir show` that are read from the table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/findings.h"
#include "cli/out.h"
#include "cli/show.h"
#include "table/stats.h"

json_t *show_policy(const struct live *live)
{
	const struct image *image = live->image;
	bool zones = image->kind == IMAGE_OF_ZONES;
	struct text source = image_text(image, image->source);
	json_t *out = json_pack("{s:s, s:I, s:o, s:I}", "kind", zones ? "zones" : "policy", "generation",
				(json_int_t)image->generation, "source", out_own(source), "compiled_at",
				(json_int_t)image->compiled_at);
	char *path = strndup(source.data, source.size);
	bool gone = !path || access(path, R_OK) != 0;
	if (gone || zones) { /* what nginx.conf says only nginx can tell */
		bool there = !gone || (path && errno != ENOENT && errno != ENOTDIR);
		json_object_set_new(out, "file",
				    json_string(!there ? "missing"
						: gone ? "unreadable"
						       : "there"));
		free(path);
		return out;
	}
	struct policy policy;
	char unset[512];
	policy_load(&(struct policy_options){.path = path}, &policy);
	const char *state = !policy.image				      ? "broken"
			    : policy.image->source_hash == image->source_hash ? "same"
									      : "differs";
	if (!policy.image && findings_only_unset(&policy, unset, sizeof unset)) {
		state = "unset";
		json_object_set_new(out, "unset", out_own(text_of(unset)));
	} else if (!policy.image) {
		json_object_set_new(out, "findings", findings_json(&policy));
	}
	json_object_set_new(out, "file", json_string(state));
	policy_free(&policy);
	free(path);
	return out;
}

/* The counters of a limit may share one entry of the statistics or have one each; every entry counts once. */
static struct stats_limit sum_of(const struct live *live, const struct image_limit *limit)
{
	const struct image_counter *counters = image_at(live->image, limit->counters.offset);
	struct stats_limit sum = {0};
	for (uint32_t i = 0; i < limit->counters.count; i++) {
		struct stats_limit one;
		uint32_t j = 0;
		while (j < i && counters[j].stat != counters[i].stat)
			j++;
		if (j < i)
			continue;
		stats_limit_sum(live->table, (uint16_t)counters[i].stat, &one);
#define X(name, help) sum.name += one.name;
		STATS_LIMIT(X)
#undef X
	}
	return sum;
}

/* Line `index` of the policy read aloud. */
static struct text line_of(const char *aloud, uint32_t index)
{
	while (aloud && index > 0)
		if ((aloud = strchr(aloud, '\n')))
			index -= *++aloud != ' '; /* what plans make of a limit is indented */
	return (struct text){aloud, aloud ? strcspn(aloud, "\n") : 0};
}

static json_t *limit_json(const struct live *live, const struct image_limit *limit, struct text sentence)
{
	static const char *const MODE[] = {
		[IMAGE_ENFORCE] = "enforce", [IMAGE_SHADOW] = "shadow", [IMAGE_DISABLED] = "disabled"};
	const struct image_counter *first = image_at(live->image, limit->counters.offset);
	struct stats_limit sum = sum_of(live, limit);
	/* it stands last, so alone: nothing is counted */
	bool uncounted = limit->counters.count > 0 && first->what == IMAGE_BANDWIDTH;
	json_t *out = json_pack("{s:o, s:o, s:o, s:s, s:o, s:b}", "name",
				out_own(image_text(live->image, limit->name)), "match",
				out_own(image_text(live->image, limit->match_text)), "key",
				out_own(image_text(live->image, limit->key_text)), "mode", MODE[limit->mode],
				"sentence", out_own(sentence), "statistics_shared",
				limit->counters.count > 0 && first->stat == 0 && !uncounted);
	if (live->image->kind == IMAGE_OF_ZONES && first->what == IMAGE_RATE)
		json_object_set_new(out, "rate", out_own(image_text(live->image, first->written)));
#define X(name, help)                                                                                        \
	json_object_set_new(out, #name, uncounted ? json_null() : json_integer((json_int_t)sum.name));
	STATS_LIMIT(X)
#undef X
	return out;
}

json_t *show_limits(const struct live *live, uint32_t only)
{
	char *aloud = policy_read_aloud(live->image);
	json_t *out = json_array();
	for (uint32_t i = 0; i < live->image->limits.count; i++)
		if (only == UINT32_MAX || only == i)
			json_array_append_new(
				out, limit_json(live, image_limit_at(live->image, i), line_of(aloud, i)));
	free(aloud);
	return out;
}

static struct text who(const struct stats_event *event)
{
	size_t size = event->length < sizeof event->text ? event->length : sizeof event->text;
	return (struct text){event->text, size};
}

json_t *show_happenings(const struct live *live, size_t max)
{
	static const char *const KIND[] = {
		[STATS_EVENT_REFUSED] = "refused",
		[STATS_EVENT_SHADOW] = "would be refused",
		[STATS_EVENT_UNTRUSTED] = "untrusted proxy",
		[STATS_EVENT_DENIED] = "denied",
		[STATS_EVENT_NOTICE] = "notice",
	};
	struct stats_event events[64];
	json_t *out = json_array();
	size_t count = stats_events(live->table, events, max < 64 ? max : 64);
	for (size_t i = 0; i < count; i++) {
		const struct stats_event *event = &events[i];
		if (event->kind == STATS_EVENT_NONE || event->kind > STATS_EVENT_NOTICE)
			continue;
		json_t *one = json_pack("{s:I, s:s, s:o, s:I}", "at",
					(json_int_t)live_wall_at(live, event->at), "kind", KIND[event->kind],
					"who", out_hostile(who(event)), "count", (json_int_t)event->count);
		if (event->kind == STATS_EVENT_NOTICE) { /* no requests, but how much of how much */
			json_object_del(one, "count");
			json_object_set_new(one, "percent", json_integer((json_int_t)event->count));
			json_object_set_new(one, "quota",
					    json_integer((json_int_t)stats_notice_quota(event)));
		}
		if (event->kind != STATS_EVENT_UNTRUSTED && event->kind != STATS_EVENT_DENIED)
			json_object_set_new(one, "limit",
					    out_own(text_of(stats_name(live->table, event->stat))));
		json_array_append_new(out, one);
	}
	return out;
}

json_t *show_untrusted(const struct live *live)
{
	struct stats_event events[1024];
	json_t *by_address = json_object();
	size_t count = stats_events(live->table, events, 1024);
	for (size_t i = 0; i < count; i++) {
		struct address address;
		char text[ADDRESS_TEXT_MAX];
		/* only what reads as an address may go into a line that is meant to be pasted */
		if (events[i].kind != STATS_EVENT_UNTRUSTED || !address_parse(who(&events[i]), &address))
			continue;
		address_format(&address, text);
		json_int_t before = json_integer_value(json_object_get(by_address, text));
		json_object_set_new(by_address, text, json_integer(before + events[i].count));
	}
	json_t *out = json_array();
	for (void *at = json_object_iter(by_address); at; at = json_object_iter_next(by_address, at)) {
		const char *address = json_object_iter_key(at);
		json_t *seen = json_object_iter_value(at);
		const char *from = live->image->address_from == IMAGE_FROM_FORWARDED ? "forwarded"
										     : "x-forwarded-for";
		json_array_append_new(out,
				      json_pack("{s:s, s:O, s:o}", "address", address, "count", seen, "cure",
						json_sprintf("clients: {address: {from: %s, trusted: [%s]}}",
							     from, address)));
	}
	json_decref(by_address);
	return out;
}
