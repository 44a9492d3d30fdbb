/* SPDX-License-Identifier: BSD-2-Clause */
/* torture: what one worker does until it is killed, and the witness, who lives on. */
#ifndef WEIR_TESTS_TABLE_TORTURE_H
#define WEIR_TESTS_TABLE_TORTURE_H

#include <signal.h>
#include <sys/prctl.h>

#include "tests/table/torture_ban.h"
#include "tests/table/torture_churn.h"
#include "tests/table/torture_hold.h"
#include "tests/table/torture_hot.h"
#include "tests/table/torture_keys.h"
#include "tests/table/torture_log.h"

static void torture_begin(struct torture_worker *w, struct torture *torture, unsigned index, uint64_t seed)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left over if the parent is stopped */
	*w = (struct torture_worker){.torture = torture, .index = index, .seed = seed};
	for (unsigned i = 0; i < RIGS; i++)
		w->table[i] = rig_open(&torture->rig[i]);
}

static void torture_close(struct torture_worker *w)
{
	for (unsigned i = 0; i < RIGS; i++)
		table_close(&w->table[i]);
}

/* What to do next: bits 63 to 40 say what, and with which limit. Half of the time they are those of everybody in this
 * millisecond, so that they meet. */
static uint64_t torture_roll(struct torture_worker *w)
{
	uint64_t roll = rig_random(&w->seed);
	struct algo_time t;
	table_time(w->table[ROOMY], &t);
	uint64_t slice = t.now / MS, common = rig_random(&slice);
	uint64_t what = ~UINT64_C(0) << 40;
	return roll >> 39 & 1 ? (common & what) | (roll & ~what) : roll;
}

/* Never returns: the parent kills it. */
_Noreturn static void torture_work(struct torture *torture, unsigned index, uint64_t seed)
{
	struct torture_worker w;
	torture_begin(&w, torture, index, seed);
	for (;;) {
		uint64_t roll = torture_roll(&w);
		unsigned what = (unsigned)(roll >> 56);
		if (what < 72)
			hot_work(&w, roll);
		else if (what < 104)
			log_work(&w, LOG_ONE + (unsigned)(roll >> 40) % (HELD_ONE - LOG_ONE), roll);
		else if (what < 148)
			hold_work(&w, roll, HELD_ONE, HELD_EVICTING);
		else if (what < 164)
			hold_work(&w, roll, HELD_EVICTING, HELD_END);
		else if (what < 196)
			fresh_work(&w, (unsigned)(roll % FRESH_KEYS));
		else if (what < 220)
			flood_work(&w, roll);
		else if (what < 236)
			ban_work(&w, roll);
		else if (what < 255 || (roll & 127))
			churn_work(&w, roll);
		else
			churn_publish(torture, w.table[ROOMY]);
	}
}

/* Holds something now and then, so it has seen everybody alive; in the end it must see that they are dead. */
_Noreturn static void torture_watch(struct torture *torture, uint64_t seed)
{
	struct torture_worker w;
	torture_begin(&w, torture, TORTURE_WITNESS, seed);
	while (!atomic_load(&torture->finish)) {
		for (unsigned i = 0; i < 8; i++)
			hold_work(&w, rig_random(&w.seed), HELD_ONE, HELD_END);
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	for (unsigned i = 0; i < TORTURE_TICKETS; i++)
		if (w.ticket[i].live)
			hold_end_one(&w, i, 0);
	hold_regain(&w);
	torture_close(&w);
	_exit(0);
}

/* One who comes when all is over. */
_Noreturn static void torture_come_after(struct torture *torture)
{
	struct torture_worker w;
	torture_begin(&w, torture, TORTURE_WITNESS, 1);
	hold_regain(&w);
	torture_close(&w);
	_exit(0);
}

#endif
