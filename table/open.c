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
#include <sys/stat.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/clock.h"
#include "table/geometry.h"
#include "table/make.h"

#define LOOK_NS UINT64_C(1000000000)

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

/* ---- opening ---- */

enum weir_error open_attach(struct table *table, const struct why *why)
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
	if (fixed.sections[LAYOUT_TOP].size)
		table->tops = (void *)(table->base + fixed.sections[LAYOUT_TOP].offset);
	return WEIR_OK;
}

static enum weir_error join(const struct table_options *options, struct table *table, const struct why *why)
{
	table->ledger.chunks = calloc(HANDLE_CHUNKS, sizeof(struct ledger_row *));
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
	error = process_wait(table, options->slot_wait_ms);
	if (error == WEIR_BUSY)
		return why_error(why, error, "all %u process slots are taken", table->process_slots);
	if (error != WEIR_OK)
		return why_error(why, error, "cannot lock a process slot: %s", strerror(errno));
	struct algo_time now;
	table_time(table, &now);
	atomic_set(&table->process->opened_at, now.now);
	return WEIR_OK;
}

static enum weir_error open_path(const struct table_options *options, struct table *table, bool *made,
				 const struct why *why)
{
	enum weir_error error = file_folder(table->path, options->create, &table->folder, &table->name, why);
	/* Twice: someone may remove it between our losing the race to make it and our opening the winner's. */
	for (unsigned try = 0; error == WEIR_OK; try++) {
		error = file_open(table->folder, table->name, !options->read_only, &table->fd, why);
		if (error != WEIR_NOT_FOUND || !options->create || try == 8)
			break;
		error = make_missing(options, table->folder, table->name, why);
		*made = true;
	}
	if (error == WEIR_OK)
		error = open_attach(table, why);
	if (error == WEIR_OK)
		error = join(options, table, why);
	return error;
}

enum weir_error table_open(const struct table_options *options, struct table **out, char *why, size_t size)
{
	char sentence[512] = "";
	const struct why inner = {sentence, sizeof sentence}, outer = {why, size};
	struct table *table = NULL;
	struct table_restored restored;
	bool made = false;
	*out = NULL;
	if (posix_memalign((void **)&table, 64, sizeof *table) != 0)
		return why_error(&outer, WEIR_NO_MEMORY, "%s: out of memory", options->path);
	memset(table, 0, sizeof *table);
	table->fd = table->folder = table->ledger.fd = -1;
	table->read_only = options->read_only;
	table->path = strdup(options->path);
	enum weir_error error = table->path ? open_path(options, table, &made, &inner) : WEIR_NO_MEMORY;
	if (error != WEIR_OK) {
		why_error(&outer, error, "%s: %s", options->path,
			  sentence[0] ? sentence : weir_error_sentence(error));
		table_close(&table);
		return error;
	}
	/* A snapshot that cannot be loaded never stands in the way, but is not passed over in silence. */
	if (made && table_restored(table, &restored))
		why_error(&outer, WEIR_OK, "%s", restored.why);
	else if (why && size)
		*why = '\0';
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
	/* Who puts another in its place says so: a word that stands where each decision looks anyway. */
	uint64_t moved = atomic_peek(&table->header->published.moved);
	if (table->replaced || (now < table->look_again && moved == table->moved))
		return table->replaced;
	table->moved = moved;
	table->look_again = now + LOOK_NS;
	if (stat(table->path, &st) == 0)
		table->replaced = st.st_dev != table->device || st.st_ino != table->inode;
	else
		table->replaced = errno == ENOENT || errno == ENOTDIR;
	return table->replaced;
}
