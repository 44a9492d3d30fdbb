/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger_lock: one publisher at a time, and a ledger that belongs to this table.
 *
 * The lock is flock(2) on the ledger itself: the kernel drops it if the publisher is killed. A ledger of
 * another table (the table was removed, its ledger not) or a damaged one is replaced, by the one who holds
 * its lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/beside.h"
#include "table/file.h"
#include "table/ledger_file.h"

#define PAUSE_MS 5u
#define ROUNDS	 8u

/* A fresh ledger. Nothing is known about rows from before, so slots that carry any are worth nothing and must
 * not be read under the new rows. Everyone forgets what they remember, and maps this file. The count is set
 * last: if we are killed in here, the next one does it again. */
static void begin(struct table *table, struct ledger_header *header)
{
	uint64_t *epoch = &table->header->published.ledger_epoch;
	for (uint64_t i = 0; i < table->pair_count; i++)
		for (unsigned way = 0; way < LAYOUT_WAYS; way++) {
			struct slot *slot = &table->pairs[i].ways[way];
			uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
			if (w0 | w1)
				atomic_cas_pair(&slot->w0, w0, w1, 0,
						0); /* I2; if it fails, it was just written */
		}
	atomic_set(epoch, atomic_get(epoch) + 1);
	atomic_set32(&header->count, 1);
}

static enum weir_error create(struct table *table, bool replace)
{
	const struct why nobody = {0};
	char name[NAME_MAX + 1];
	struct file_new file;
	bool taken;
	enum weir_error error = file_make(table->folder, LAYOUT_PAGE + sizeof(struct ledger_block), &file,
					  &nobody);
	if (error != WEIR_OK)
		return error;
	struct ledger_header header = {LEDGER_MAGIC, LAYOUT_VERSION, 0, table->table_id};
	if (pwrite(file.fd, &header, sizeof header, 0) != sizeof header)
		error = WEIR_SYSTEM;
	snprintf(name, sizeof name, "%s" BESIDE_LEDGER, table->name);
	if (error == WEIR_OK)
		error = file_name(&file, name, replace, &taken, &nobody);
	file_drop(&file);
	return error;
}

bool ledger_map(struct ledger_writer *writer)
{
	struct stat st;
	if (writer->map)
		munmap(writer->map, writer->size);
	writer->map = NULL;
	writer->capacity = 0;
	if (fstat(writer->fd, &st) != 0 || ledger_capacity((uint64_t)st.st_size) == 0)
		return false;
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, writer->fd, 0);
	if (map == MAP_FAILED)
		return false;
	writer->map = map;
	writer->size = (size_t)st.st_size;
	writer->capacity = ledger_capacity(writer->size);
	return true;
}

/* The name still leads to the file whose lock we got. */
static bool current(const struct table *table, const struct ledger_writer *writer)
{
	struct stat named, here;
	char name[NAME_MAX + 1];
	snprintf(name, sizeof name, "%s" BESIDE_LEDGER, table->name);
	return fstatat(table->folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstat(writer->fd, &here) == 0 && named.st_ino == here.st_ino && named.st_dev == here.st_dev;
}

static bool ours(const struct table *table, const struct ledger_writer *writer)
{
	const struct ledger_header *header = ledger_header(writer);
	return header->magic == LEDGER_MAGIC && header->layout == LAYOUT_VERSION &&
	       header->table_id == table->table_id && header->count <= writer->capacity;
}

/* Another table has this one's place: the ledger there is its ledger, and what would be published here nobody reads. */
static bool superseded(const struct table *table)
{
	struct stat named;
	return fstatat(table->folder, table->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (named.st_ino != table->inode || named.st_dev != table->device);
}

static void drop(struct ledger_writer *writer)
{
	if (writer->map)
		munmap(writer->map, writer->size);
	if (writer->fd >= 0)
		close(writer->fd); /* and the lock with it */
	free(writer->newest);
	free(writer);
}

static enum weir_error wait_for(int fd, unsigned *timeout_ms)
{
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return WEIR_SYSTEM;
		if (*timeout_ms == 0)
			return WEIR_BUSY;
		nanosleep(&(struct timespec){0, (long)PAUSE_MS * 1000000}, NULL);
		*timeout_ms -= *timeout_ms < PAUSE_MS ? *timeout_ms : PAUSE_MS;
	}
	return WEIR_OK;
}

/* *writer stays NULL, without an error, if the file had to be made or was replaced meanwhile: try again. */
static enum weir_error try_lock(struct table *table, unsigned *timeout_ms, struct ledger_writer **out)
{
	struct ledger_writer *writer = calloc(1, sizeof *writer);
	if (!writer)
		return WEIR_NO_MEMORY;
	enum weir_error error = file_open_beside(table, BESIDE_LEDGER, true, &writer->fd);
	if (error == WEIR_NOT_FOUND) {
		error = create(table, false);
	} else if (error == WEIR_OK && (error = wait_for(writer->fd, timeout_ms)) == WEIR_OK &&
		   current(table, writer)) {
		if (superseded(table)) {
			error = WEIR_NOT_FOUND;
		} else if (!ledger_map(writer) || !ours(table, writer)) {
			error = create(table, true);
		} else {
			if (ledger_header(writer)->count == 0)
				begin(table, ledger_header(writer));
			writer->count = ledger_header(writer)->count;
			if (writer->count > writer->capacity) /* hostile: looked at once more than checked */
				writer->count = writer->capacity;
			if (ledger_index_build(writer)) {
				*out = writer;
				return WEIR_OK;
			}
			error = WEIR_NO_MEMORY;
		}
	}
	drop(writer);
	return error;
}

enum weir_error ledger_lock(struct table *table, unsigned timeout_ms)
{
	if (table->read_only)
		return WEIR_READ_ONLY;
	if (table->ledger.writer)
		return WEIR_BUSY;
	for (unsigned round = 0; round < ROUNDS; round++) {
		enum weir_error error = try_lock(table, &timeout_ms, &table->ledger.writer);
		if (error != WEIR_OK || table->ledger.writer)
			return error;
	}
	return WEIR_BUSY;
}

void ledger_unlock(struct table *table)
{
	if (table->ledger.writer)
		drop(table->ledger.writer);
	table->ledger.writer = NULL;
}
