/* SPDX-License-Identifier: BSD-2-Clause */
/* race_processes: the races of the table, between processes. */
#include <sys/wait.h>

#include "tests/table/race.h"
#include "tests/table/race_ban.h"
#include "tests/table/race_bound.h"
#include "tests/table/race_change.h"
#include "tests/table/race_hold.h"
#include "tests/table/race_insert.h"
#include "tests/table/race_log.h"
#include "tests/table/race_rate.h"

static void race_run(struct race *race, race_body *body, unsigned workers)
{
	pid_t child[RACE_WORKERS];
	race->workers = workers;
	for (unsigned i = 0; i < workers; i++) {
		child[i] = fork();
		if (child[i] < 0)
			rig_die("fork", "no process");
		if (child[i] == 0) {
			struct table *table = rig_open(&race->rig); /* after fork (T11) */
			race_spread(i);
			race_meet(race);
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

int main(void)
{
	rate_all(2);
	rate_all(4);
	insert_all();
	change_all();
	log_all();
	hold_all(2);
	hold_all(4);
	bound_all(2);
	bound_all(4);
	ban_all(2);
	ban_all(4);
	return done_testing();
}
