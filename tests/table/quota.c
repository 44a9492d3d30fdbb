/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quota: limits that share a table keep their part of every pair (I18).
 *
 * The zones of an nginx.conf lie in one table. A client that was limited by one of them freed himself by inventing keys of another,
 * each asked for until it was used up and so worth more than he; and places in flight, one for each invented key, filled
 * every way, so that nothing could be counted any more.
 */
#include "table/hold.h"
#include "table/quota.h"
#include "table/snapshot.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW    (UINT64_C(100) * RIG_SECOND)
#define MINUTE (60 * RIG_SECOND)

enum { FLOOD = 1, VICTIMS, THIRD }; /* identities; keys of each are of that kind */

static uint32_t row_of(struct table *table, uint64_t identity, const struct algo_numbers *numbers,
		       unsigned quota)
{
	uint32_t row;
	enum weir_error error = ledger_lock(table, 10000);
	if (!error)
		error = ledger_row_for(table, identity, 0, numbers, LEDGER_QUOTA(quota), "quota", 1, &row);
	if (error)
		rig_die("ledger", weir_error_sentence(error));
	ledger_unlock(table);
	return row;
}

static uint64_t slots(const struct table *table)
{
	return LAYOUT_WAYS * table->pair_count;
}

/* Keys of `identity`, each asked for `touches` times. */
static void flood(struct table *table, uint64_t identity, uint32_t row, unsigned touches, uint64_t keys)
{
	struct algo_time t = {.now = NOW};
	struct table_look look;
	for (uint64_t k = 0; k < keys; k++) {
		struct table_key key = rig_key(table, identity, k);
		t.now = NOW + RIG_SECOND * k / keys;
		for (unsigned i = 0; i < touches; i++)
			if (table_charge(table, &key, row, &t, 1, &look) == TABLE_NO_ROOM)
				rig_die("charge", "a fresh key found no room");
	}
}

static unsigned ways_with(const struct slot_pair *pair, uint32_t row)
{
	unsigned count = 0;
	for (unsigned way = 0; way < LAYOUT_WAYS; way++)
		count += pair->ways[way].w0 != 0 && slot_row(pair->ways[way].w0) == row;
	return count;
}

/* ---- who is limited stays limited ------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned flood, victims, third; /* quotas; third 0: there is none */
	bool lost;			/* without quotas some are lost */
} sizes[] = {
	{"1:1", 4, 4, 0, false},
	{"1:10", 1, 7, 0, false},
	{"10:1", 7, 1, 0, false},
	{"1:1:1", 3, 3, 3, false},
	{"more than eight", 5, 5, 0, false},
	{"no quotas", 0, 0, 0, true},
};

#define MOST 512u

/* Victims, at most their quota to a pair, `used` of five a minute; then ten times as many keys as there are slots. */
static void check_flood(size_t s, unsigned touches, unsigned used)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig);
	struct algo_numbers five = rig_token(5, MINUTE, 5), many = rig_token(1, MINUTE, 10);
	uint32_t victims = row_of(table, VICTIMS, &five, sizes[s].victims);
	uint32_t crowd = row_of(table, FLOOD, &many, sizes[s].flood);
	unsigned most = sizes[s].victims ? sizes[s].victims : LAYOUT_WAYS, count = 0, lost = 0;
	static struct table_key keys[MOST];
	static uint64_t words[MOST];
	struct algo_time t = {.now = NOW};
	struct table_look look;
	struct stats_process sum;
	char text[160];

	if (sizes[s].third)
		flood(table, THIRD, row_of(table, THIRD, &many, sizes[s].third), 10, 10 * slots(table));
	for (uint64_t k = 0; count < MOST && k < 10 * MOST; k++) {
		keys[count] = rig_key(table, VICTIMS, k);
		if (ways_with(slot_pair(table, &keys[count]), victims) >= most)
			continue;
		if (table_charge(table, &keys[count], victims, &t, used, &look) != TABLE_CHARGED)
			rig_die("charge", "a victim found no room");
		words[count++] = look.state;
	}
	flood(table, FLOOD, crowd, touches, 10 * slots(table));
	for (unsigned i = 0; i < count; i++) {
		table_peek(table, &keys[i], victims, &t, 1, &look);
		lost += look.state != words[i];
	}
	snprintf(text, sizeof text, "%s: %u of five used, beside a flood of keys asked for %u times",
		 sizes[s].name, used, touches);
	if (sizes[s].lost)
		ok(lost > MOST / 2, text);
	else
		is_u64(lost, 0, text);
	ok(count > MOST / 2, "  victims enough");
	stats_process_sum(table, &sum);
	ok(sum.evicted_live > 8 * slots(table), "  the table was full of live keys");
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "  and is sound");
	rig_free(&rig);
}

/* ---- who comes late gets his part ------------------------------------------------------------------------------------- */

static const struct {
	unsigned first, late, gets; /* quotas; ways of each pair that the late one has in the end */
} shares[] = {{4, 4, 4}, {1, 7, 7}, {7, 1, 1}, {5, 5, 3}, {8, 8, 1}, {1, 1, 1}, {8, 0, 1}, {0, 4, 4}};

/* Everything used up by the first, whose every key is worth more than those that come then. */
static void check_late(size_t s)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig);
	struct algo_numbers five = rig_token(5, MINUTE, 5), many = rig_token(1, MINUTE, 10);
	uint32_t first = row_of(table, FLOOD, &many, shares[s].first);
	uint32_t late = row_of(table, VICTIMS, &five, shares[s].late);
	unsigned other = 0, strangers = 0;
	char text[160];

	flood(table, FLOOD, first, 10, 10 * slots(table));
	for (uint64_t i = 0; i < table->pair_count; i++)
		strangers += ways_with(&table->pairs[i], first) != LAYOUT_WAYS;
	is_u64(strangers, 0, "the first has every way");
	flood(table, VICTIMS, late, 1, 10 * slots(table));
	for (uint64_t i = 0; i < table->pair_count; i++) {
		other += ways_with(&table->pairs[i], late) != shares[s].gets;
		strangers += ways_with(&table->pairs[i], first) != LAYOUT_WAYS - shares[s].gets;
	}
	snprintf(text, sizeof text, "  quotas of %u and %u: the late one gets %u ways of each pair",
		 shares[s].first, shares[s].late, shares[s].gets);
	is_u64(other, 0, text);
	is_u64(strangers, 0, "  the first keeps the others");
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "  and the table is sound");
	rig_free(&rig);
}

/* ---- what is held ----------------------------------------------------------------------------------------------------- */

static unsigned held_in(const struct slot_pair *pair)
{
	unsigned count = 0;
	for (unsigned way = 0; way < LAYOUT_WAYS; way++)
		count += cell_is_hold(pair->ways[way].w1) && hold_units(pair->ways[way].w1) > 0;
	return count;
}

static const struct {
	const char *name;
	unsigned places, more, counters; /* quotas; more 0: no second zone of places */
	unsigned held;			 /* most in a pair */
} holds[] = {
	{"half", 4, 0, 4, 4},	      {"a little", 1, 0, 7, 1},	     {"nearly all", 7, 0, 1, 7},
	{"two of three", 3, 3, 3, 6}, {"more than all", 5, 5, 1, 7}, {"alone", 8, 0, 0, 8},
	{"no quota", 0, 0, 0, 8},
};

static struct table_ticket tickets[2][40000];

static uint64_t take_all(struct table *table, unsigned zone, uint32_t row, uint64_t keys)
{
	struct algo_time t = {.now = NOW};
	struct table_look look;
	uint64_t got = 0;
	for (uint64_t k = 0; k < keys; k++) {
		struct table_key key = rig_key(table, 10 + zone, k);
		got += table_take(table, &key, row, &t, 1, TABLE_RESERVE, &tickets[zone][k], &look) ==
		       TABLE_CHARGED;
	}
	return got;
}

static void give_all(struct table *table, unsigned zone, uint64_t keys)
{
	struct algo_time t = {.now = NOW};
	for (uint64_t k = 0; k < keys; k++)
		table_settle(table, &tickets[zone][k], &t, 0);
}

static void check_holds(size_t h)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	struct algo_numbers one, bucket = rig_token(1, MINUTE, 1);
	algo_concurrent(1, &one);
	uint32_t row[2] = {row_of(table, 10, &one, holds[h].places), row_of(table, 11, &one, holds[h].more)};
	uint32_t counters = row_of(table, THIRD, &bucket, holds[h].counters);
	uint64_t keys = 8 * slots(table), got = 0, full = 0, over = 0;
	unsigned zones = holds[h].more ? 2 : 1, wrong = 0;
	struct algo_time t = {.now = NOW};
	struct table_look look;
	struct stats_process sum;
	char text[160];

	if (keys > sizeof tickets[0] / sizeof *tickets[0])
		rig_die("tickets", "too few");
	/* one after the other, so that their cells lie in every way, and hold nothing */
	for (uint64_t k = 0; k < keys; k++) {
		struct table_key key = rig_key(table, 10, k);
		if (table_take(table, &key, row[0], &t, 1, TABLE_RESERVE, &tickets[0][k], &look) !=
		    TABLE_CHARGED)
			rig_die("take", "a place found no room in an empty pair");
		table_settle(table, &tickets[0][k], &t, 0);
	}
	for (unsigned zone = 0; zone < zones; zone++)
		got += take_all(table, zone, row[zone], keys);
	for (uint64_t i = 0; i < table->pair_count; i++) {
		full += held_in(&table->pairs[i]);
		over += held_in(&table->pairs[i]) != holds[h].held;
	}
	snprintf(text, sizeof text, "%s: %u ways of each pair are held", holds[h].name, holds[h].held);
	is_u64(over, 0, text);
	is_u64(full, got, "  by those who got a place");
	stats_process_sum(table, &sum);
	is_u64(sum.no_room, zones * keys - got, "  the others were told that there is no room");

	for (uint64_t k = 0; k < 2000; k++) {
		struct table_key key = rig_key(table, THIRD, k);
		bool room = holds[h].held < LAYOUT_WAYS;
		wrong += table_charge(table, &key, counters, &t, 1, &look) !=
			 (room ? TABLE_CHARGED : TABLE_NO_ROOM);
		wrong += table_charge(table, &key, counters, &t, 1, &look) !=
			 (room ? TABLE_REFUSED : TABLE_NO_ROOM);
	}
	is_u64(wrong, 0,
	       holds[h].held < LAYOUT_WAYS ? "  and whatever else is counted finds room"
					   : "  and nothing else finds room");
	for (unsigned zone = 0; zone < zones; zone++)
		give_all(table, zone, keys);
	is_u64(held_in(&table->pairs[0]), 0, "  all given back");
	is_u64(take_all(table, 0, row[0], 1), 1, "  there is room again");
	give_all(table, 0, 1);
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "  the table is sound");
	rig_free(&rig);
}

/* A place more of a key that holds some is nobody's way. */
static void check_more(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	struct algo_numbers many;
	algo_concurrent(1000, &many);
	uint32_t row = row_of(table, 10, &many, 1);
	struct algo_time t = {.now = NOW};
	struct table_look look;
	unsigned got = 0;
	for (unsigned i = 0; i < 1001; i++) {
		struct table_key key = rig_key(table, 10, 0);
		got += table_take(table, &key, row, &t, 1, TABLE_RESERVE, &tickets[0][i], &look) ==
		       TABLE_CHARGED;
	}
	is_u64(got, 1000, "a quota of one: a thousand places of one key");
	give_all(table, 0, 1001);
	table_close(&table);
	rig_free(&rig);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------- */

static void check_rows(void)
{
	static const struct {
		unsigned flags;
		bool valid;
	} flags[] = {{0, true},
		     {TABLE_DENY, true},
		     {3, false},
		     {4, false},
		     {LEDGER_KEEP, true},
		     {LEDGER_QUOTA(1), true},
		     {LEDGER_QUOTA(8), true},
		     {LEDGER_QUOTA(8) | TABLE_ALLOW, true},
		     {LEDGER_QUOTA(9), false},
		     {LEDGER_QUOTA(15), false},
		     {256, false},
		     {0x8000, false}};
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers = rig_token(1, MINUTE, 1);
	uint32_t rows[3], row;
	for (unsigned i = 0; i < 3; i++)
		rows[i] = row_of(table, 1, &numbers, i == 1 ? 4 : 2);
	ok(rows[0] != rows[1], "another quota is another row");
	is_u64(ledger_row(table, rows[1])->identity, 1, "  of the same limit");
	is_u64(quota_of(ledger_row(table, rows[1])), 4, "  which says so");
	is_u64(table_on_full(table, rows[1]), TABLE_EVICT, "  and nothing else");
	ledger_lock(table, 1000);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		char text[40];
		snprintf(text, sizeof text, "flags %#x", flags[i].flags);
		is_u64(ledger_row_for(table, 100 + i, 0, &numbers, (uint16_t)flags[i].flags, "f", 1, &row),
		       flags[i].valid ? WEIR_OK : WEIR_BAD_POLICY, text);
	}
	ledger_unlock(table);
	table_close(&table);
	rig_free(&rig);
}

/* What is written down of a row has its quota; else it would be no row, and its counters forgotten. */
static void check_resize(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *old = rig_open(&rig), *table;
	struct algo_numbers numbers = rig_token(1, 60 * MINUTE, 5);
	uint32_t row = row_of(old, 1, &numbers, 3);
	struct table_options options = {.path = rig.path, .size = 2 * TABLE_SIZE_MIN};
	struct table_key key = rig_key(old, 1, 1);
	struct table_look look;
	struct algo_time t;
	char why[256] = "";
	table_time(old, &t);
	is_u64(table_charge(old, &key, row, &t, 5, &look), TABLE_CHARGED,
	       "used up before the table is resized");
	is_u64(table_resize(old, &options, 1000, why, sizeof why), WEIR_OK, "resized");
	is_str(why, "", "  without a word");
	table = rig_open(&rig);
	is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_REFUSED, "  and so it is after that");
	is_u64(quota_of(ledger_row(table, row)), 3, "  under a row with its quota");
	table_close(&table);
	table_close(&old);
	rig_free(&rig);
}

int main(void)
{
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (unsigned touches = sizes[s].lost ? 10 : 1; touches <= 10; touches += 9)
			for (unsigned used = 1; used <= (sizes[s].lost ? 1 : 5); used += 4)
				check_flood(s, touches, used);
	for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
		check_late(s);
	for (size_t h = 0; h < sizeof holds / sizeof *holds; h++)
		check_holds(h);
	check_more();
	check_rows();
	check_resize();
	return done_testing();
}
