/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock: table time (T12), and how it goes on when a table is loaded from a snapshot.
 *
 * How much time has passed since a snapshot was taken is known exactly within one boot. Across boots only the
 * wall clock tells, and it may be wrong by years until somebody sets it; a year too many would forgive every
 * quota. So it is believed in full only if the kernel says that it is synchronised, else for a day at most; what is
 * missing then is made up later (table_catch_up in snapshot.h). Too little is always safe: counters recover late.
 */
#ifndef WEIR_TABLE_CLOCK_H
#define WEIR_TABLE_CLOCK_H

#include "table/handle.h"
#include "table/snapshot.h"

#define CLOCK_SECOND	 UINT64_C(1000000000)
#define CLOCK_BELIEF_MAX (UINT64_C(86400) * CLOCK_SECOND) /* of a wall clock that nobody vouches for */
#define CLOCK_LEAST	 (UINT64_C(2) * CLOCK_SECOND)	  /* between boots: no charge was later than that */
#define CLOCK_EARN	 (UINT64_C(3600) * CLOCK_SECOND)  /* not set for so long: believed as well */
#define CLOCK_SET	 (CLOCK_SECOND / 2) /* wall against CLOCK_BOOTTIME since the last look: it was set */

struct clock_reading {
	uint64_t boot[2]; /* kernel's name for this boot, {0, 0}: it has none */
	int64_t boottime; /* CLOCK_BOOTTIME of the host: without the shift of our time namespace */
	int64_t wall;
	bool synced; /* by the kernel's word (adjtimex) */
};
void clock_read(struct clock_reading *out);

struct clock_then { /* a moment of the table that was taken */
	uint64_t boot[2];
	int64_t offset;	     /* in that boot */
	uint64_t time, wall; /* time below ALGO_TIME_MAX / 2, wall below 2^63 */
};

struct clock_bridge {
	int64_t offset; /* from here on table time = boottime + offset */
	uint64_t now, age_ns, bridged_ns;
	bool same_boot, believed;
};
/* Pure. now >= then->time, and below ALGO_TIME_MAX. */
void clock_bridge(const struct clock_then *then, const struct clock_reading *reading,
		  struct clock_bridge *out);
/* Pure. A clock that was not believed: by how much table time `now` may jump, 0 as long as it has not earned it.
 * *settled: it has, so this is the last word. */
uint64_t clock_earned(const struct clock_then *then, const struct clock_reading *reading, uint64_t now,
		      struct table_watch *watch, bool *settled);

/* table_catch_up with clocks that were read already. */
uint64_t clock_catch_up(struct table *table, struct table_watch *watch, const struct clock_reading *reading);

/* Continues table time if this is the first opening since a boot. */
enum weir_error clock_open(struct table *table);
/* The clock of a table under construction, in private memory: a new one, and one that goes on. */
void clock_begin(struct layout_header *header);
void clock_go_on(struct layout_header *header, const struct clock_then *then,
		 const struct clock_reading *reading, const struct clock_bridge *bridge);

#endif
