/* SPDX-License-Identifier: BSD-2-Clause */
/* module_run: a program run to its end, and what it said. */
#ifndef WEIR_CLI_MODULE_RUN_H
#define WEIR_CLI_MODULE_RUN_H

/* Runs argv[0] (a path; no shell) with nothing on its standard input. The result is both its outputs as they came,
 * at most 1 MiB; heap, the caller's; NULL if it said nothing or memory ran out. *status: its exit status, 128 and
 * the signal that ended it, or -1 with errno if it could not be started. */
char *module_run(const char *const *argv, int *status);

#endif
