/* SPDX-License-Identifier: BSD-2-Clause */
/* single: one process for one thing (control for a table, run for its state), and whether there is one. The
 * lock is the fact; it ends with its process, however that ends. */
#ifndef WEIR_CONTROL_SINGLE_H
#define WEIR_CONTROL_SINGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Locks the file `path`, made if missing, and writes our process id into it. The descriptor to keep open, or
 * -1 with a sentence in `why`: `busy` with the process id of the other one, or the system's reason. */
int single_take(const char *path, const char *busy, char *why, size_t size);
/* Removes the file and gives the lock up. */
void single_leave(const char *path, int descriptor);
/* Does one hold it? *pid: its process id, 0 if unknown. */
bool single_held(const char *path, int *pid);

/* The lock of `weir control`: TABLE.control. False: the path is too long. */
bool single_control_path(const char *table_path, char *out, size_t size);
/* Does a control run for this table? */
bool single_runs(const char *table_path, int *pid);

#endif
