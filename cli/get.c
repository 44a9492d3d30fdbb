/* SPDX-License-Identifier: BSD-2-Clause */
/* weir get: one client over all limits: what it has used, what is left, until when; bans and grants. */
#include <stdio.h>

#include "cli/client.h"
#include "cli/out.h"

static int get(const struct client *client, const char *name)
{
	const struct live *live = client->live;
	uint32_t only = UINT32_MAX;
	json_t *limits = json_array(), *out;
	char text[32];
	if (name && (only = live_limit(live, name)) == UINT32_MAX) {
		json_decref(limits);
		return STATUS_USAGE;
	}
	for (uint32_t i = 0; i < live->image->limits.count; i++) {
		if ((only != UINT32_MAX && only != i) ||
		    image_limit_at(live->image, i)->mode == IMAGE_DISABLED)
			continue;
		json_t *one = client_limit_json(client, i);
		if (!one) {
			json_decref(limits);
			return STATUS_USAGE;
		}
		json_array_append_new(limits, one);
	}
	out = client_json(client);
	json_object_set_new(out, "limits", limits);
	if (out_as_json) {
		out_document(out);
		return STATUS_FINE;
	}
	const json_t *part;
	for (size_t i = 0; (part = json_array_get(json_object_get(out, "parts"), i)); i++)
		printf("%s%s", i ? ", " : "", json_string_value(part));
	if (client->said_key && !client->known)
		printf(" (no key of that name is known here)");
	if (json_is_string(json_object_get(out, "plan")))
		printf("; plan %s", json_string_value(json_object_get(out, "plan")));
	printf("\n");
	if (json_is_integer(json_object_get(out, "banned_until")))
		printf("banned until %s: weir bans says why\n",
		       out_when(json_integer_value(json_object_get(out, "banned_until")), live_wall(live),
				text, sizeof text));
	client_print(limits, live);
	json_decref(out);
	return STATUS_FINE;
}

int get_command(int argc, char **argv)
{
	struct find find = {0};
	struct live live = {0};
	struct client client;
	const char *limit = NULL, *plan = NULL;
	const struct options_rule rules[] = {
		{"--limit", OPTIONS_TEXT, &limit, "NAME", "only this limit"},
		{"--plan", OPTIONS_TEXT, &plan, "NAME", "as a client of this plan"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis = "weir get WHO… [--limit NAME] [--plan NAME] [--policy FILE | --table PATH]",
		.about = "Shows what a client has used of each limit, and what is left. WHO is an address, "
			 "the name of "
			 "an API\n"
			 "key, or KIND=VALUE as in a limit's key (header.x-api-key=abc, user=ann); several "
			 "are one client "
			 "that\n"
			 "comes with all of them.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 16,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count == 0) {
		out_error("say who: an address, the name of an API key, or KIND=VALUE");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, true);
	live.plan = plan;
	if (status == STATUS_FINE)
		status = client_read(&client, &live, &options.words);
	if (status == STATUS_FINE)
		status = get(&client, limit);
	live_close(&live);
	return status;
}
