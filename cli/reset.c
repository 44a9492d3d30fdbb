/* SPDX-License-Identifier: BSD-2-Clause */
/* weir reset: forget counters. The way out for somebody who was limited by mistake. */
#include <stdio.h>
#include <string.h>

#include "cli/keys.h"
#include "cli/out.h"

/* Every key of one limit. */
static uint64_t forget_limit(const struct live *live, uint32_t limit)
{
	const struct image_limit *record = image_limit_at(live->image, limit);
	const struct image_counter *counters = image_at(live->image, record->counters.offset);
	uint64_t count = 0;
	for (uint32_t i = 0; i < record->counters.count; i++)
		count += table_forget_limit(live->table, counters[i].identity);
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
	for (size_t i = 0; status == STATUS_FINE && i < keys.flow->hit_count; i++)
		*count += table_forget(live->table, &keys.flow->hits[i].key);
	keys_free(&keys);
	return status;
}

static int reset(const struct live *live, const char *name, const struct options_list *key)
{
	uint64_t count = 0;
	int status = STATUS_FINE;
	if (!name) {
		for (uint32_t i = 0; i < live->image->limits.count; i++)
			count += forget_limit(live, i);
	} else {
		uint32_t limit = live_limit(live, name);
		if (limit == UINT32_MAX)
			return STATUS_USAGE;
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
		.synopsis = "weir reset (--limit NAME [--key VALUE]… | --all) [--policy FILE | --nginx-conf "
			    "FILE | "
			    "--table PATH]",
		.about = "Forgets counters: whoever they belong to has the whole allowance again, at the "
			 "next request. Says\n"
			 "how many were forgotten; a counter that had recovered by itself may be gone "
			 "already.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	struct live live = {0};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (all == (limit != NULL) || (key.count && !limit)) {
		out_error("say --limit NAME (with --key for one client of it) or --all");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, false);
	if (status == STATUS_FINE)
		status = reset(&live, limit, &key);
	live_close(&live);
	return status;
}
