/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open: from a path to a handle.
 *
 * A table appears whole or not at all: whoever makes one builds it without a name and links it into place;
 * of several, one wins and the others open the winner's (T13).
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/file.h"
#include "table/geometry.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define COLLAPSE_MAX (UINT64_C(1) << 30) /* more takes too long for an opening */
#define LOOK_NS	     UINT64_C(1000000000)

/* ---- making ---- */

static bool random_bytes(void *out, size_t size)
{
	return getrandom(out, size, 0) == (ssize_t)size;
}

/* Huge pages make random lookups 8 to 20 % cheaper. On tmpfs they must be asked for, and only here, before
 * anyone has the file mapped; where the kernel cannot, nothing is lost. */
static void collapse(void *map, const struct layout_section *slots)
{
	uintptr_t at = ((uintptr_t)map + slots->offset + LAYOUT_HUGE - 1) / LAYOUT_HUGE * LAYOUT_HUGE;
	uintptr_t end = (uintptr_t)map + slots->offset + slots->size;
	if (slots->size <= COLLAPSE_MAX && at < end && (end - at) / LAYOUT_HUGE)
		madvise((void *)at, (end - at) / LAYOUT_HUGE * LAYOUT_HUGE, MADV_COLLAPSE);
}

/* Maps so that the slots' huge pages in the file meet huge pages of the address space. */
static unsigned char *map_file(int fd, uint64_t size, bool write)
{
	int protection = PROT_READ | (write ? PROT_WRITE : 0);
	unsigned char *room = mmap(NULL, size + LAYOUT_HUGE, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return NULL;
	size_t skip = (LAYOUT_HUGE - (uintptr_t)room % LAYOUT_HUGE) % LAYOUT_HUGE;
	void *map = mmap(room + skip, size, protection, MAP_SHARED | MAP_FIXED, fd, 0);
	if (map == MAP_FAILED) {
		munmap(room, size + LAYOUT_HUGE);
		return NULL;
	}
	uint64_t whole = (size + LAYOUT_PAGE - 1) / LAYOUT_PAGE * LAYOUT_PAGE;
	if (skip)
		munmap(room, skip);
	if (skip + whole < size + LAYOUT_HUGE)
		munmap(room + skip + whole, size + LAYOUT_HUGE - skip - whole);
	return map;
}

static enum weir_error fill(int fd, struct layout_fixed *fixed, const struct why *why)
{
	if (!random_bytes(&fixed->table_id, sizeof fixed->table_id) ||
	    !random_bytes(fixed->secret, sizeof fixed->secret) ||
	    !random_bytes(fixed->digest_secret, sizeof fixed->digest_secret))
		return why_error(why, WEIR_SYSTEM, "getrandom: %s", strerror(errno));
	fixed->check = geometry_checksum(fixed);
	unsigned char *map = map_file(fd, fixed->file_size, true);
	if (!map)
		return why_error(why, WEIR_NO_MEMORY, "mmap: %s", strerror(errno));
	struct layout_header *header = (struct layout_header *)(void *)map;
	header->fixed = *fixed;
	clock_begin(header);
	collapse(map, &fixed->sections[LAYOUT_SLOTS]);
	munmap(map, fixed->file_size);
	return WEIR_OK;
}

static enum weir_error create(const struct table_options *options, int folder, const char *name,
			      const struct why *why)
{
	struct layout_fixed fixed;
	struct file_new file;
	bool taken;
	uint64_t size = options->size ? options->size : TABLE_SIZE_DEFAULT;
	enum weir_error error = geometry_plan(size, options->process_slots, &fixed, why);
	if (error == WEIR_OK)
		error = file_make(folder, fixed.file_size, &file, why);
	if (error != WEIR_OK)
		return error;
	error = fill(file.fd, &fixed, why);
	if (error == WEIR_OK)
		error = file_name(&file, name, false, &taken, why);
	file_drop(&file);
	return error;
}

/* ---- opening ---- */

static enum weir_error attach(struct table *table, const struct why *why)
{
	struct stat st;
	struct layout_fixed fixed;
	if (fstat(table->fd, &st) != 0)
		return why_error(why, WEIR_SYSTEM, "fstat: %s", strerror(errno));
	if (st.st_size < (off_t)LAYOUT_PAGE || pread(table->fd, &fixed, sizeof fixed, 0) != sizeof fixed)
		return why_error(why, WEIR_FOREIGN, "too short for a table (%lld bytes)",
				 (long long)st.st_size);
	enum weir_error error = geometry_check(&fixed, (uint64_t)st.st_size, why);
	if (error != WEIR_OK)
		return error;
	table->base = map_file(table->fd, fixed.file_size, !table->read_only);
	if (!table->base)
		return why_error(why, WEIR_NO_MEMORY, "mmap: %s", strerror(errno));
	/* From here on the private copy speaks: what is in the mapping may change under us. */
	table->size = fixed.file_size;
	table->device = st.st_dev;
	table->inode = st.st_ino;
	table->table_id = fixed.table_id;
	table->secret = (struct siphash_key){fixed.secret[0], fixed.secret[1]};
	table->digest_secret = (struct siphash_key){fixed.digest_secret[0], fixed.digest_secret[1]};
	table->process_slots = fixed.process_slots;
	table->process_offset = fixed.sections[LAYOUT_PROCESSES].offset;
	table->pair_count = fixed.pairs;
	table->header = (struct layout_header *)(void *)table->base;
	table->processes = (void *)(table->base + table->process_offset);
	table->names = (void *)(table->base + fixed.sections[LAYOUT_NAMES].offset);
	table->areas = (void *)(table->base + fixed.sections[LAYOUT_STATISTICS].offset);
	table->pairs = (void *)(table->base + fixed.sections[LAYOUT_SLOTS].offset);
	return WEIR_OK;
}

static enum weir_error join(struct table *table, const struct why *why)
{
	table->ledger.chunks = calloc(HANDLE_CHUNKS, sizeof *table->ledger.chunks);
	if (!table->ledger.chunks)
		return why_error(why, WEIR_NO_MEMORY, "out of memory");
	ledger_open(table);
	enum weir_error error = clock_open(table);
	if (error != WEIR_OK)
		return why_error(why, error,
				 error == WEIR_DAMAGED ? "its clock is damaged" : "cannot lock its clock: %s",
				 strerror(errno));
	if (table->read_only)
		return process_do_without(table) ? WEIR_OK : why_error(why, WEIR_NO_MEMORY, "out of memory");
	error = process_open(table);
	if (error == WEIR_BUSY)
		return why_error(why, error, "all %u process slots are taken", table->process_slots);
	if (error != WEIR_OK)
		return why_error(why, error, "cannot lock a process slot: %s", strerror(errno));
	struct algo_time now;
	table_time(table, &now);
	atomic_set(&table->process->opened_at, now.now);
	return WEIR_OK;
}

static enum weir_error open_path(const struct table_options *options, struct table *table,
				 const struct why *why)
{
	enum weir_error error = file_folder(table->path, options->create, &table->folder, &table->name, why);
	/* Twice: someone may remove it between our losing the race to make it and our opening the winner's. */
	for (unsigned try = 0; error == WEIR_OK; try++) {
		error = file_open(table->folder, table->name, !options->read_only, &table->fd, why);
		if (error != WEIR_NOT_FOUND || !options->create || try == 8)
			break;
		error = create(options, table->folder, table->name, why);
	}
	if (error == WEIR_OK)
		error = attach(table, why);
	if (error == WEIR_OK)
		error = join(table, why);
	return error;
}

enum weir_error table_open(const struct table_options *options, struct table **out, char *why, size_t size)
{
	char sentence[512] = "";
	const struct why inner = {sentence, sizeof sentence}, outer = {why, size};
	struct table *table = NULL;
	*out = NULL;
	if (posix_memalign((void **)&table, 64, sizeof *table) != 0)
		return why_error(&outer, WEIR_NO_MEMORY, "%s: out of memory", options->path);
	memset(table, 0, sizeof *table);
	table->fd = table->folder = table->ledger.fd = -1;
	table->read_only = options->read_only;
	table->path = strdup(options->path);
	enum weir_error error = table->path ? open_path(options, table, &inner) : WEIR_NO_MEMORY;
	if (error != WEIR_OK) {
		why_error(&outer, error, "%s: %s", options->path,
			  sentence[0] ? sentence : weir_error_sentence(error));
		table_close(&table);
		return error;
	}
	*out = table;
	return WEIR_OK;
}

void table_close(struct table **handle)
{
	struct table *table = *handle;
	*handle = NULL;
	if (!table)
		return;
	ledger_close(table);
	process_close(table);
	if (table->read_only)
		free(table->area);
	if (table->base)
		munmap(table->base, table->size);
	if (table->fd >= 0)
		close(table->fd);
	if (table->folder >= 0)
		close(table->folder);
	free(table->path);
	free(table);
}

/* ---- the path ---- */

const char *table_path(const struct table *table)
{
	return table->path;
}

void table_default_path(const char *name_space, unsigned uid, char *path, size_t size)
{
	const struct siphash_key key = {LAYOUT_MAGIC, 0}; /* a name, not a secret: the same everywhere */
	struct siphash_128 hash = siphash_1_3(&key, name_space, strlen(name_space));
	snprintf(path, size, "/dev/shm/weir-%u/%016llx.v%u", uid, (unsigned long long)hash.lo,
		 LAYOUT_VERSION);
}

bool table_replaced(struct table *table, uint64_t now)
{
	struct stat st;
	if (table->replaced || now < table->look_again)
		return table->replaced;
	table->look_again = now + LOOK_NS;
	if (stat(table->path, &st) == 0)
		table->replaced = st.st_dev != table->device || st.st_ino != table->inode;
	else
		table->replaced = errno == ENOENT || errno == ENOTDIR;
	return table->replaced;
}
