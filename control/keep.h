/* SPDX-License-Identifier: BSD-2-Clause */
/* keep: control writes its table down, and lets the table's clock catch up with a wall clock that has proved right. */
#ifndef WEIR_CONTROL_KEEP_H
#define WEIR_CONTROL_KEEP_H

#include "table/snapshot.h"

struct keep; /* opaque */

/* For this path; nothing is opened yet. NULL: out of memory. */
struct keep *keep_new(const char *path);
/* What is due, about once a second; as root in the name of the folder's owner. Says what stands in the way, once. */
void keep_work(struct keep *keep, struct table *table, uint64_t now_ms,
	       void (*say)(void *context, const char *line), void *context);
/* Writes a last time (table NULL: not), and frees. NULL-safe. */
void keep_end(struct keep **keep, struct table *table, void (*say)(void *context, const char *line),
	      void *context);

#endif
