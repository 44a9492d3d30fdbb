/* SPDX-License-Identifier: BSD-2-Clause */
/* weir show: what was allowed and refused, to whom, under which policy. */
#include "cli/show.h"

#include <stdio.h>

#include "cli/bans.h"
#include "cli/counter.h"
#include "cli/gateway_note.h"
#include "cli/keys.h"
#include "cli/out.h"
#include "control/single.h"
#include "table/stats.h"

static json_t *process_json(const struct live *live)
{
	struct stats_process sum;
	stats_process_sum(live->table, &sum);
	json_t *out = json_object();
#define X(name, help) json_object_set_new(out, #name, json_integer((json_int_t)sum.name));
	STATS_PROCESS(X)
#undef X
	if (live->image->kind == IMAGE_OF_POLICY)
		json_object_set_new(out, "bans", json_integer((json_int_t)bans_count(live)));
	return out;
}

static json_t *control_json(const struct live *live)
{
	int pid;
	bool runs = single_runs(table_path(live->table), &pid);
	return json_pack("{s:b, s:i}", "running", runs, "pid", pid);
}

int show_key(const struct live *live, uint32_t limit, const struct options_list *parts, json_t **out)
{
	struct keys keys;
	int status = STATUS_FINE;
	size_t choice = 0;
	*out = json_array();
	do {
		status = keys_find(&keys, live, limit, parts, choice);
		for (size_t i = 0; status == STATUS_FINE && i < keys.flow->hit_count; i++) {
			json_t *counter = counter_json(live, keys.flow, &keys.flow->hits[i]);
			if (keys.chosen[0])
				json_object_set_new(counter, "as", out_own(text_of(keys.chosen)));
			json_array_append_new(*out, counter);
		}
		keys_free(&keys);
	} while (status == STATUS_FINE && ++choice < keys.choices);
	return status;
}

/* With --limit and --key: that key; with --limit: that limit; else everything. */
static int document(const struct live *live, const char *name, const struct options_list *key, json_t **out)
{
	uint32_t limit = UINT32_MAX;
	int status = STATUS_FINE;
	json_t *counters = NULL;
	char note[1024];
	if (name && (limit = live_limit(live, name)) == UINT32_MAX)
		return STATUS_USAGE;
	if (key->count && (status = show_key(live, limit, key, &counters)) != STATUS_FINE) {
		json_decref(counters);
		return status;
	}
	*out = json_pack("{s:o, s:o, s:o, s:o}", "table", out_own(text_of(table_path(live->table))), "policy",
			 show_policy(live), "control", control_json(live), "limits",
			 show_limits(live, limit));
	if (gateway_note_read(table_path(live->table), note, sizeof note))
		json_object_set_new(*out, "gateway", json_pack("{s:b, s:s}", "in_force", false, "why", note));
	if (counters)
		json_object_set_new(*out, "key", counters);
	if (!name)
		json_object_update_new(*out, json_pack("{s:o, s:o, s:o}", "requests", process_json(live),
						       "untrusted", show_untrusted(live), "recently",
						       show_happenings(live, 20)));
	return STATUS_FINE;
}

int show_command(int argc, char **argv)
{
	struct find find = {0};
	struct options_list key = {.count = 0};
	const char *limit = NULL;
	const struct options_rule rules[] = {
		{"--limit", OPTIONS_TEXT, &limit, "NAME", "only this limit"},
		{"--key", OPTIONS_LIST, &key, "VALUE",
		 "and this client of it: a part of its key; repeat for more"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis = "weir show [--limit NAME [--key VALUE]…] [--policy FILE | --nginx-conf FILE | "
			    "--table PATH]",
		.about = "Shows the policy in force, what each limit allowed and refused since the table was "
			 "made, who was\n"
			 "refused of late, and proxies that are not trusted. With --key: what one client has "
			 "left.\n"
			 "Of nginx's own limits the same: each limit_req_zone and limit_conn_zone by its "
			 "name.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	struct live live = {0};
	json_t *shown = NULL;
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (key.count && !limit) {
		out_error("--key needs --limit: each limit has its own");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, true);
	if (status == STATUS_FINE)
		status = document(&live, limit, &key, &shown);
	if (shown && out_as_json) {
		out_document(shown);
	} else if (shown) {
		show_print(shown, live_wall(&live));
		json_decref(shown);
	}
	live_close(&live);
	return status;
}
