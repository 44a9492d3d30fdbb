/* SPDX-License-Identifier: BSD-2-Clause */
/* weir ban, weir unban: somebody is refused for a while by the operator's word, and is not any more. */
#include <stdio.h>
#include <string.h>

#include "algo/ban.h"
#include "cli/api_keys.h"
#include "cli/out.h"
#include "cli/whom.h"
#include "table/given.h"

#define WAIT_MS	  1000u
#define SECOND_NS INT64_C(1000000000)

/* nginx's own zones are asked by nginx's locations, and by nothing that knows bans. */
static int bans_here(const struct live *live)
{
	if (live->image->kind == IMAGE_OF_POLICY && live->image->clients.ban_row != TABLE_ROW_NONE)
		return STATUS_FINE;
	if (live->image->kind == IMAGE_OF_ZONES)
		out_error("%s serves nginx's own zones, which know no bans", table_path(live->table));
	else
		out_error("the policy in force was published by an older weir: publish it again");
	return STATUS_SYSTEM;
}

/* From now on. STATUS_USAGE after saying why. */
static int length_of(const struct live *live, const char *length, const char *until, uint64_t *ns)
{
	int64_t seconds = 0, wall = live_wall(live), at;
	if ((length != NULL) == (until != NULL)) {
		out_error("say for how long: --for 1h, or --until 2030-12-31");
		return STATUS_USAGE;
	}
	if (length && !api_keys_length("--for", length, &seconds))
		return STATUS_USAGE;
	if (until) {
		if (!api_keys_when("--until", until, wall, false, &at))
			return STATUS_USAGE;
		seconds = at - wall; /* "never" is 0 */
	}
	if (seconds < 1 || seconds > (int64_t)BAN_MAX_NS / SECOND_NS) {
		out_error("a ban lasts a second to ten years");
		return STATUS_USAGE;
	}
	*ns = (uint64_t)(seconds * SECOND_NS);
	return STATUS_FINE;
}

static void note(const struct live *live, const struct whom *whom, const struct table_key *key,
		 const struct table_look *look, const char *reason)
{
	char why[256];
	struct roster_entry entry = {.key = *key,
				     .until = ban_until(look->state),
				     .made_at = live_wall(live),
				     .whom = (uint8_t)whom_kind(whom),
				     .hashed = live->image->clients.privacy_hash != 0};
	if (entry.hashed)
		snprintf(entry.name, sizeof entry.name, "%016llx",
			 (unsigned long long)table_key_digest(live->table, key, sizeof *key));
	else
		snprintf(entry.name, sizeof entry.name, "%.111s",
			 whom->kind == BAN_ADDRESS ? whom->shown : whom->name);
	snprintf(entry.reason, sizeof entry.reason, "%.95s", reason ? reason : "");
	if (roster_write(live->table, &entry, live->now.now, WAIT_MS, &(struct why){why, sizeof why}) !=
	    WEIR_OK)
		fprintf(stderr, "weir: the ban is in force, but without a name in `weir bans`: %s\n", why);
}

static int ban(const struct live *live, const char *word, uint64_t length_ns, const char *reason)
{
	struct whom whom;
	struct table_look look;
	int status = whom_read(live, word, &whom);
	if (status != STATUS_FINE)
		return status;
	struct table_key key = whom_key(live, &whom);
	if (table_ban(live->table, &key, live->image->clients.ban_row, &live->now, length_ns, &look) !=
	    TABLE_CHARGED) {
		out_error("%s: no room for the ban of %s", table_path(live->table), whom.shown);
		return STATUS_SYSTEM;
	}
	note(live, &whom, &key, &look, reason);
	int64_t until = live_wall_at(live, ban_until(look.state));
	char left[64], when[64];
	if (out_as_json)
		out_document(json_pack("{s:o, s:I}", "banned", out_own(text_of(whom.shown)), "until",
				       (json_int_t)until));
	else
		printf("%s is banned for %s, until %s\n", whom.shown,
		       out_duration(length_ns, left, sizeof left),
		       out_when(until, live_wall(live), when, sizeof when));
	return STATUS_FINE;
}

int ban_command(int argc, char **argv)
{
	struct find find = {0};
	const char *length = NULL, *until = NULL, *reason = NULL;
	const struct options_rule rules[] = {
		{"--for", OPTIONS_TEXT, &length, "TIME", "from now on: 90s, 15min, 12h, 30d"},
		{"--until", OPTIONS_TEXT, &until, "DATE", "to 2030-12-31, or 2030-12-31T18:00 (UTC)"},
		{"--reason", OPTIONS_TEXT, &reason, "TEXT", "why, for `weir bans`"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis = "weir ban WHOM (--for TIME | --until DATE) [--reason TEXT] [--policy FILE | "
			    "--table PATH]",
		.about = "Refuses a client everything, from its next request on, whatever the limits say: an "
			 "address (an\n"
			 "IPv6 client with its network), an API key (key=NAME, or its name alone), or a user "
			 "(user=NAME).\n"
			 "Who is banned already is banned until then instead. The ban survives a reload, a "
			 "reboot and a\n"
			 "full table.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = 1,
	};
	struct live live = {0};
	uint64_t length_ns = 0;
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count != 1) {
		out_error("say whom: an address, key=NAME or user=NAME");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, false);
	if (status == STATUS_FINE)
		status = bans_here(&live);
	if (status == STATUS_FINE)
		status = length_of(&live, length, until, &length_ns);
	if (status == STATUS_FINE)
		status = ban(&live, options.words.items[0], length_ns, reason);
	live_close(&live);
	return status;
}

/* ---- lifted ---------------------------------------------------------------------------------------------- */

/* Of one key of the limit: its ban, and the strikes towards the next. Adds the limit to `from` if there was one. */
static int lift_from(const struct live *live, uint32_t limit, const struct options_list *parts, json_t *from)
{
	const struct image_limit *record = image_limit_at(live->image, limit);
	struct text name = image_text(live->image, record->name);
	struct table_look look;
	struct keys keys;
	if (record->then.ban_ns == 0 || record->then.ban_row == TABLE_ROW_NONE) {
		out_error("%.*s bans nobody: it has no `then`", (int)name.size, name.data);
		return STATUS_USAGE;
	}
	int status = whom_parts(&keys, live, limit, parts);
	if (status == STATUS_FINE && keys.flow->hit_count > 0) {
		struct table_key key = ban_hit_key(keys.flow, &keys.flow->hits[0]);
		struct table_key strikes = ban_hit_strikes(keys.flow, &keys.flow->hits[0]);
		table_peek(live->table, &key, record->then.ban_row, &live->now, 1, &look);
		table_forget(live->table, &strikes);
		if (table_forget(live->table, &key) && !look.allowed)
			json_array_append_new(from, out_own(name));
	}
	keys_free(&keys);
	return status;
}

/* The operator's, and those of limits that ban nothing but this client. */
static int lift(const struct live *live, const char *word, json_t *from, char *shown, size_t size)
{
	struct whom whom;
	struct table_look look;
	int status = whom_read(live, word, &whom);
	if (status != STATUS_FINE)
		return status;
	snprintf(shown, size, "%s", whom.shown);
	struct table_key key = whom_key(live, &whom);
	table_peek(live->table, &key, live->image->clients.ban_row, &live->now, 1, &look);
	if (table_forget(live->table, &key) && !look.allowed)
		json_array_append_new(from, json_string("operator"));
	const struct options_list part = {.items = {whom.part}, .count = 1};
	for (uint32_t i = 0; status == STATUS_FINE && i < live->image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(live->image, i);
		if (limit->then.ban_ns && whom_is_all(live, limit, &whom))
			status = lift_from(live, i, &part, from);
	}
	return status;
}

static int unban(const struct live *live, const char *limit_name, const struct options_list *words)
{
	char shown[320] = "";
	json_t *from = json_array();
	uint32_t limit = limit_name ? live_limit(live, limit_name) : UINT32_MAX;
	int status = limit_name && limit == UINT32_MAX ? STATUS_USAGE
		     : limit_name		       ? lift_from(live, limit, words, from)
				  : lift(live, words->items[0], from, shown, sizeof shown);
	if (limit_name)
		out_escape(text_of(words->items[0]), shown, sizeof shown);
	if (status != STATUS_FINE) {
		json_decref(from);
	} else if (out_as_json) {
		out_document(json_pack("{s:o, s:o}", "unbanned", out_own(text_of(shown)), "from", from));
	} else {
		size_t i;
		json_t *name;
		for (i = 0; (name = json_array_get(from, i)); i++)
			printf("%s is not banned any more%s%s\n", shown,
			       strcmp(json_string_value(name), "operator") == 0 ? "" : " from ",
			       strcmp(json_string_value(name), "operator") == 0 ? ""
										: json_string_value(name));
		if (json_array_size(from) == 0)
			printf("%s was not banned\n", shown);
		json_decref(from);
	}
	return status;
}

int unban_command(int argc, char **argv)
{
	struct find find = {0};
	const char *limit = NULL;
	const struct options_rule rules[] = {
		{"--limit", OPTIONS_TEXT, &limit, "NAME",
		 "only its ban; WHOM is then the key, part by part, as for weir reset"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis = "weir unban WHOM… [--limit NAME] [--policy FILE | --table PATH]",
		.about = "Lifts a ban, from the next request on: the operator's, and those of limits whose "
			 "key is "
			 "nothing but\n"
			 "this client. With --limit the limit's own ban of one key of it. What was refused "
			 "before "
			 "is forgotten.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = OPTIONS_LIST_MAX,
	};
	struct live live = {0};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count < 1 || (!limit && options.words.count > 1)) {
		out_error("say whom: an address, key=NAME or user=NAME; or --limit NAME and the parts of its "
			  "key");
		return STATUS_USAGE;
	}
	status = live_open(&live, &find, false);
	if (status == STATUS_FINE)
		status = bans_here(&live);
	if (status == STATUS_FINE)
		status = unban(&live, limit, &options.words);
	live_close(&live);
	return status;
}
