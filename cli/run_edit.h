/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_edit: the gateway's part of an edited policy, on its way into nginx. nginx would take a reload's new
 * configuration or say no in its log and serve on with the old one; so it is asked first (nginx -t, as a child of ours,
 * for names in it may take their time to resolve), and what it would find out too late, a port that is taken, is
 * tried by ourselves. What is refused is said, noted beside the table (gateway_note.h) and tried again at the next save.
 */
#ifndef WEIR_CLI_RUN_EDIT_H
#define WEIR_CLI_RUN_EDIT_H

#include "cli/run.h"

struct run_edit {	 /* {0}: nothing under way */
	struct run next; /* the plan as edited; its policy is ours while `trying` */
	struct run_child trial;
	uint64_t begun_ms;
	bool trying;
};

/* Reads the policy's file again. Another nginx.conf would come of it: begins to try that one, instead of what may be
 * on trial. */
void run_edit_begin(struct run_edit *edit, const struct run *run, uint64_t now_ms);
/* Looks after the trial; never waits. True: the new nginx.conf is in place and `run` says what it does; nginx must
 * reload. */
bool run_edit_work(struct run_edit *edit, struct run *run, uint64_t now_ms);
/* To poll for reading; -1: nothing is on trial. */
int run_edit_descriptor(const struct run_edit *edit);
/* Gives a trial up. */
void run_edit_end(struct run_edit *edit);

#endif
