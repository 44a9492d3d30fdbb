/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process: who is alive (T11).
 *
 * A process slot is one byte of the file; whoever holds the lock on it owns the slot. It is an open file
 * description lock: it belongs to this opening, so two handles of one process have two, and the kernel
 * drops it when the last descriptor goes, however the process ends. A pid would be reused, and means
 * nothing in another container.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/hold.h"

#define SEEN_NS	     UINT64_C(1000000000) /* how long one who was alive is believed to be */
#define WAIT_STEP_MS 20

struct process_seen {
	uint32_t owners; /* as its line said; 0: not asked yet */
	bool alive;
	uint64_t at; /* table time */
};

static struct flock byte_of(const struct table *table, uint32_t index, short type)
{
	return (struct flock){
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)(table->process_offset + index * sizeof(struct process_line)),
		.l_len = 1,
	};
}

/* Hold the current generation before anything of it is mapped. A publisher that has not seen us hold it may
 * have freed rows of older ones only, and those we do not use: the generation is read again after the hold
 * can be seen (I8). */
static void hold_current(struct table *table)
{
	const uint64_t *published = &table->header->published.generation;
	uint64_t generation;
	do {
		generation = atomic_get_ordered(published);
		atomic_set_ordered(&table->process->held, generation);
	} while (atomic_get_ordered(published) != generation);
}

enum weir_error process_open(struct table *table)
{
	for (uint32_t i = 0; i < table->process_slots; i++) {
		struct flock range = byte_of(table, i, F_WRLCK);
		struct process_line *line = &table->processes[i];
		if (fcntl(table->fd, F_OFD_SETLK, &range) != 0) {
			if (errno != EAGAIN && errno != EACCES)
				return WEIR_SYSTEM;
			/* I15: whoever has it may not have come to count itself. Nobody may be behind a line
			 * that looks as if it never had an owner: those who add up holds stop there. */
			if (atomic_get32(&line->owners) == 0)
				atomic_cas32(&line->owners, 0, 1);
			continue;
		}
		table->process = line;
		table->process_index = i;
		table->area = &table->areas[i];
		table->top.area = table->tops ? &table->tops[i] : NULL;
		table->top.until = 0; /* what it holds is another owner's */
		atomic_set32(&line->pid, (uint32_t)getpid());
		while (atomic_count32(&line->owners) == 0) /* I15; once in 2^32 */
			;
		hold_current(table);
		return WEIR_OK;
	}
	yield_want(table);
	return WEIR_BUSY;
}

enum weir_error process_wait(struct table *table, uint32_t wait_ms)
{
	const struct timespec pause = {.tv_nsec = WAIT_STEP_MS * 1000000L};
	enum weir_error error = process_open(table);
	for (uint32_t waited = 0; error == WEIR_BUSY && waited < wait_ms; waited += WAIT_STEP_MS) {
		nanosleep(&pause, NULL);
		error = process_open(table);
	}
	return error;
}

void process_close(struct table *table)
{
	ticket_close(table);
	free(table->seen);
	table->seen = NULL;
	if (!table->process)
		return;
	atomic_set(&table->process->held, 0);
	struct flock range = byte_of(table, table->process_index, F_UNLCK);
	fcntl(table->fd, F_OFD_SETLK, &range);
	table->process = NULL;
}

bool process_do_without(struct table *table)
{
	struct stats_area *area = aligned_alloc(64, sizeof *area);
	if (!area)
		return false;
	memset(area, 0, sizeof *area);
	table->area = area;
	table->top.area = NULL;
	return true;
}

/* From here on the handle is a read-only one. In this order: what it counts goes elsewhere before the slot can
 * have another owner (I10), and it has stopped deciding before its hold of a generation ends (I8). */
bool process_leave(struct table *table)
{
	if (!process_do_without(table))
		return false;
	ledger_unlock(table);
	table->read_only = table->retired = true;
	table->retiring = false;
	process_close(table);
	return true;
}

void process_done(struct table *table)
{
	if (table->retiring && !table->held && !table->stays)
		process_leave(table);
}

void table_retire(struct table *table)
{
	if (table->read_only)
		return;
	ledger_unlock(table);
	table->retiring = true;
	process_done(table);
}

void table_stay(struct table *table)
{
	table->stays++;
}

void table_unstay(struct table *table)
{
	table->stays -= table->stays > 0;
	process_done(table);
}

enum weir_error table_resume(struct table *table)
{
	struct stats_area *own = table->area;
	struct algo_time now;
	table->retiring = false; /* it has never left */
	if (!table->retired)
		return table->read_only ? WEIR_READ_ONLY : WEIR_OK;
	enum weir_error error = process_open(table);
	if (error != WEIR_OK)
		return error;
	free(own);
	table->read_only = table->retired = false;
	table_time(table, &now);
	atomic_set(&table->process->opened_at, now.now);
	return WEIR_OK;
}

bool process_alive(struct table *table, uint32_t index)
{
	if (table->process && index == table->process_index) /* our own lock does not stand in our way */
		return true;
	struct flock range = byte_of(table, index, F_WRLCK);
	/* If the kernel cannot say, alive: nothing of a living one may be taken away. */
	return fcntl(table->fd, F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK;
}

uint32_t table_slots_taken(struct table *table, uint32_t *slots)
{
	uint32_t taken = 0;
	for (uint32_t i = 0; i < table->process_slots; i++)
		taken += process_alive(table, i);
	*slots = table->process_slots;
	return taken;
}

uint64_t table_bytes(const struct table *table)
{
	return table->pair_count * sizeof(struct slot_pair);
}

uint32_t process_owner(const struct table *table)
{
	return atomic_get32(&table->process->owners) & HOLD_OWNER_MASK;
}

bool process_gone(const struct table *table, uint32_t index, uint32_t owners)
{
	return table->seen && table->seen[index].owners == owners && !table->seen[index].alive;
}

/* I15: an owner counts itself after it has the lock, so one that was counted and has the lock no more is gone, and
 * whoever has the lock later counts on before it holds anything. The caller has read the hold before: a number
 * that has moved on since says the same. */
bool process_owns(struct table *table, uint32_t index, uint32_t owner, uint64_t now)
{
	if (index >= table->process_slots)
		return false;
	uint32_t owners = atomic_get32(&table->processes[index].owners);
	if (owners == 0 || (owners & HOLD_OWNER_MASK) != owner)
		return false;
	if (table->process && index == table->process_index)
		return true;
	if (!table->seen) /* if there is no memory, the kernel is asked each time */
		table->seen = calloc(table->process_slots, sizeof *table->seen);
	struct process_seen *seen = table->seen ? &table->seen[index] : NULL;
	if (seen && seen->owners == owners && (!seen->alive || now - seen->at < SEEN_NS))
		return seen->alive;
	bool alive = process_alive(table, index);
	if (seen)
		*seen = (struct process_seen){owners, alive, now};
	return alive;
}

uint64_t table_generation(const struct table *table)
{
	return atomic_get(&table->header->published.generation);
}

void table_set_generation(struct table *table, uint64_t generation)
{
	if (!table->read_only && generation > table_generation(table)) /* I7: forward only */
		atomic_set_ordered(&table->header->published.generation, generation);
}

void table_hold_generation(struct table *table, uint64_t generation)
{
	if (table->process)
		atomic_set(&table->process->held, generation);
}
