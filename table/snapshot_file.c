/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_file: where a snapshot lies, who may write it, and what its bytes are checked by. */
#include "table/snapshot_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

uint64_t snapshot_check(const void *head, size_t size)
{
	const struct siphash_key key = {SNAPSHOT_MAGIC, SNAPSHOT_VERSION};
	return siphash_1_3(&key, head, size - sizeof(uint64_t)).lo;
}

uint64_t snapshot_body_check(const struct snapshot_row *rows, size_t row_count,
			     const struct snapshot_entry *entries, size_t entry_count)
{
	const struct siphash_key key = {BATCH_MAGIC, SNAPSHOT_VERSION};
	struct siphash_128 hash = siphash_1_3(&key, rows, row_count * sizeof *rows);
	const struct siphash_key next = {hash.lo, hash.hi};
	return siphash_1_3(&next, entries, entry_count * sizeof *entries).lo;
}

enum weir_error snapshot_place(const char *path, struct snapshot_place *out, const struct why *why)
{
	enum weir_error error = file_folder(path, false, &out->folder, &out->name, why);
	if (error == WEIR_OK && strlen(out->name) > NAME_MAX - 32) {
		snapshot_leave(out);
		return why_error(why, WEIR_SYSTEM, "its name is too long");
	}
	return error;
}

void snapshot_leave(struct snapshot_place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	place->folder = -1;
}

enum weir_error snapshot_open(const struct snapshot_place *place, const char *suffix, bool write, int *fd,
			      const struct why *why)
{
	char name[NAME_MAX + 1];
	snprintf(name, sizeof name, "%s%s", place->name, suffix);
	return file_open(place->folder, name, write, fd, why);
}

/* The file stays: to remove it would let two have "the" lock. */
enum weir_error snapshot_lock(const struct snapshot_place *place, int *lock, const struct why *why)
{
	char name[NAME_MAX + 1];
	snprintf(name, sizeof name, "%s" SNAPSHOT_LOCK, place->name);
	enum weir_error error = file_open(place->folder, name, true, lock, why);
	if (error == WEIR_NOT_FOUND) {
		struct file_new file;
		bool taken;
		error = file_make(place->folder, 0, &file, why);
		if (error == WEIR_OK) {
			error = file_name(&file, name, false, &taken, why);
			file_drop(&file);
		}
		if (error == WEIR_OK)
			error = file_open(place->folder, name, true, lock, why);
	}
	if (error != WEIR_OK)
		return error;
	while (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EINTR)
			continue;
		error = errno == EWOULDBLOCK
				? why_error(why, WEIR_BUSY, "another process keeps it")
				: why_error(why, WEIR_SYSTEM, "%s: flock: %s", name, strerror(errno));
		close(*lock);
		*lock = -1;
		return error;
	}
	return WEIR_OK;
}

/* ---- order ---- */

static int compare(const struct snapshot_entry *a, const struct snapshot_entry *b)
{
	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	return a->w0 == b->w0 ? 0 : a->w0 < b->w0 ? -1 : 1;
}

/* A merge of runs, from the bottom: stable, and what is sorted already costs one comparison each. False: no memory. */
static bool merge_sort(struct snapshot_entry *entries, size_t count)
{
	bool sorted = true;
	for (size_t i = 1; i < count && sorted; i++)
		sorted = compare(&entries[i - 1], &entries[i]) <= 0;
	if (sorted)
		return true;
	struct snapshot_entry *spare = malloc(count * sizeof *spare), *from = entries, *to = spare;
	if (!spare)
		return false;
	for (size_t run = 1; run < count; run *= 2) {
		for (size_t at = 0; at < count; at += 2 * run) {
			size_t middle = at + run < count ? at + run : count;
			size_t end = middle + run < count ? middle + run : count;
			size_t left = at, right = middle;
			for (size_t out = at; out < end; out++)
				to[out] = left < middle && (right >= end ||
							    compare(&from[left], &from[right]) <= 0)
						  ? from[left++]
						  : from[right++];
		}
		struct snapshot_entry *swap = from;
		from = to;
		to = swap;
	}
	if (from != entries)
		memcpy(entries, from, count * sizeof *entries);
	free(spare);
	return true;
}

size_t snapshot_sort(struct snapshot_entry *entries, size_t count)
{
	size_t kept = 0;
	if (!merge_sort(entries, count))
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		if (kept && compare(&entries[kept - 1], &entries[i]) == 0)
			kept--;
		entries[kept++] = entries[i];
	}
	return kept;
}

const struct snapshot_row *snapshot_row(const struct snapshot *snapshot, uint32_t row)
{
	size_t low = 0, high = snapshot->row_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (snapshot->rows[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low < snapshot->row_count && snapshot->rows[low].row == row ? &snapshot->rows[low] : NULL;
}
