/* SPDX-License-Identifier: BSD-2-Clause */
/* owner: as whom root writes beside a table. nginx's workers own it; a file of root's there would lock them
 * out, and a root that follows names in a folder of theirs would be theirs too. So root becomes them for the
 * while. */
#ifndef WEIR_CONTROL_OWNER_H
#define WEIR_CONTROL_OWNER_H

#include <stdbool.h>
#include <stddef.h>

/* If the caller is root and the folder of `path` belongs to someone else, the effective user and group
 * become those; else nothing happens. False with a sentence in `why` if the system refuses. Not for threads.
 */
bool owner_become(const char *path, char *why, size_t size);
/* Back to the real user; harmless when nothing changed. */
void owner_return(void);

#endif
