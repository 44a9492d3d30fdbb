/* SPDX-License-Identifier: BSD-2-Clause */
/* ban: keys that are banned, and what they keep through a policy's edit, a full table, a reboot and another size. */
#include "algo/ban.h"
#include "table/evict.h"
#include "table/given.h"
#include "table/slot.h"
#include "table/snapshot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define BEGIN  (UINT64_C(1) << 41)
#define MINUTE (60 * RIG_SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

static struct algo_numbers ban_numbers(uint64_t ban, uint64_t most)
{
	struct algo_numbers n;
	if (!algo_ban_numbers(ban, most, &n))
		rig_die("algo_ban_numbers", "refused");
	return n;
}

/* Row 0: 15 minutes up to a day; row 1: the same counter after an edit, 1 minute up to 4. */
enum act { BAN, OTHER, CHOSEN, LIFT, LOOK };
static const struct {
	enum act act;
	uint64_t at, length;
	int result;	 /* of bans: enum table_charge; of LIFT: was it there */
	uint64_t banned; /* for so long, from then */
	const char *what;
} steps[] = {
	{LOOK, 0, 0, 0, 0, "nobody is banned"},
	{BAN, 0, 0, TABLE_CHARGED, 15 * MINUTE, "banned"},
	{BAN, MINUTE, 0, TABLE_REFUSED, 14 * MINUTE, "banned already: nothing changes"},
	{LOOK, 15 * MINUTE - 1, 0, 0, 1, "to the end"},
	{LOOK, 15 * MINUTE, 0, 0, 0, "over"},
	{BAN, 20 * MINUTE, 0, TABLE_CHARGED, 30 * MINUTE, "again: twice as long"},
	{OTHER, 21 * MINUTE, 0, TABLE_REFUSED, 29 * MINUTE, "under other numbers it goes on"},
	{OTHER, 50 * MINUTE, 0, TABLE_CHARGED, 4 * MINUTE, "and the third is four of their minutes"},
	{BAN, 54 * MINUTE, 0, TABLE_CHARGED, 4 * MINUTE, "who still has the older row bans by the newer"},
	{LIFT, 55 * MINUTE, 0, true, 0, "lifted"},
	{LIFT, 55 * MINUTE, 0, false, 0, "it is not there twice"},
	{BAN, 56 * MINUTE, 0, TABLE_CHARGED, 15 * MINUTE, "and all is forgotten: a first ban"},
	{CHOSEN, 57 * MINUTE, HOUR, TABLE_CHARGED, HOUR, "an hour, by somebody's choice"},
	{CHOSEN, 58 * MINUTE, MINUTE, TABLE_CHARGED, MINUTE, "shortened to a minute"},
	{CHOSEN, 58 * MINUTE, 400 * DAY, TABLE_CHARGED, DAY, "never longer than the row's longest"},
	{BAN, 59 * MINUTE, 0, TABLE_REFUSED, DAY - MINUTE, "which the numbers do not shorten"},
};

static void check_steps(struct table *table, const uint32_t rows[2])
{
	struct table_key key = rig_key(table, 1, 1);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct algo_time t = {.now = BEGIN + steps[i].at};
		struct table_look look;
		struct algo_report report;
		int result = steps[i].result;
		uint32_t row = rows[steps[i].act == OTHER];
		if (steps[i].act == LIFT)
			result = table_forget(table, &key);
		else if (steps[i].act != LOOK)
			result = (int)table_ban(table, &key, row, &t, steps[i].length, &look);
		is_u64(result, steps[i].result, steps[i].what);
		if (steps[i].act < LIFT)
			is_u64(ban_until(look.state) - t.now, steps[i].banned, "  the ban's own look");
		table_peek(table, &key, row, &t, 1, &look);
		table_describe(&look, &t, 1, false, &report);
		ok(look.allowed == (steps[i].banned == 0), "  banned or not");
		is_u64(report.wait_ns, steps[i].banned, "  so long");
	}
}

/* What is no ban cannot be had with table_ban, and no grant with table_grant. */
static void check_kinds(struct table *table)
{
	struct algo_numbers bucket = rig_token(5, MINUTE, 5), ban = ban_numbers(MINUTE, HOUR);
	uint32_t counts = rig_row(table, 77, &bucket, 1), bans = rig_row(table, 78, &ban, 1);
	struct table_key key = rig_key(table, 7, 7);
	struct algo_time t = {.now = BEGIN};
	struct table_look look;
	is_u64(table_ban(table, &key, counts, &t, 0, &look), TABLE_REFUSED, "a bucket bans nobody");
	is_u64(table_grant(table, &key, counts, &t, 5, BEGIN + HOUR, &look), TABLE_REFUSED,
	       "and gives nothing");
	is_u64(table_grant(table, &key, bans, &t, 5, BEGIN + HOUR, &look), TABLE_REFUSED, "nor does a ban");
	is_u64(table_ban(table, &key, 999, &t, 0, &look), TABLE_NO_ROOM, "a row that is in no ledger");
	table_peek(table, &key, bans, &t, 1, &look);
	ok(!look.found, "nothing was stored");
	is_u64(table_charge(table, &key, bans, &t, 3, &look), TABLE_CHARGED, "a ban is charged by nobody");
	is_u64(look.state, 0, "nothing comes of it");
}

/* A pair that is full of bans and of counters that are used up: a newcomer takes a counter's place. */
static void check_eviction(void)
{
	struct algo_numbers ban = ban_numbers(MINUTE, HOUR), quota = rig_window(1, 300 * DAY, 0);
	for (unsigned bans = 1; bans <= LAYOUT_WAYS; bans += LAYOUT_WAYS - 1) {
		struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
		struct table *table = rig_open(&rig);
		uint32_t bans_row = rig_row(table, 1, &ban, 1), quota_row = rig_row(table, 2, &quota, 1);
		struct algo_time t = {.now = BEGIN};
		struct table_look look;
		unsigned banned = 0;
		for (unsigned i = 0; i < LAYOUT_WAYS; i++) { /* all in pair 0 */
			struct table_key key = {.tag_word = i + 1, .line_word = 0};
			if (i < bans)
				table_ban(table, &key, bans_row, &t, 0, &look);
			else
				table_charge(table, &key, quota_row, &t, 1, &look);
		}
		for (unsigned i = 0; i < 100; i++) {
			struct table_key key = {.tag_word = 100 + i, .line_word = 0};
			table_charge(table, &key, quota_row, &t, 1, &look);
		}
		for (unsigned i = 0; i < bans; i++) {
			struct table_key key = {.tag_word = i + 1, .line_word = 0};
			table_peek(table, &key, bans_row, &t, 1, &look);
			banned += !look.allowed;
		}
		if (bans == 1)
			is_u64(banned, 1, "a year's quotas push out no ban of a minute");
		else
			is_u64(banned, LAYOUT_WAYS - 1, "where there are only bans, one makes room for all");
		table_close(&table);
		rig_free(&rig);
	}
}

/* `on_full: deny` is of counters: who is banned is banned. */
static void check_full(void)
{
	struct algo_numbers ban = ban_numbers(MINUTE, HOUR), quota = rig_window(1, 300 * DAY, 0);
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	struct algo_time t = {.now = BEGIN};
	struct table_look look;
	uint32_t row, quota_row = rig_row(table, 2, &quota, 1);
	ledger_lock(table, 1000);
	ledger_row_for(table, 1, 0, &ban, TABLE_DENY, "ban", 1, &row);
	ledger_unlock(table);
	for (unsigned i = 0; i < LAYOUT_WAYS; i++)
		table_charge(table, &(struct table_key){i + 1, 0}, quota_row, &t, 1, &look);
	struct table_key key = {100, 0};
	is_u64(table_ban(table, &key, row, &t, 0, &look), TABLE_CHARGED, "a full pair has room for a ban");
	table_close(&table);
	rig_free(&rig);
}

static void check_header(void)
{
	struct algo_numbers ban = ban_numbers(15 * MINUTE, DAY);
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	uint32_t row = rig_row(table, 6, &ban, 1);
	struct table_key a = rig_key(table, 2, 1), b = rig_key(table, 2, 2);
	struct algo_time t = {.now = BEGIN};
	struct table_look look;
	uint64_t before = table_bans_until(table);
	table_ban(table, &a, row, &t, 0, &look);
	is_u64(table_bans_until(table), before, "a limit's own ban is looked for by the limit");
	table_ban(table, &a, row, &(struct algo_time){.now = BEGIN + 2 * DAY}, HOUR, &look);
	is_u64(table_bans_until(table), BEGIN + 2 * DAY + HOUR, "one that somebody chose, by everybody");
	table_ban(table, &b, row, &t, HOUR, &look);
	is_u64(table_bans_until(table), BEGIN + 2 * DAY + HOUR, "until the last of them ends");
	table_forget(table, &a);
	is_u64(table_bans_until(table), BEGIN + 2 * DAY + HOUR,
	       "lifting one does not say that it was the last");
	table_close(&table);
	rig_free(&rig);
}

/* ---- a reboot, another size ---- */

static void check_carried(struct rig *rig, struct table *table, uint32_t row, struct algo_time t,
			  const uint64_t until[3], const char *what)
{
	char text[120];
	for (uint64_t id = 0; id < 3; id++) {
		struct table_key key = rig_key(table, 3, id);
		struct table_look look;
		table_peek(table, &key, row, &t, 1, &look);
		snprintf(text, sizeof text, "%s: ban %u is what it was", what, (unsigned)id);
		is_u64(look.allowed ? 0 : ban_until(look.state), until[id], text);
	}
	snprintf(text, sizeof text, "%s: the latest chosen one is known", what);
	is_u64(table_bans_until(table), until[1], text);
	is_u64(rig_broken(rig), 0, "  and the table is sound");
}

static void check_durable(void)
{
	struct algo_numbers ban = ban_numbers(HOUR, DAY);
	struct rig rig = rig_new(UINT64_C(256) << 10, 4);
	struct table *table = rig_open(&rig);
	struct snapshot snapshot;
	struct table_look look;
	struct algo_time t;
	uint64_t until[3] = {0};
	table_time(table, &t);
	uint32_t row = rig_row(table, 5, &ban, 1);
	for (uint64_t id = 0; id < 2; id++) { /* a limit's, an operator's, and nobody's */
		struct table_key key = rig_key(table, 3, id);
		table_ban(table, &key, row, &t, id * 3 * HOUR, &look);
		until[id] = ban_until(look.state);
	}
	check_carried(&rig, table, row, t, until, "made");

	struct table_options options = {.path = rig.path, .size = UINT64_C(1) << 20};
	is_u64(table_resize(table, &options, 1000, NULL, 0), WEIR_OK, "resized");
	table_close(&table);
	rig.size = options.size;
	table = rig_open(&rig);
	check_carried(&rig, table, row, t, until, "resized");

	is_u64(snapshot_take(table, true, &snapshot), WEIR_OK, "taken, what is worth the disk");
	table_close(&table);
	char path[120];
	snprintf(path, sizeof path, "%s/again", rig.folder);
	struct rig again = rig;
	snprintf(again.path, sizeof again.path, "%s/again", rig.folder);
	options = (struct table_options){.path = again.path, .size = TABLE_SIZE_MIN};
	is_u64(snapshot_make_table(&snapshot, &options, false, NULL, 0), WEIR_OK, "loaded");
	snapshot_free(&snapshot);
	again.size = 0;
	table = rig_open(&again);
	check_carried(&again, table, row, t, until, "loaded");
	table_close(&table);
	rig_free(&rig);
}

int main(void)
{
	struct algo_numbers slow = ban_numbers(15 * MINUTE, DAY), quick = ban_numbers(MINUTE, 4 * MINUTE);
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	uint32_t rows[2] = {rig_row(table, 1, &slow, 1), rig_row(table, 1, &quick, 2)};
	check_steps(table, rows);
	check_kinds(table);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	table_close(&table);
	rig_free(&rig);
	check_eviction();
	check_full();
	check_header();
	check_durable();
	return done_testing();
}
