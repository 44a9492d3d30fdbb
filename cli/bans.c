/* SPDX-License-Identifier: BSD-2-Clause */
/* weir bans: who is banned now. The slots of the table say that; the roster beside it, who it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/ban.h"
#include "cli/bans.h"
#include "cli/out.h"
#include "cli/whom.h"
#include "table/given.h"
#include "table/ledger.h"

struct count {
	uint64_t identities[256]; /* of the rows under which the policy in force bans */
	size_t known;
	uint64_t bans;
};

static void know(struct count *count, const struct live *live, uint32_t row)
{
	const struct ledger_row *its = row == TABLE_ROW_NONE ? NULL : ledger_row(live->table, row);
	if (its && count->known < sizeof count->identities / sizeof *count->identities)
		count->identities[count->known++] = its->identity;
}

static void add(void *context, uint64_t identity, uint64_t until)
{
	struct count *count = context;
	(void)until;
	for (size_t i = 0; i < count->known; i++)
		if (count->identities[i] == identity) {
			count->bans++;
			return;
		}
}

uint64_t bans_count(const struct live *live)
{
	struct count count = {0};
	if (table_bans_until(live->table) > live->now.now)
		know(&count, live, live->image->clients.ban_row);
	for (uint32_t i = 0; i < live->image->limits.count; i++)
		know(&count, live, image_limit_at(live->image, i)->then.ban_row);
	if (count.known) /* else there is nothing to look for */
		table_bans_each(live->table, live->now.now, add, &count);
	return count.bans;
}

/* The row under which the entry's ban stands; TABLE_ROW_NONE: the policy has no such limit any more. */
static uint32_t row_of(const struct live *live, const struct roster_entry *entry)
{
	if (!entry->limit[0])
		return live->image->clients.ban_row;
	for (uint32_t i = 0; i < live->image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(live->image, i);
		if (text_equal(image_text(live->image, limit->name), text_of(entry->limit)))
			return limit->then.ban_row;
	}
	return TABLE_ROW_NONE;
}

/* NULL: it is over, or lifted. */
static json_t *ban_json(const struct live *live, const struct roster_entry *entry)
{
	static const char *const WHOM[] = {[ROSTER_KEY] = "key",
					   [ROSTER_ADDRESS] = "address",
					   [ROSTER_API_KEY] = "api-key",
					   [ROSTER_USER] = "user"};
	uint32_t row = row_of(live, entry);
	struct table_look look;
	if (row == TABLE_ROW_NONE)
		return NULL;
	table_peek(live->table, &entry->key, row, &live->now, 1, &look);
	if (look.allowed || look.numbers.kind != ALGO_BAN)
		return NULL;
	return json_pack("{s:s, s:o, s:b, s:s, s:I, s:I, s:I, s:I, s:o}", "whom", WHOM[entry->whom], "name",
			 out_hostile(text_of(entry->name)), "hashed", entry->hashed, "by",
			 entry->limit[0] ? entry->limit : "operator", "level",
			 (json_int_t)ban_level(look.state), "since", (json_int_t)entry->made_at, "until",
			 (json_int_t)live_wall_at(live, ban_until(look.state)), "left_ns",
			 (json_int_t)(ban_until(look.state) - live->now.now), "reason",
			 out_own(text_of(entry->reason)));
}

static int by_end(const void *a, const void *b)
{
	uint64_t x = ((const struct roster_entry *)a)->until, y = ((const struct roster_entry *)b)->until;
	return x < y ? -1 : x > y;
}

static const char *text(const json_t *ban, const char *name)
{
	const char *value = json_string_value(json_object_get(ban, name));
	return value ? value : "";
}

static void print(const struct live *live, const json_t *bans, uint64_t unnamed)
{
	size_t i;
	json_t *ban;
	char left[64], when[64], whom[512];
	if (json_array_size(bans))
		printf("%-36s %-16s %-19s %-14s %s\n", "WHOM", "BY", "UNTIL", "LEFT", "WHY");
	json_array_foreach(bans, i, ban)
	{
		int64_t level = json_integer_value(json_object_get(ban, "level"));
		const char *kind = text(ban, "whom");
		snprintf(whom, sizeof whom, "%s%s",
			 strcmp(kind, "user") == 0	? "user "
			 : strcmp(kind, "api-key") == 0 ? "API key "
							: "",
			 text(ban, "name"));
		out_when((int64_t)json_integer_value(json_object_get(ban, "until")), live_wall(live), when,
			 sizeof when);
		out_duration((uint64_t)json_integer_value(json_object_get(ban, "left_ns")), left,
			     sizeof left);
		printf("%-36s %-16s %-19s %-14s %s", whom, text(ban, "by"), when, left, text(ban, "reason"));
		if (level > 1)
			printf("ban number %lld in a row", (long long)level);
		putchar('\n');
	}
	if (unnamed)
		printf("%s%s more without a name\n", json_array_size(bans) ? "and " : "",
		       out_number(unnamed, left, sizeof left));
	else if (json_array_size(bans) == 0)
		printf("nobody is banned\n");
}

static int bans(const struct live *live)
{
	struct roster_entry *entries;
	size_t count;
	char why[256];
	enum weir_error error = roster_read(live->table, live->now.now, &entries, &count,
					    &(struct why){why, sizeof why});
	if (error != WEIR_OK)
		return out_failure(error, why);
	if (count)
		qsort(entries, count, sizeof *entries, by_end);
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++) {
		json_t *ban = ban_json(live, &entries[i]);
		if (ban)
			json_array_append_new(list, ban);
	}
	free(entries);
	uint64_t all = bans_count(live), named = json_array_size(list);
	uint64_t unnamed = all > named ? all - named : 0;
	if (out_as_json) {
		out_document(json_pack("{s:o, s:I}", "bans", list, "unnamed", (json_int_t)unnamed));
	} else {
		print(live, list, unnamed);
		json_decref(list);
	}
	return STATUS_FINE;
}

int bans_command(int argc, char **argv)
{
	struct find find = {0};
	const struct options_rule rules[] = {FIND_OPTIONS(&find)};
	struct options options = {
		.synopsis = "weir bans [--policy FILE | --table PATH]",
		.about = "Who is banned now: by the operator (weir ban) and by limits with `then`, who ends "
			 "first "
			 "comes first.\n"
			 "Names are kept for the last few thousand; those without one are counted.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
	};
	struct live live = {0};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	status = live_open(&live, &find, true);
	if (status == STATUS_FINE)
		status = bans(&live);
	live_close(&live);
	return status;
}
