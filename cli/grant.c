/* SPDX-License-Identifier: BSD-2-Clause */
/* weir grant: a client may more than its limit says, until a date. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/grant.h"
#include "algo/window.h"
#include "cli/api_keys.h"
#include "cli/out.h"
#include "cli/whom.h"
#include "flow/grant.h"
#include "table/given.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS	  (UINT64_C(86400) * 1000000000)

/* When the limit's own units come back: the end of the window, or of the one that would begin now; else a day. */
static uint64_t default_until(const struct live *live, const struct flow_hit *hit)
{
	struct table_look look;
	table_peek(live->table, &hit->key,
		   hit->row != TABLE_ROW_NONE ? hit->row : image_counter_at(live->image, hit->counter)->row,
		   &live->now, 1, &look);
	if (look.numbers.kind != ALGO_FIXED_WINDOW)
		return live->now.now + DAY_NS;
	uint64_t end = window_end(&look.numbers, look.state);
	return end > live->now.now ? end : window_begin(&look.numbers, &live->now, end);
}

struct given {
	uint32_t units;
	uint64_t until;	 /* 0: by the limit */
	uint64_t before; /* what was left of another grant */
	size_t counters;
};

static int give(const struct live *live, const struct flow_hit *hit, struct given *given)
{
	uint32_t row = live->image->clients.grant_row;
	struct table_key key = grant_key(live->table, live->image, &hit->key);
	uint64_t until = given->until ? given->until : default_until(live, hit);
	struct table_look look;
	if (until > live->now.now + GRANT_NS_MAX)
		until = live->now.now + GRANT_NS_MAX;
	table_peek(live->table, &key, row, &live->now, 0, &look);
	uint64_t left = look.found ? grant_left(&look.numbers, look.state, live->now.now) : 0;
	given->before = left > given->before ? left : given->before;
	given->counters++;
	if (given->units == 0) {
		table_forget(live->table, &key);
		return STATUS_FINE;
	}
	given->until = until;
	if (table_grant(live->table, &key, row, &live->now, given->units, until, &look) == TABLE_CHARGED)
		return STATUS_FINE;
	out_error("%s: no room for the grant", table_path(live->table));
	return STATUS_SYSTEM;
}

static void tell(const struct live *live, const char *name, const struct options_list *parts,
		 const struct given *given)
{
	int64_t until = given->units ? live_wall_at(live, given->until) : 0;
	char shown[1024] = "", when[64], number[32], before[32];
	for (size_t i = 0; i < parts->count && strlen(shown) + 300 < sizeof shown; i++) {
		char part[256];
		size_t used = strlen(shown);
		out_escape(text_of(parts->items[i]), part, sizeof part);
		snprintf(shown + used, sizeof shown - used, "%s%s", i ? ", " : "", part);
	}
	if (out_as_json) {
		out_document(json_pack("{s:o, s:o, s:I, s:I, s:I}", "whom", out_own(text_of(shown)), "limit",
				       out_own(text_of(name)), "granted", (json_int_t)given->units, "before",
				       (json_int_t)given->before, "until", (json_int_t)until));
		return;
	}
	if (given->units)
		printf("%s has %s more of %s until %s", shown,
		       out_number(given->units, number, sizeof number), name,
		       out_when(until, live_wall(live), when, sizeof when));
	else
		printf("%s has nothing more of %s", shown, name);
	if (given->before)
		printf(", instead of %s", out_number(given->before, before, sizeof before));
	putchar('\n');
}

static int grant(const struct live *live, const char *name, const struct options_list *parts,
		 struct given *given)
{
	struct keys keys;
	uint32_t limit = live_limit(live, name);
	if (limit == UINT32_MAX)
		return STATUS_USAGE;
	if (live->image->kind != IMAGE_OF_POLICY || live->image->clients.grant_row == TABLE_ROW_NONE) {
		out_error(
			live->image->kind == IMAGE_OF_ZONES
				? "%s serves nginx's own zones, which know no grants"
				: "%s: the policy in force was published by an older weir: publish it again",
			table_path(live->table));
		return STATUS_SYSTEM;
	}
	int status = whom_parts(&keys, live, limit, parts);
	for (size_t i = 0; status == STATUS_FINE && i < keys.flow->hit_count; i++)
		if (keys.flow->hits[i].what == IMAGE_RATE)
			status = give(live, &keys.flow->hits[i], given);
	keys_free(&keys);
	if (status == STATUS_FINE && given->counters == 0) {
		out_error("%s has no rate, and only of a rate can there be more", name);
		return STATUS_USAGE;
	}
	if (status == STATUS_FINE)
		tell(live, name, parts, given);
	return status;
}

static bool units(const char *word, uint32_t *out)
{
	char *end;
	errno = 0;
	unsigned long long number = strtoull(word, &end, 10);
	if (*word >= '0' && *word <= '9' && !*end && !errno && number <= GRANT_UNITS_MAX) {
		*out = (uint32_t)number;
		return true;
	}
	out_error("'%s' is no number of 0 to %u", word, GRANT_UNITS_MAX);
	return false;
}

/* Table time; 0: not said. */
static int read_until(const struct live *live, const char *word, uint64_t *out)
{
	int64_t at, wall = live_wall(live);
	if (!word)
		return STATUS_FINE;
	if (!api_keys_when("--until", word, wall, false, &at))
		return STATUS_USAGE;
	if (at <= wall || at - wall > (int64_t)GRANT_NS_MAX / SECOND_NS) {
		out_error("--until: a grant ends within 400 days");
		return STATUS_USAGE;
	}
	*out = live->now.now + (uint64_t)((at - wall) * SECOND_NS);
	return STATUS_FINE;
}

int grant_command(int argc, char **argv)
{
	struct find find = {0};
	const char *until = NULL;
	const struct options_rule rules[] = {
		{"--until", OPTIONS_TEXT, &until, "DATE",
		 "30d, 2030-12-31T18:00 (UTC); else the end of the limit's window, or a day"},
		FIND_OPTIONS(&find),
	};
	struct options options = {
		.synopsis = "weir grant WHOM… LIMIT N [--until DATE] [--policy FILE | --table PATH]",
		.about = "Gives one client N more than the limit allows: they are used when the limit's own "
			 "are gone. "
			 "WHOM is\n"
			 "the limit's key, part by part, as for weir reset: 192.0.2.7, api-key=acme, "
			 "user=ann. A "
			 "grant takes the\n"
			 "place of the one before; N 0 takes it away. Of a limit with several rates each "
			 "gets as many.\n",
		.rules = rules,
		.rule_count = sizeof rules / sizeof *rules,
		.words_max = OPTIONS_LIST_MAX,
	};
	struct live live = {0};
	struct given given = {0};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (options.words.count < 3) {
		out_error("say whom, which limit and how many: weir grant api-key=acme api 1000");
		return STATUS_USAGE;
	}
	struct options_list parts = options.words;
	parts.count -= 2;
	if (!units(options.words.items[parts.count + 1], &given.units))
		return STATUS_USAGE;
	status = live_open(&live, &find, false);
	if (status == STATUS_FINE)
		status = read_until(&live, until, &given.until);
	if (status == STATUS_FINE)
		status = grant(&live, options.words.items[parts.count], &parts, &given);
	live_close(&live);
	return status;
}
