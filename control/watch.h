/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch: did these files change? inotify on every folder through which one of them is reached says so at
 * once: editors rename, ConfigMaps swap a link further up, includes appear. A comparison of what stat(2) says
 * is the judge, and works alone where inotify cannot see (network file systems, no watches left).
 */
#ifndef WEIR_CONTROL_WATCH_H
#define WEIR_CONTROL_WATCH_H

#include <stdbool.h>
#include <stddef.h>

struct watch; /* one thread */

/* NULL if memory is out. Without inotify it still works, by comparison alone. */
struct watch *watch_new(void);
void watch_free(struct watch **watch);

/* What to watch from now on: absolute paths, NULL-terminated, copied. Of a folder (where includes are looked
 * for) only its list counts. False: out of memory (the old ones stay). What watch_changed remembers is left
 * alone. */
bool watch_files(struct watch *watch, char *const *files, char *const *folders);

/* To poll for reading; -1: there is none. */
int watch_descriptor(const struct watch *watch);

/* Takes what has been reported. WATCH_WRITING: the last word about some file is that it is being written. */
enum watch_news { WATCH_QUIET, WATCH_EVENT, WATCH_WRITING };
enum watch_news watch_read(struct watch *watch);

/* Compares every file with what it was at the last call and remembers how it is now; true the first time.
 * An edit too young to be told from another one by its date is said to be changed once more, later. */
bool watch_changed(struct watch *watch);

#endif
