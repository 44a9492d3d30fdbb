/* SPDX-License-Identifier: BSD-2-Clause */
/* full: a table in which every slot is a live counter, and limits that want none of them forgotten (`on_full`). */
#include "table/hold.h"
#include "table/log.h"
#include "tests/table/rig.h"
#include "tests/tap.h"

#define NOW  (UINT64_C(100) * RIG_SECOND)
#define HOUR (3600 * RIG_SECOND)

static uint32_t row_with(struct table *table, uint64_t identity, const struct algo_numbers *numbers,
			 enum table_full full)
{
	uint32_t row;
	enum weir_error error = ledger_lock(table, 10000);
	if (!error)
		error = ledger_row_for(table, identity, 0, numbers, (uint16_t)full, "full", 1, &row);
	if (error)
		rig_die("ledger", weir_error_sentence(error));
	ledger_unlock(table);
	return row;
}

/* Every slot a live counter of `row`. */
static void fill(struct table *table, uint32_t row, const struct algo_time *t)
{
	struct table_look look;
	for (uint64_t i = 0;; i++) {
		struct table_key key = rig_key(table, 2, i);
		table_charge(table, &key, row, t, 1, &look);
		if (i % 4096)
			continue;
		/* Not census_take: its time is the table's, and the words are of another. */
		uint64_t empty = 0;
		for (uint64_t pair = 0; pair < table->pair_count; pair++)
			for (unsigned way = 0; way < LAYOUT_WAYS; way++)
				empty += table->pairs[pair].ways[way].w0 == 0;
		if (empty == 0)
			break;
	}
}

static void check_kind(const struct algo_numbers *numbers, const char *kind, uint64_t slots_each)
{
	static const struct {
		const char *name;
		enum table_full full;
		enum table_charge result;
	} wants[] = {{"evict", TABLE_EVICT, TABLE_CHARGED},
		     {"allow", TABLE_ALLOW, TABLE_NO_ROOM},
		     {"deny", TABLE_DENY, TABLE_NO_ROOM}};
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig);
	struct algo_numbers crowd = rig_token(1, HOUR, 10);
	struct algo_time t = {.now = NOW};
	struct table_look look;
	char text[160];
	fill(table, rig_row(table, 1, &crowd, 1), &t);
	for (unsigned w = 0; w < 3; w++) {
		uint32_t row = row_with(table, 10 + w, numbers, wants[w].full);
		struct stats_process before, after;
		unsigned other = 0;
		is_u64(table_on_full(table, row), wants[w].full, wants[w].name);
		void *copy = malloc(table->pair_count * sizeof *table->pairs);
		memcpy(copy, table->pairs, table->pair_count * sizeof *table->pairs);
		stats_process_sum(table, &before);
		for (uint64_t i = 0; i < 1000; i++) {
			struct table_key key = rig_key(table, 3 + w, i);
			enum table_charge result = table_charge(table, &key, row, &t, 1, &look);
			other += result != wants[w].result || !look.allowed;
		}
		stats_process_sum(table, &after);
		snprintf(text, sizeof text, "  %s: a thousand fresh keys in a full table", kind);
		is_u64(other, 0, text);
		bool same = memcmp(copy, table->pairs, table->pair_count * sizeof *table->pairs) == 0;
		free(copy);
		if (wants[w].full == TABLE_EVICT) {
			is_u64(after.evicted_live - before.evicted_live, 1000 * slots_each,
			       "  each pushed others out");
			is_u64(after.no_room - before.no_room, 0, "  none went without");
		} else {
			ok(same, "  pushed nobody out, and left no byte changed");
			is_u64(after.no_room - before.no_room, 1000, "  each was counted");
			is_u64(after.retries - before.retries, 0, "  and found out at its first try");
		}
	}
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	rig_free(&rig);
}

/* Where there is a recovered or an empty slot, they take it like all others. */
static void check_room(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig);
	struct algo_numbers crowd = rig_token(1, RIG_SECOND, 10), numbers = rig_token(1, HOUR, 3);
	struct algo_time t = {.now = NOW}, later = {.now = NOW + 60 * RIG_SECOND};
	struct table_look look;
	uint32_t row = row_with(table, 2, &numbers, TABLE_DENY);
	unsigned charged = 0;
	fill(table, rig_row(table, 1, &crowd, 1), &t);
	for (uint64_t i = 0; i < 500; i++) {
		struct table_key key = rig_key(table, 3, i);
		charged += table_charge(table, &key, row, &later, 1, &look) == TABLE_CHARGED;
	}
	is_u64(charged, 500, "deny: recovered keys make room");
	for (uint64_t i = 0; i < 500; i++) {
		struct table_key key = rig_key(table, 3, i);
		charged += table_charge(table, &key, row, &later, 1, &look) == TABLE_CHARGED;
	}
	is_u64(charged, 1000, "  and keys that are there are charged on");
	is_u64(table_on_full(table, 4242), TABLE_EVICT, "a row nobody knows");
	table_close(&table);
	rig_free(&rig);
}

/* A pair in which every slot is held: nobody is pushed out of it, whatever the limit wants. */
static void check_held(void)
{
	struct rig rig = rig_new(TABLE_SIZE_MIN, 2);
	struct table *table = rig_open(&rig);
	struct algo_numbers numbers = rig_token(1, HOUR, 3);
	struct algo_time t = {.now = NOW};
	struct table_look look;
	uint32_t row = rig_row(table, 1, &numbers, 1);
	struct table_key key = rig_key(table, 1, 1);
	struct slot_pair *pair = slot_pair(table, &key);
	uint64_t who = (uint64_t)table->process_index << HOLD_OWNER_BITS | process_owner(table);
	for (uint64_t way = 0; way < LAYOUT_WAYS; way++)
		pair->ways[way] = (struct slot){(1000 + way) << LAYOUT_ROW_BITS | row,
						CELL_MARKS | who << HOLD_UNIT_BITS | 1};
	struct slot_pair before = *pair;
	is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_NO_ROOM, "eight live holds: no room");
	ok(memcmp(&before, pair, sizeof before) == 0, "  and they stay");
	is_u64(table_forget_limit(table, 1), 0, "forgetting their limit forgets none");
	ok(memcmp(&before, pair, sizeof before) == 0, "  they stay");
	pair->ways[5].w1 &= ~(uint64_t)HOLD_UNITS_MAX;
	is_u64(table_charge(table, &key, row, &t, 1, &look), TABLE_CHARGED,
	       "one that holds nothing makes room");
	ok(slot_has_tag(pair->ways[5].w0, slot_tag(&key)), "  that one");
	table_close(&table);
	rig_free(&rig);
}

/* Guesses are reserved first and counted when they have failed. In a table that is full but for the slots in which they
 * are held, that they failed could not be stored: each was forgotten at once, and there was no limit. */
static void check_settled(const struct algo_numbers *numbers, const char *kind)
{
	static const char *const names[] = {"evict", "allow", "deny"};
	struct rig rig = rig_new(TABLE_SIZE_MIN, 1);
	struct table *table = rig_open(&rig);
	struct algo_numbers crowd = rig_token(1, HOUR, 10);
	struct algo_time t = {.now = NOW};
	struct stats_process before, after;
	fill(table, rig_row(table, 1, &crowd, 1), &t);
	for (unsigned full = TABLE_EVICT; full <= TABLE_DENY; full++) {
		uint32_t row = row_with(table, 10 + full, numbers, (enum table_full)full);
		unsigned granted = 0;
		char text[160];
		stats_process_sum(table, &before);
		for (uint64_t id = 0; id < 20; id++) {
			struct table_key key = rig_key(table, 3 + full, id), own = cell_key(&key, true, 0);
			slot_pair(table, &own)->ways[3] = (struct slot){0, 0};
			for (unsigned guess = 0; guess < 20; guess++) {
				struct table_ticket ticket;
				struct table_look look;
				granted += table_take(table, &key, row, &t, 1, TABLE_RESERVE, &ticket,
						      &look) == TABLE_CHARGED;
				table_settle(table, &ticket, &t, 1);
			}
		}
		stats_process_sum(table, &after);
		snprintf(text, sizeof text, "%s, %s: five guesses each in a full table", kind, names[full]);
		is_u64(granted, 20 * 5, text);
		is_u64(after.no_room - before.no_room, 0, "  none of them forgotten");
	}
	table_close(&table);
	is_u64(rig_broken(&rig), 0, "the table is sound");
	rig_free(&rig);
}

int main(void)
{
	struct algo_numbers bucket = rig_token(1, HOUR, 10),
			    window = rig_window(10, HOUR, ALGO_FIRST_REQUEST), log;
	algo_sliding_log(10, HOUR, &log);
	check_kind(&bucket, "bucket", 1);
	check_kind(&window, "window", 1);
	check_kind(&log, "log", 2);
	check_room();
	check_held();
	struct algo_numbers five = rig_token(1, HOUR, 5),
			    five_window = rig_window(5, HOUR, ALGO_FIRST_REQUEST), five_log;
	algo_sliding_log(5, HOUR, &five_log);
	check_settled(&five, "bucket");
	check_settled(&five_window, "window");
	check_settled(&five_log, "log");
	return done_testing();
}
