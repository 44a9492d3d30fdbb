/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make: a new table, empty or from a snapshot.
 *
 * It is built without a name: ledger first, since slots that carry rows must not be seen without them (I6), the table
 * last. Killed in between, there is a ledger of no table, which the next one replaces.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/clock.h"
#include "table/geometry.h"
#include "table/make.h"
#include "table/snapshot_load.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define COLLAPSE_MAX (UINT64_C(1) << 30) /* more takes too long for an opening */
#define PAUSE_MS     5u
#define PATIENCE_MS  60000u

void make_lock(int folder)
{
	/* One who stands still for so long is not waited for: then a ledger may have to be made again. */
	for (unsigned waited = 0; flock(folder, LOCK_EX | LOCK_NB) != 0 && waited < PATIENCE_MS;
	     waited += PAUSE_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR) /* a file system without locks */
			return;
		nanosleep(&(struct timespec){0, (long)PAUSE_MS * 1000000}, NULL);
	}
}

void make_unlock(int folder)
{
	flock(folder, LOCK_UN);
}

/* Huge pages make random lookups 8 to 20 % cheaper. On tmpfs they must be asked for, and only here, before
 * anyone has the file mapped; where the kernel cannot, nothing is lost. */
static void collapse(struct table *table)
{
	uint64_t size = table->pair_count * sizeof(struct slot_pair);
	uintptr_t at = ((uintptr_t)table->pairs + LAYOUT_HUGE - 1) / LAYOUT_HUGE * LAYOUT_HUGE;
	uintptr_t end = (uintptr_t)table->pairs + size;
	if (size <= COLLAPSE_MAX && at < end && (end - at) / LAYOUT_HUGE)
		madvise((void *)at, (end - at) / LAYOUT_HUGE * LAYOUT_HUGE, MADV_COLLAPSE);
}

static bool random_bytes(void *out, size_t size)
{
	return getrandom(out, size, 0) == (ssize_t)size;
}

struct making {
	const struct table_options *options;
	int folder;
	const char *name;
	struct file_new file;
	struct table *table; /* private */
	const struct why *why;
};

static void drop(struct making *making)
{
	if (making->table && making->table->base)
		munmap(making->table->base, making->table->size);
	free(making->table);
	making->table = NULL;
	file_drop(&making->file);
}

/* The file with its fixed part, mapped. `ids`: secrets and table id are this snapshot's, else new ones. */
static enum weir_error begin(struct making *making, const struct snapshot *ids)
{
	struct layout_fixed fixed;
	const struct why *why = making->why;
	uint64_t size = making->options->size ? making->options->size : TABLE_SIZE_DEFAULT;
	making->file = (struct file_new){.folder = making->folder, .fd = -1};
	enum weir_error error = geometry_plan(size, making->options->process_slots, &fixed, why);
	if (error == WEIR_OK)
		error = file_make(making->folder, fixed.file_size, &making->file, why);
	if (error != WEIR_OK)
		return error;
	if (ids) {
		fixed.table_id = ids->table_id;
		memcpy(fixed.secret, ids->secret, sizeof fixed.secret);
		memcpy(fixed.digest_secret, ids->digest_secret, sizeof fixed.digest_secret);
	} else if (!random_bytes(&fixed.table_id, sizeof fixed.table_id) ||
		   !random_bytes(fixed.secret, sizeof fixed.secret) ||
		   !random_bytes(fixed.digest_secret, sizeof fixed.digest_secret)) {
		return why_error(why, WEIR_SYSTEM, "getrandom: %s", strerror(errno));
	}
	fixed.check = geometry_checksum(&fixed);
	error = file_write_all(making->file.fd, &fixed, sizeof fixed, 0, why);
	if (error != WEIR_OK)
		return error;
	void *table = NULL;
	if (posix_memalign(&table, 64, sizeof *making->table) != 0 || !table)
		return why_error(why, WEIR_NO_MEMORY, "out of memory");
	making->table = memset(table, 0, sizeof *making->table);
	making->table->fd = making->file.fd;
	return open_attach(making->table, why);
}

/* ---- from a snapshot ---- */

/* Statistics go on too: what the old table's processes counted is what the new one's first slot begins with. */
static void copy_statistics(struct table *to, struct table *from)
{
	for (uint16_t stat = 0; stat < TABLE_STAT_COUNT; stat++) {
		struct stats_entry *entry = &to->names[stat];
		*entry = from->names[stat];
		entry->name[sizeof entry->name - 1] = '\0';
		entry->base = (struct stats_limit){0};
		stats_limit_sum(from, stat, &to->areas[0].limits[stat]);
	}
	stats_process_sum(from, &to->areas[0].process);
}

static bool sound(const struct snapshot *snapshot)
{
	return snapshot->pairs >= 1 && snapshot->time < ALGO_TIME_MAX / 2 && snapshot->wall <= INT64_MAX &&
	       snapshot->generation < UINT32_MAX;
}

static enum weir_error load(struct making *making, const struct snapshot *snapshot, struct table *old,
			    struct table_restored *told)
{
	struct table *table = making->table;
	const struct clock_then then = {.boot = {snapshot->boot[0], snapshot->boot[1]},
					.offset = snapshot->offset,
					.time = snapshot->time,
					.wall = snapshot->wall};
	struct clock_reading reading;
	struct clock_bridge bridge;
	struct snapshot_rows rows;
	if (!snapshot_rows(snapshot, old != NULL, &rows))
		return why_error(making->why, WEIR_NO_MEMORY, "out of memory");
	clock_read(&reading);
	clock_bridge(&then, &reading, &bridge);
	clock_go_on(table->header, &then, &reading, &bridge);
	told->age_ns = bridge.age_ns;
	told->bridged_ns = bridge.bridged_ns;
	told->same_boot = bridge.same_boot;
	table->header->published.before = snapshot->generation > rows.newest ? snapshot->generation
									     : rows.newest;
	enum weir_error error = WEIR_OK;
	if (old && snapshot_share_ledger(&rows, table, making->folder, making->name)) {
		copy_statistics(table, old);
		table->header->published.generation = table_generation(old);
		table->header->clock.then = atomic_peek(&old->header->clock.then);
		table->header->clock.then_wall = atomic_peek(&old->header->clock.then_wall);
		table->header->clock.pending = atomic_peek(&old->header->clock.pending);
		table->header->published.ledger_epoch = atomic_get(&old->header->published.ledger_epoch);
	} else {
		error = snapshot_ledger(&rows, table, making->folder, making->name, making->why);
	}
	if (error == WEIR_OK)
		snapshot_fill(&rows, table, bridge.now, told);
	snapshot_rows_free(&rows);
	return error;
}

static void tell(struct making *making, const struct table_restored *told)
{
	struct layout_restored *out = &making->table->header->restored;
	*out = (struct layout_restored){
		.made = 1,
		.entries = told->entries,
		.expired = told->expired,
		.refused = told->refused,
		.crowded = told->crowded,
		.age_ns = told->age_ns,
		.bridged_ns = told->bridged_ns,
		.same_boot = told->same_boot,
	};
	snprintf(out->why, sizeof out->why, "%s", told->why);
}

enum weir_error make_from(const struct table_options *options, int folder, const char *name,
			  const struct snapshot *snapshot, struct table *old, bool replace, bool *taken,
			  const struct why *why)
{
	struct making making = {.options = options, .folder = folder, .name = name, .why = why};
	struct table_restored told = {0};
	*taken = false;
	if (!sound(snapshot))
		return why_error(why, WEIR_DAMAGED, "the snapshot does not add up");
	enum weir_error error = begin(&making, snapshot);
	if (error == WEIR_OK)
		error = load(&making, snapshot, old, &told);
	if (error == WEIR_OK) {
		tell(&making, &told);
		collapse(making.table);
		error = file_name(&making.file, name, replace, taken, why);
	}
	drop(&making);
	return error;
}

/* ---- what is missing ---- */

static enum weir_error make_empty(const struct table_options *options, int folder, const char *name,
				  const char *sentence, const struct why *why)
{
	struct making making = {.options = options, .folder = folder, .name = name, .why = why};
	bool taken;
	enum weir_error error = begin(&making, NULL);
	if (error == WEIR_OK) {
		struct table_restored told = {0};
		snprintf(told.why, sizeof told.why, "%s", sentence);
		clock_begin(making.table->header);
		if (*sentence)
			tell(&making, &told);
		collapse(making.table);
		error = file_name(&making.file, name, false, &taken, why);
	}
	drop(&making);
	return error;
}

enum weir_error make_missing(const struct table_options *options, int folder, const char *name,
			     const struct why *why)
{
	char sentence[sizeof((struct table_restored *)0)->why] = "";
	struct snapshot snapshot;
	enum weir_error error = WEIR_FOREIGN;
	bool taken;
	int fd;
	make_lock(folder);
	/* made while we waited: also if it is not to be trusted, which the opening will say */
	enum weir_error found = file_open(folder, name, false, &fd, &(struct why){0});
	if (found == WEIR_OK)
		close(fd);
	if (found != WEIR_NOT_FOUND) {
		make_unlock(folder);
		return WEIR_OK;
	}
	if (options->snapshot) {
		const struct why reason = {sentence, sizeof sentence};
		error = snapshot_read(options->snapshot, &snapshot, sentence, sizeof sentence);
		if (error == WEIR_OK) {
			error = make_from(options, folder, name, &snapshot, NULL, false, &taken, &reason);
			snapshot_free(&snapshot);
		}
	}
	if (error != WEIR_OK)
		error = make_empty(options, folder, name, sentence, why);
	make_unlock(folder);
	return error;
}

uint64_t table_last_generation(const struct table *table)
{
	uint64_t published = table_generation(table), before = atomic_get(&table->header->published.before);
	return published > before ? published : before;
}

bool table_restored(struct table *table, struct table_restored *out)
{
	const struct layout_restored *from = &table->header->restored;
	*out = (struct table_restored){
		.entries = from->entries,
		.expired = from->expired,
		.refused = from->refused,
		.crowded = from->crowded,
		.age_ns = from->age_ns,
		.bridged_ns = from->bridged_ns,
		.same_boot = from->same_boot != 0,
		.believed = atomic_get(&table->header->clock.pending) == 0,
	};
	memcpy(out->why, from->why, sizeof out->why);
	out->why[sizeof out->why - 1] = '\0';
	return from->made != 0;
}
