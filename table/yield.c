/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * yield: who finds no process slot says so, and who only waits for something to end gives his up.
 *
 * Two words of the header say since when and when last a slot was wanted. They are hints: whatever is written there, nobody
 * gives up a slot who has not been told to retire.
 */
#include "table/atomic.h"
#include "table/handle.h"

#define SECOND	    UINT64_C(1000000000)
#define SAY_NS	    (SECOND / 10) /* how often it is said at most */
#define WANTED_NS   (2 * SECOND)  /* how long it is true after it was said */
#define PATIENCE_NS (SECOND / 2)  /* how long the older half goes first */
#define ROW_NS	    (5 * SECOND)  /* wanted again after so long: another time */

/* A clock may be a second late. */
static bool since(uint64_t then, uint64_t now, uint64_t most)
{
	return then && then <= now + SECOND && (then > now || now - then <= most);
}

void yield_want(struct table *table)
{
	struct layout_published *published = &table->header->published;
	struct algo_time now;
	table_time(table, &now);
	uint64_t last = atomic_get(&published->wanted_at);
	if (since(last, now.now, SAY_NS))
		return;
	if (!since(last, now.now, ROW_NS))
		atomic_set(&published->wanted_since, now.now);
	atomic_set(&published->wanted_at, now.now);
}

/* With all slots taken each line is somebody's. */
static bool among_the_older(const struct table *table)
{
	uint64_t own = atomic_get(&table->process->opened_at);
	uint32_t older = 0;
	for (uint32_t i = 0; i < table->process_slots; i++)
		older += atomic_get(&table->processes[i].opened_at) < own;
	return older < table->process_slots - older;
}

bool table_wanted(struct table *table)
{
	const struct layout_published *published = &table->header->published;
	uint64_t last = atomic_get(&published->wanted_at), first = atomic_get(&published->wanted_since);
	struct algo_time now;
	if (!last || !table->process)
		return false;
	table_time(table, &now);
	if (!since(last, now.now, WANTED_NS))
		return false;
	return (last > first && last - first > PATIENCE_NS) || among_the_older(table);
}

bool table_decides(const struct table *table)
{
	return !table->read_only;
}

bool table_yield(struct table *table, uint32_t *dropped)
{
	struct algo_time now;
	*dropped = 0;
	if (!table->retiring)
		return false;
	table_time(table, &now);
	ticket_charge(table, &now); /* I14: first the words; it may retire by that */
	uint32_t left = table->held;
	if (table->retiring && !process_leave(table))
		return false;
	*dropped = left;
	return true;
}
