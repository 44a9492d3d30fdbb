/* SPDX-License-Identifier: BSD-2-Clause */
/* single: one `weir control` a table, and whether there is one. The lock is the fact; it ends with its
 * process, however that ends. */
#ifndef WEIR_CONTROL_SINGLE_H
#define WEIR_CONTROL_SINGLE_H

#include <stdbool.h>
#include <stddef.h>

/* Locks TABLE.control and writes our process id into it. The descriptor to keep open, or -1 with a sentence
 * in `why` (another one runs, with its process id; or the system's reason). */
int single_take(const char *table_path, char *why, size_t size);
/* Removes the file and gives the lock up. */
void single_leave(const char *table_path, int descriptor);
/* Does one run? *pid: its process id, 0 if unknown. */
bool single_runs(const char *table_path, int *pid);

#endif
