/* SPDX-License-Identifier: BSD-2-Clause */
/* weir reset: forget counters. The way out for somebody who was limited by mistake. */
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/out.h"
#include "cli/whom.h"

/* Every key of one limit, by whatever plan. What is for the bill is not forgiven with it. */
static uint64_t forget_limit(const struct live *live, uint32_t limit)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < live->image->counters.count; i++) {
		const struct image_counter *counter = image_counter_at(live->image, i);
		if (counter->limit == limit && counter->what != IMAGE_USAGE)
			count += table_forget_limit(live->table, counter->identity);
	}
	return count;
}

static uint64_t forget_hits(const struct live *live, const struct flow *flow)
{
	uint64_t count = 0;
	for (size_t i = 0; i < flow->hit_count; i++)
		if (flow->hits[i].what != IMAGE_USAGE)
			count += table_forget(live->table, &flow->hits[i].key);
	return count;
}

/* One client is to be forgotten, not whoever else is called the same. */
static int ambiguous(const struct live *live, uint32_t limit, const struct options_list *parts,
		     size_t choices)
{
	char all[1536] = "";
	struct keys keys;
	for (size_t choice = 0; choice < choices && strlen(all) < sizeof all / 2; choice++) {
		size_t used = strlen(all);
		if (keys_find(&keys, live, limit, parts, choice) == STATUS_FINE)
			snprintf(all + used, sizeof all - used, "%s%.700s", used ? " or " : "", keys.chosen);
		keys_free(&keys);
	}
	out_error("--key is the value of several counters: say which part it is of, as KIND=VALUE: %s", all);
	return STATUS_USAGE;
}

static int forget_key(const struct live *live, uint32_t limit, const struct options_list *parts,
		      uint64_t *count)
{
	struct keys keys;
	int status = keys_find(&keys, live, limit, parts, 0);
	if (status == STATUS_FINE && keys.choices > 1)
		status = ambiguous(live, limit, parts, keys.choices);
	if (status == STATUS_FINE)
		*count += forget_hits(live, keys.flow);
	keys_free(&keys);
	return status;
}

/* One client, named as for `weir get`, in the limit or in all of those that count by what was said. */
static int forget_whom(const struct live *live, uint32_t limit, const struct options_list *words,
		       uint64_t *count)
{
	static struct client client;
	struct options_list parts;
	struct live with = *live;
	struct keys keys;
	char needs[600];
	size_t met = 0;
	if (limit != UINT32_MAX) {
		int status = whom_parts(&keys, live, limit, words);
		if (status == STATUS_FINE)
			*count += forget_hits(live, keys.flow);
		keys_free(&keys);
		return status;
	}
	int status = client_read(&client, live, words);
	with.key = client.known ? &client.key : NULL;
	for (uint32_t i = 0; status == STATUS_FINE && i < live->image->limits.count; i++) {
		if (!client_parts(&client, image_limit_at(live->image, i), &parts, needs, sizeof needs) ||
		    strcmp(parts.items[0], "site") == 0) /* everybody's */
			continue;
		met++;
		status = keys_find(&keys, &with, i, &parts, 0);
		if (status == STATUS_FINE)
			*count += forget_hits(live, keys.flow);
		keys_free(&keys);
	}
	if (status == STATUS_FINE && !met) {
		out_error("no limit counts by that alone: weir get says what each one counts by");
		return STATUS_USAGE;
	}
	return status;
}

static int reset(const struct live *live, const char *name, const struct options_list *key,
		 const struct options_list *whom)
{
	uint64_t count = 0;
	int status = STATUS_FINE;
	uint32_t limit = name ? live_limit(live, name) : UINT32_MAX;
	if (name && limit == UINT32_MAX)
		return STATUS_USAGE;
	if (whom->count) {
		status = forget_whom(live, limit, whom, &count);
	} else if (!name) {
		for (uint32_t i = 0; i < live->image->limits.count; i++)
			count += forget_limit(live, i);
	} else {
		if (key->count)
			status = forget_key(live, limit, key, &count);
		else
			count = forget_limit(live, limit);
	}
	if (status != STATUS_FINE)
		return status;
	if (out_as_json)
		out_document(json_pack("{s:I}", "forgotten", (json_int_t)count));
	else
		printf("%llu counter%s forgotten\n", (unsigned long long)count, count == 1 ? "" : "s");
	return STATUS_FINE;
}

int reset_command(int argc, char **argv)
{
	struct find find = {0};
	struct options_list key = {.count = 0};
	const char *limit = NULL;
	bool all = false;
	const struct options_rule rules[] = {
		{"--limit", OPTIONS_TEXT, &limit, "NAME", "every counter of this limit"},
		{"--key", OPTIONS_LIST, &key, "VALUE",
		 "only this client of it: a part of its key, or KIND=VALUE; repeat for more"},
		{"--all", OPTIONS_FLAG, &all, NULL, "every counter of every limit in force"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis =
			"weir reset (WHO… [--limit NAME] | --limit NAME [--key VALUE]… | --all) [OPTIONS]",
		.about = "Forgets counters: whoever they belong to has the whole allowance again, at the "
			 "next request. WHO,\n"
			 "as for weir get: that client in every limit that counts by it. Says how many were "
			 "forgotten; a\n"
			 "counter that had recovered by itself may be gone already. What was used for the "
			 "bill (weir usage)\n"
			 "stays.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = OPTIONS_LIST_MAX,
	};
	struct live live = {0};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	bool who = options.words.count > 0;
	if ((all ? limit != NULL || who : !limit && !who) || (key.count && (!limit || who))) {
		out_error("say WHO (with --limit NAME for one limit), --limit NAME (with --key for one "
			  "client of it) or --all");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, false);
	if (status == STATUS_FINE)
		status = reset(&live, limit, &key, &options.words);
	live_close(&live);
	return status;
}
