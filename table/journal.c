/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal: the difference of two snapshots, appended.
 *
 * A batch is known to be whole by its check, and to be the next by its number: what is left of one that was torn is
 * neither, whatever is written over it. Nothing is believed to be on disk before fdatasync says so; after one that
 * failed the kernel may have dropped what it could not write, so this journal is given up and a new base made.
 */
#include "table/journal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

void journal_end(struct journal *journal)
{
	if (journal->fd >= 0)
		close(journal->fd);
	journal->fd = -1;
}

enum weir_error journal_begin(struct journal *journal, const struct snapshot_place *place, uint64_t base,
			      const struct why *why)
{
	char name[NAME_MAX + 1];
	struct journal_head head = {.magic = JOURNAL_MAGIC, .version = SNAPSHOT_VERSION, .base = base};
	struct file_new file;
	bool taken;
	journal_end(journal);
	head.check = snapshot_check(&head, sizeof head);
	snprintf(name, sizeof name, "%s" SNAPSHOT_JOURNAL, place->name);
	enum weir_error error = file_make(place->folder, 0, &file, why);
	if (error != WEIR_OK)
		return error;
	error = file_write_all(file.fd, &head, sizeof head, 0, why);
	if (error == WEIR_OK && fdatasync(file.fd) != 0)
		error = why_error(why, WEIR_SYSTEM, "fdatasync: %s", strerror(errno));
	if (error == WEIR_OK)
		error = file_name(&file, name, true, &taken, why);
	if (error == WEIR_OK && fsync(place->folder) != 0)
		error = why_error(why, WEIR_SYSTEM, "fsync: %s", strerror(errno));
	if (error == WEIR_OK) {
		*journal = (struct journal){.fd = file.fd, .base = base, .end = sizeof head};
		file.fd = -1;
		file.temporary[0] = '\0';
	}
	file_drop(&file);
	return error;
}

/* ---- the difference ---- */

static int order(const struct snapshot_entry *a, const struct snapshot_entry *b)
{
	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	return a->w0 == b->w0 ? 0 : a->w0 < b->w0 ? -1 : 1;
}

/* Calls for each entry that is new, changed or gone (w1 = 0): into `out` if it is not NULL. Returns how many. */
static size_t differing(const struct snapshot *before, const struct snapshot *after,
			struct snapshot_entry *out)
{
	size_t i = 0, j = 0, count = 0;
	while (i < before->entry_count || j < after->entry_count) {
		int which;
		if (i == before->entry_count)
			which = 1;
		else if (j == after->entry_count)
			which = -1;
		else
			which = order(&before->entries[i], &after->entries[j]);
		struct snapshot_entry entry = which < 0 ? before->entries[i] : after->entries[j];
		bool same = which == 0 && before->entries[i].w1 == entry.w1;
		i += which <= 0;
		j += which >= 0;
		if (which < 0)
			entry.w1 = 0;
		if (!same && out)
			out[count] = entry;
		count += !same;
	}
	return count;
}

static bool same_row(const struct snapshot_row *a, const struct snapshot_row *b)
{
	return a->generation == b->generation && a->identity == b->identity && a->flags == b->flags &&
	       a->plan == b->plan && memcmp(&a->numbers, &b->numbers, sizeof a->numbers) == 0 &&
	       strcmp(a->limit, b->limit) == 0;
}

static size_t differing_rows(const struct snapshot *before, const struct snapshot *after,
			     struct snapshot_row *out)
{
	size_t count = 0;
	for (size_t i = 0; i < after->row_count; i++) {
		const struct snapshot_row *known = snapshot_row(before, after->rows[i].row);
		if (known && same_row(known, &after->rows[i]))
			continue;
		if (out)
			out[count] = after->rows[i];
		count++;
	}
	return count;
}

enum weir_error journal_append(struct journal *journal, const struct snapshot *before,
			       const struct snapshot *after, bool always, uint64_t *changes,
			       const struct why *why)
{
	size_t rows = differing_rows(before, after, NULL), entries = differing(before, after, NULL);
	size_t size = sizeof(struct journal_batch) + rows * sizeof(struct snapshot_row) +
		      entries * sizeof(struct snapshot_entry);
	*changes = rows + entries;
	if (*changes == 0 && !always)
		return WEIR_OK;
	struct journal_batch *batch = calloc(1, size);
	if (!batch)
		return why_error(why, WEIR_NO_MEMORY, "out of memory");
	struct snapshot_row *row = (struct snapshot_row *)(batch + 1);
	struct snapshot_entry *entry = (struct snapshot_entry *)(row + rows);
	differing_rows(before, after, row);
	differing(before, after, entry);
	*batch = (struct journal_batch){
		.magic = BATCH_MAGIC,
		.base = journal->base,
		.number = journal->number,
		.offset = after->offset,
		.time = after->time,
		.wall = after->wall,
		.generation = after->generation,
		.row_count = rows,
		.entry_count = entries,
		.body = snapshot_body_check(row, rows, entry, entries),
	};
	batch->check = snapshot_check(batch, sizeof *batch);
	enum weir_error error = file_write_all(journal->fd, batch, size, journal->end, why);
	free(batch);
	if (error != WEIR_OK) {
		if (ftruncate(journal->fd, (off_t)journal->end) != 0) /* gives the room back, if it can */
			errno = 0;
		return error;
	}
	if (fdatasync(journal->fd) != 0) {
		error = why_error(why, errno == ENOSPC || errno == EDQUOT ? WEIR_NO_SPACE : WEIR_SYSTEM,
				  "fdatasync: %s", strerror(errno));
		journal_end(journal);
		return error;
	}
	journal->end += size;
	journal->number++;
	return WEIR_OK;
}
