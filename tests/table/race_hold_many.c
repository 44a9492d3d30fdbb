/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * race_hold_many: two hundred processes reach for five places at the same moment, again and again: five get one,
 * never six, and never fewer because some only met each other. Most of them have lost the processor at any moment,
 * in the middle of finding out too.
 */
#include <sys/wait.h>

#include "tests/table/race_hold.h"

#define MANY 200u

static void race_run(struct race *race, race_body *body, unsigned workers)
{
	pid_t child[MANY];
	race->workers = workers;
	for (unsigned i = 0; i < workers; i++) {
		child[i] = fork();
		if (child[i] < 0)
			rig_die("fork", "no process");
		if (child[i] == 0) {
			struct table *table = rig_open(&race->rig);
			race_spread(i);
			body(race, i, table);
			table_close(&table);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < workers; i++) {
		int status;
		if (waitpid(child[i], &status, 0) != child[i] || status != 0)
			rig_die("race", "a worker died");
	}
}

static void check(const struct algo_numbers *numbers, const char *name)
{
	char text[128];
	struct race *race = rig_shared(sizeof *race);
	race->rig = rig_new(TABLE_SIZE_MIN, MANY + 2);
	atomic_store(&race->clock, RACE_BASE);
	race->step = 100;
	struct table *table = rig_open(&race->rig);
	race->old_row = rig_row(table, 1, numbers, 1);
	table_close(&table);
	race->rounds = RACE_ROUNDS(60);
	race_run(race, hold_race_exact, MANY);
	snprintf(text, sizeof text, "%s: two hundred for five places, five get one", name);
	race_each(race, race->rounds, 5, text);
	is_u64(hold_race_left(race, 6), 5, "and all five can be had again");
	race_sound(race, name);
	race_free(race);
}

int main(void)
{
	struct algo_numbers flight, token = rig_token(1, RIG_YEAR, 5);
	if (!algo_concurrent(5, &flight))
		rig_die("algo_concurrent", "refused");
	check(&flight, "in flight");
	check(&token, "reserved");
	(void)hold_all;
	return done_testing();
}
