/* SPDX-License-Identifier: BSD-2-Clause */
/* weir why: what became of a request, from the id that its refusal carried; or why a client would be refused now. */
#include "cli/why.h"

#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/out.h"

static const char *get(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text ? text : "";
}

static void print_reason(const json_t *document)
{
	const char *kind = get(document, "kind"), *limit = get(document, "limit"),
		   *counter = get(document, "counter");
	const char *named = *limit ? limit : "a limit that is not in force any more";
	if (strcmp(kind, "missing key") == 0)
		printf("limit %s found nothing to count it by, and says `missing: deny`\n", named);
	else if (strcmp(kind, "deny list") == 0)
		printf("the policy's deny list named it\n");
	else if (strcmp(kind, "ban") == 0 && *limit)
		printf("it was banned by limit %s\n", named);
	else if (strcmp(kind, "ban") == 0)
		printf("the operator had banned it\n");
	else if (strcmp(kind, "unknown key") == 0)
		printf("its API key was not a valid one: %s\n", get(document, "reason"));
	else if (strcmp(kind, "token") == 0)
		printf("its token was not believed: %s\n", get(document, "reason"));
	else if (strcmp(kind, "plan") == 0)
		printf("by limit %s its plan never may\n", named);
	else if (strcmp(kind, "place") == 0)
		printf("every place in flight of limit %s was taken\n", named);
	else if (strcmp(kind, "new keys") == 0)
		printf("its address had brought too many new keys to limit %s\n", named);
	else if (*counter && strcmp(counter, limit) != 0)
		printf("it was over limit %s, by its counter %s\n", named, counter);
	else
		printf("it was over limit %s\n", named);
}

static void print_now(const json_t *document)
{
	const json_t *now = json_object_get(document, "now");
	char wait[48];
	if (json_is_object(now)) {
		printf("now       %lld of %lld left",
		       (long long)json_integer_value(json_object_get(now, "remaining")),
		       (long long)json_integer_value(json_object_get(now, "limit")));
		if (json_is_false(json_object_get(now, "fits")) &&
		    json_is_integer(json_object_get(now, "wait_ns")))
			printf(", the next one fits in %s",
			       out_duration((uint64_t)json_integer_value(json_object_get(now, "wait_ns")),
					    wait, sizeof wait));
		printf("\n");
	} else if (json_is_string(json_object_get(document, "slot"))) {
		printf("now       its counter is not in the table any more, or is more than a number: weir "
		       "get\n");
	}
}

void why_print(const json_t *document, const struct live *live)
{
	const json_t *generation = json_object_get(document, "generation"),
		     *wait = json_object_get(document, "said_wait_s"), *help;
	char text[48];
	size_t i;
	printf("refused   %s, ", out_when(json_integer_value(json_object_get(document, "at")),
					  live_wall(live), text, sizeof text));
	print_reason(document);
	if (json_is_integer(wait))
		printf("told      to come again in %s\n",
		       out_duration((uint64_t)json_integer_value(wait) * 1000000000, text, sizeof text));
	if (json_is_true(json_object_get(generation, "in_force")))
		printf("policy    generation %lld, which is in force\n",
		       (long long)json_integer_value(json_object_get(generation, "current")));
	else
		printf("policy    an older one; generation %lld is in force now\n",
		       (long long)json_integer_value(json_object_get(generation, "current")));
	if (*get(document, "who"))
		printf("whose     %s\n", get(document, "who"));
	else if (*get(document, "slot"))
		printf("whose     not known any more; its counter is @%s\n", get(document, "slot"));
	print_now(document);
	for (i = 0; (help = json_array_get(json_object_get(document, "help"), i)); i++)
		printf("%s%s\n", i ? "          " : "helps     ", json_string_value(help));
}

static int by_id(const struct live *live, const char *id)
{
	struct refusal refusal;
	char shown[65]; /* whoever sends an id to the operator may send him anything */
	switch (refusal_read(live->table, text_of(id), &refusal)) {
	case REFUSAL_MISTYPED:
		out_escape(text_of(id), shown, sizeof shown);
		out_error("'%s' is no refusal's id, or not copied right: 27 letters and digits", shown);
		return STATUS_USAGE;
	case REFUSAL_FOREIGN:
		out_error("not a refusal of %s: another machine's, or of a table that is gone",
			  table_path(live->table));
		return STATUS_SYSTEM;
	case REFUSAL_READ:
		break;
	}
	json_t *document = why_json(live, id, &refusal);
	if (!document)
		return out_failure(WEIR_NO_MEMORY, NULL);
	if (out_as_json) {
		out_document(document);
		return STATUS_FINE;
	}
	why_print(document, live);
	json_decref(document);
	return STATUS_FINE;
}

/* Which limits would refuse this client's next request. */
static int by_key(const struct live *live, const struct options_list *words, const char *name)
{
	struct client client;
	uint32_t only = UINT32_MAX;
	int status = client_read(&client, live, words);
	if (status != STATUS_FINE)
		return status;
	if (name && (only = live_limit(live, name)) == UINT32_MAX)
		return STATUS_USAGE;
	json_t *refusing = json_array(), *out = client_json(&client);
	for (uint32_t i = 0; i < live->image->limits.count; i++) {
		if ((only != UINT32_MAX && only != i) ||
		    image_limit_at(live->image, i)->mode != IMAGE_ENFORCE)
			continue;
		json_t *one = client_limit_json(&client, i);
		if (one && json_is_true(json_object_get(one, "refuses")))
			json_array_append_new(refusing, one);
		else
			json_decref(one);
	}
	bool refused = json_array_size(refusing) || json_is_integer(json_object_get(out, "banned_until"));
	json_object_set_new(out, "refused", json_boolean(refused));
	json_object_set_new(out, "limits", refusing);
	if (out_as_json) {
		out_document(out);
		return refused ? STATUS_FINDINGS : STATUS_FINE;
	}
	if (json_is_integer(json_object_get(out, "banned_until")))
		printf("the operator has banned it; weir bans says why\n");
	if (!refused)
		printf("nothing refuses it now\n");
	client_print(refusing, live);
	json_decref(out);
	return refused ? STATUS_FINDINGS : STATUS_FINE;
}

int why_command(int argc, char **argv)
{
	struct find find = {0};
	struct live live = {0};
	struct options_list key = {.count = 0};
	const char *limit = NULL, *plan = NULL;
	const struct options_rule rules[] = {
		{"--key", OPTIONS_LIST, &key, "WHO",
		 "why this client is refused now, named as for weir get; repeat for more"},
		{"--limit", OPTIONS_TEXT, &limit, "NAME", "with --key: only by this limit"},
		{"--plan", OPTIONS_TEXT, &plan, "NAME", "with --key: as a client of this plan"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis =
			"weir why (REFUSAL-ID | --key WHO… [--limit NAME]) [--policy FILE | --table PATH]",
		.about = "Says why a request was refused, from the id that its answer carried (header "
			 "Weir-Refusal, `id` "
			 "of the\n"
			 "body): when, by which limit, whose counter, what that says now, and what helps. "
			 "With --key: what "
			 "would\n"
			 "refuse a client now.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if ((options.words.count == 1) == (key.count > 0) || (limit && !key.count)) {
		out_error("say a refusal's id, or --key WHO");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, true);
	live.plan = plan;
	if (status == STATUS_FINE)
		status = key.count ? by_key(&live, &key, limit) : by_id(&live, options.words.items[0]);
	live_close(&live);
	return status;
}
