/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_ban: several who ban one key at the same moment: one of them begins it, and it is of the next level, once. And a grant
 * that several spend: never more than was given, whoever takes it away meanwhile.
 */
#ifndef WEIR_TESTS_TABLE_RACE_BAN_H
#define WEIR_TESTS_TABLE_RACE_BAN_H

#include "algo/ban.h"
#include "algo/grant.h"
#include "table/given.h"
#include "tests/table/race.h"

#define BAN_ROUNDS_LEVELS 4u

/* Key by key, four bans in a row, each begun by all workers; each notes what he began. Worker 1 has the older row. */
static void ban_body(struct race *race, unsigned worker, struct table *table)
{
	uint32_t row = worker == 1 ? race->old_row : race->new_row;
	for (unsigned round = 0; round < race->rounds; round++) {
		struct table_key key = rig_key(table, 40, round);
		struct algo_time t = {.now = UINT64_C(1) << 41};
		for (unsigned level = 1; level <= BAN_ROUNDS_LEVELS; level++) {
			struct table_look look;
			race_meet(race);
			enum table_charge result = table_ban(table, &key, row, &t, 0, &look);
			if (result == TABLE_NO_ROOM)
				atomic_fetch_add(&race->no_room, 1);
			else if (look.allowed)
				atomic_fetch_add(&race->wrong, 1);
			if (result == TABLE_CHARGED)
				atomic_fetch_add(&race->count[round], 1);
			if (ban_level(look.state) != level)
				atomic_fetch_add(&race->held, 1);
			t.now = ban_until(look.state); /* the same for all */
		}
	}
}

static inline void ban_check(unsigned workers)
{
	struct race *race = race_new(1 << 20);
	struct table *table = rig_open(&race->rig);
	char text[120];
	if (!algo_ban_numbers(RIG_SECOND, 3600 * RIG_SECOND, &race->new) ||
	    !algo_ban_numbers(RIG_SECOND, 7200 * RIG_SECOND, &race->old))
		rig_die("algo_ban_numbers", "refused");
	race->old_row = rig_row(table, 1, &race->old, 1);
	race->new_row = rig_row(table, 1, &race->new, 2);
	table_close(&table);
	race->rounds = RACE_ROUNDS(2000);
	race_run(race, ban_body, workers);
	snprintf(text, sizeof text, "%u who ban one key: one ban of each level begins", workers);
	race_each(race, race->rounds, BAN_ROUNDS_LEVELS, text);
	is_u64(atomic_load(&race->held), 0, "  and all see that level");
	race_sound(race, "bans");
	race_free(race);
}

#define GRANTED 50u

/* Worker 0 takes the grant away in the middle of each round; the others spend. */
static void grant_body(struct race *race, unsigned worker, struct table *table)
{
	const struct algo_time t = {.now = UINT64_C(1) << 41};
	for (unsigned round = 0; round < race->rounds; round++) {
		struct table_key key = rig_key(table, 41, round);
		struct table_look look;
		if (worker == 0)
			table_grant(table, &key, race->new_row, &t, GRANTED, t.now + 3600 * RIG_SECOND,
				    &look);
		race_meet(race);
		for (unsigned i = 0; i < GRANTED; i++) {
			if (worker == 0 && round % 2 && i == GRANTED / 2)
				table_forget(table, &key);
			enum table_charge result = table_spend(table, &key, race->new_row, &t, 1, &look);
			if (result == TABLE_NO_ROOM)
				atomic_fetch_add(&race->no_room, 1);
			else if (look.allowed != (result == TABLE_CHARGED))
				atomic_fetch_add(&race->wrong, 1);
			if (result == TABLE_CHARGED)
				atomic_fetch_add(&race->count[round], 1);
		}
	}
}

static inline void grant_check(unsigned workers)
{
	struct race *race = race_new(1 << 20);
	struct table *table = rig_open(&race->rig);
	unsigned wrong = 0, taken_away = 0;
	char text[120];
	grant_numbers(&race->new);
	race->new_row = rig_row(table, 1, &race->new, 1);
	table_close(&table);
	race->rounds = RACE_ROUNDS(2000);
	race_run(race, grant_body, workers);
	for (unsigned round = 0; round < race->rounds; round++) {
		unsigned spent = atomic_load(&race->count[round]);
		wrong += round % 2 ? spent > GRANTED : spent != GRANTED;
		taken_away += round % 2 && spent < GRANTED;
	}
	snprintf(text, sizeof text, "%u who spend: all that is given and no more, nothing once it is gone",
		 workers);
	is_u64(wrong, 0, text);
	note("taken away in time %u times of %u", taken_away, race->rounds / 2);
	race_sound(race, "grants");
	race_free(race);
}

static inline void ban_all(unsigned workers)
{
	ban_check(workers);
	grant_check(workers);
}

#endif
