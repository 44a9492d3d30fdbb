/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torture_ban: keys that everybody bans, over and over, in a table with room and in one that is flooded. However often who
 * bans is killed, a key has one ban at a time: all that have begun, one after the other, fit into the time there was.
 */
#ifndef WEIR_TESTS_TABLE_TORTURE_BAN_H
#define WEIR_TESTS_TABLE_TORTURE_BAN_H

#include "algo/ban.h"
#include "table/given.h"
#include "tests/table/torture_books.h"

static void ban_work(struct torture_worker *w, uint64_t roll)
{
	struct torture *torture = w->torture;
	unsigned limit = roll & 1 ? BAN_ROOMY : BAN_EVICTING, id = (unsigned)(roll >> 8) % BAN_KEYS;
	struct table *table = w->table[torture_limits[limit].rig];
	struct table_key key = torture_key(w, limit, id);
	struct algo_time t = torture_time(w, limit);
	struct table_look look;
	enum table_charge result = table_ban(table, &key, torture->row[limit], &t, 0, &look);
	if (result == TABLE_NO_ROOM) {
		torture_judge(torture, limit, result, look.allowed);
		return;
	}
	uint64_t until = ban_until(look.state), length = until > t.now ? until - t.now : 0;
	/* Whoever asks is told of a ban that holds; one that another has begun later than he looked at his clock may seem longer. */
	bool longer = result == TABLE_CHARGED && length > torture->numbers[limit].capacity;
	if (look.allowed || length == 0 || longer || ban_level(look.state) == 0)
		atomic_fetch_add(&torture->wrong, 1);
	if (result != TABLE_CHARGED)
		return;
	atomic_fetch_add(&torture->charges, 1);
	atomic_fetch_add(&torture->book[limit].counted, 1);
	atomic_fetch_add(&torture->banned[limit - BAN_ROOMY][id], length);
}

static void ban_check(struct torture *torture)
{
	for (unsigned limit = BAN_ROOMY; limit <= BAN_EVICTING; limit++) {
		unsigned rig = torture_limits[limit].rig, over = 0, most = 0;
		uint64_t time = torture->killed[rig] - torture->begin[rig];
		char text[120];
		for (unsigned id = 0; id < BAN_KEYS; id++) {
			uint64_t banned = atomic_load(&torture->banned[limit - BAN_ROOMY][id]);
			over += banned > time + torture->numbers[limit].capacity;
			most = banned * 100 / time > most ? (unsigned)(banned * 100 / time) : most;
		}
		snprintf(text, sizeof text, "%s: no key was banned twice at a time",
			 torture_limits[limit].name);
		is_u64(over, 0, text);
		uint64_t count = atomic_load(&torture->book[limit].counted);
		ok(count > BAN_KEYS, "  but again and again");
		note("%s: %" PRIu64 " bans of %u keys, who was banned most %u %% of the time",
		     torture_limits[limit].name, count, BAN_KEYS, most);
	}
}

#endif
