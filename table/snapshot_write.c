/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot_write: a base, whole, on disk, and only then in place of the one before. */
#include <errno.h>
#include <limits.h>
#include <sys/random.h>
#include <unistd.h>

#include "table/snapshot_file.h"

static enum weir_error fill(int fd, const struct snapshot *snapshot, uint64_t base, const struct why *why)
{
	size_t rows = snapshot->row_count * sizeof *snapshot->rows,
	       entries = snapshot->entry_count * sizeof *snapshot->entries;
	struct snapshot_head head;
	memset(&head, 0, sizeof head);
	head = (struct snapshot_head){
		.magic = SNAPSHOT_MAGIC,
		.version = SNAPSHOT_VERSION,
		.base = base,
		.table_id = snapshot->table_id,
		.pairs = snapshot->pairs,
		.secret = {snapshot->secret[0], snapshot->secret[1]},
		.digest_secret = {snapshot->digest_secret[0], snapshot->digest_secret[1]},
		.boot = {snapshot->boot[0], snapshot->boot[1]},
		.offset = snapshot->offset,
		.time = snapshot->time,
		.wall = snapshot->wall,
		.generation = snapshot->generation,
		.row_count = snapshot->row_count,
		.entry_count = snapshot->entry_count,
		.body = snapshot_body_check(snapshot->rows, snapshot->row_count, snapshot->entries,
					    snapshot->entry_count),
	};
	head.check = snapshot_check(&head, sizeof head);
	enum weir_error error = file_write_all(fd, &head, sizeof head, 0, why);
	if (error == WEIR_OK)
		error = file_write_all(fd, snapshot->rows, rows, sizeof head, why);
	if (error == WEIR_OK)
		error = file_write_all(fd, snapshot->entries, entries, sizeof head + rows, why);
	if (error == WEIR_OK && fdatasync(fd) != 0)
		error = why_error(why, WEIR_SYSTEM, "fdatasync: %s", strerror(errno));
	return error;
}

enum weir_error snapshot_put_base(const struct snapshot_place *place, const struct snapshot *snapshot,
				  uint64_t base, uint64_t *bytes, const struct why *why)
{
	struct file_new file;
	bool taken;
	*bytes = sizeof(struct snapshot_head) + snapshot->row_count * sizeof *snapshot->rows +
		 snapshot->entry_count * sizeof *snapshot->entries;
	enum weir_error error = file_make(place->folder, *bytes, &file, why);
	if (error != WEIR_OK)
		return error;
	error = fill(file.fd, snapshot, base, why);
	if (error == WEIR_OK)
		error = file_name(&file, place->name, true, &taken, why);
	file_drop(&file);
	/* The name too, before anything relies on it. */
	if (error == WEIR_OK && fsync(place->folder) != 0)
		error = why_error(why, WEIR_SYSTEM, "fsync: %s", strerror(errno));
	return error;
}

static enum weir_error replace(const struct snapshot_place *place, const struct snapshot *snapshot,
			       const struct why *why)
{
	struct snapshot_head head;
	uint64_t base, bytes;
	int lock, old;
	enum weir_error error = snapshot_lock(place, &lock, why);
	if (error != WEIR_OK)
		return error;
	error = snapshot_open(place, "", false, &old, why);
	if (error == WEIR_OK) {
		error = snapshot_read_head(old, &bytes, &head, why);
		close(old);
	}
	if (error == WEIR_NOT_FOUND || error == WEIR_DAMAGED)
		error = WEIR_OK;
	if (error == WEIR_OK && getrandom(&base, sizeof base, 0) != sizeof base)
		error = why_error(why, WEIR_SYSTEM, "getrandom: %s", strerror(errno));
	if (error == WEIR_OK)
		error = snapshot_put_base(place, snapshot, base, &bytes, why);
	close(lock);
	return error;
}

enum weir_error snapshot_write(const struct snapshot *snapshot, const char *path, char *text, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, why = {text, size};
	struct snapshot_place place = {.folder = -1};
	enum weir_error error = snapshot_place(path, &place, &inner);
	if (error == WEIR_OK)
		error = replace(&place, snapshot, &inner);
	snapshot_leave(&place);
	return error == WEIR_OK ? error : why_error(&why, error, "%s: %s", path, sentence);
}
