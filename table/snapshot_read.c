/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_read: a base, and the journal of what changed since, as far as it is whole.
 *
 * A size is believed only if the file has as many bytes. The journal is opened before the base: if the base is
 * replaced in between, it holds all that the journal said, and the journal names another one and is left alone.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/snapshot_file.h"

static enum weir_error damaged(const struct why *why, const char *what)
{
	return why_error(why, WEIR_DAMAGED, "it is damaged: %s", what);
}

/* Numbers that any table may have had. */
static bool plausible(const struct snapshot_head *head)
{
	return head->pairs >= 1 && head->pairs <= TABLE_SIZE_MAX / sizeof(struct slot_pair) &&
	       head->time < SNAPSHOT_TIME_MAX && head->wall <= INT64_MAX &&
	       head->generation <= SNAPSHOT_GENERATION_MAX && head->row_count <= LEDGER_ROW_MAX &&
	       head->entry_count <= head->pairs * LAYOUT_WAYS;
}

enum weir_error snapshot_read_head(int fd, uint64_t *size, struct snapshot_head *head, const struct why *why)
{
	struct stat st;
	memset(head, 0, sizeof *head);
	if (fstat(fd, &st) != 0)
		return why_error(why, WEIR_SYSTEM, "it cannot be looked at");
	*size = (uint64_t)st.st_size;
	if (*size < 2 * sizeof(uint64_t) ||
	    pread(fd, head, 2 * sizeof(uint64_t), 0) != 2 * sizeof(uint64_t) || head->magic != SNAPSHOT_MAGIC)
		return why_error(why, WEIR_FOREIGN, "it is not a snapshot");
	if (head->version != SNAPSHOT_VERSION)
		return why_error(why, WEIR_VERSION, "it has format %u, this weir has %u", head->version,
				 SNAPSHOT_VERSION);
	if (*size < sizeof *head || file_read_all(fd, head, sizeof *head, 0, &(struct why){0}) != WEIR_OK)
		return damaged(why, "it ends in its head");
	if (head->check != snapshot_check(head, sizeof *head) || !plausible(head))
		return damaged(why, "its head does not add up");
	return WEIR_OK;
}

/* Reads rows and entries behind what the snapshot has already. Both counts are bounded by the file's size. */
static enum weir_error read_body(int fd, uint64_t at, uint64_t rows, uint64_t entries, uint64_t check,
				 struct snapshot *out, const struct why *why)
{
	struct snapshot_row *all_rows = realloc(out->rows, (out->row_count + rows + 1) * sizeof *all_rows);
	if (all_rows)
		out->rows = all_rows;
	struct snapshot_entry *all = realloc(out->entries, (out->entry_count + entries + 1) * sizeof *all);
	if (all)
		out->entries = all;
	if (!all_rows || !all)
		return why_error(why, WEIR_NO_MEMORY, "out of memory");
	all_rows += out->row_count;
	all += out->entry_count;
	enum weir_error error = file_read_all(fd, all_rows, rows * sizeof *all_rows, at, why);
	if (error == WEIR_OK)
		error = file_read_all(fd, all, entries * sizeof *all, at + rows * sizeof *all_rows, why);
	if (error == WEIR_OK && snapshot_body_check(all_rows, rows, all, entries) != check)
		error = damaged(why, "its check is another");
	if (error == WEIR_OK) {
		out->row_count += rows;
		out->entry_count += entries;
	}
	return error;
}

/* `left`: bytes behind the head. */
static bool fits(uint64_t rows, uint64_t entries, uint64_t left)
{
	return rows <= left / sizeof(struct snapshot_row) &&
	       entries <= left / sizeof(struct snapshot_entry) &&
	       rows * sizeof(struct snapshot_row) + entries * sizeof(struct snapshot_entry) <= left;
}

/* The batches that are whole. What ends it is no error: the writer was stopped there. Out of memory is one. */
static enum weir_error read_journal(int fd, uint64_t base, struct snapshot *out, const struct why *why)
{
	struct journal_head head;
	struct journal_batch batch;
	struct stat st;
	if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < sizeof head ||
	    file_read_all(fd, &head, sizeof head, 0, &(struct why){0}) != WEIR_OK ||
	    head.magic != JOURNAL_MAGIC || head.version != SNAPSHOT_VERSION || head.base != base ||
	    head.check != snapshot_check(&head, sizeof head))
		return WEIR_OK;
	uint64_t at = sizeof head, size = (uint64_t)st.st_size;
	for (uint64_t number = 0; size - at >= sizeof batch; number++) {
		if (file_read_all(fd, &batch, sizeof batch, at, &(struct why){0}) != WEIR_OK ||
		    batch.magic != BATCH_MAGIC || batch.base != base || batch.number != number ||
		    batch.check != snapshot_check(&batch, sizeof batch))
			break;
		at += sizeof batch;
		if (!fits(batch.row_count, batch.entry_count, size - at) || batch.time < out->time ||
		    batch.time >= SNAPSHOT_TIME_MAX || batch.wall > INT64_MAX ||
		    batch.generation > SNAPSHOT_GENERATION_MAX)
			break;
		enum weir_error error = read_body(fd, at, batch.row_count, batch.entry_count, batch.body, out,
						  why);
		if (error == WEIR_NO_MEMORY)
			return error;
		if (error != WEIR_OK)
			break;
		at += batch.row_count * sizeof(struct snapshot_row) +
		      batch.entry_count * sizeof(struct snapshot_entry);
		out->offset = batch.offset;
		out->time = batch.time;
		out->wall = batch.wall;
		out->generation = batch.generation;
	}
	return WEIR_OK;
}

/* ---- in order ---- */

/* Of rows of one number the last one counts: later batches stand behind earlier ones. A number each, so sorting is
 * counting. */
static bool sort_rows(struct snapshot *out)
{
	size_t count = out->row_count, kept = 0;
	uint32_t most = 0;
	for (size_t i = 0; i < count; i++)
		if (out->rows[i].row <= LEDGER_ROW_MAX && out->rows[i].row > most)
			most = out->rows[i].row;
	struct snapshot_row *sorted = calloc(count + 1, sizeof *sorted);
	uint32_t *last = calloc(most + 1u, sizeof *last); /* 1 + its place */
	if (!sorted || !last) {
		free(sorted);
		free(last);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		if (out->rows[i].row <= LEDGER_ROW_MAX)
			last[out->rows[i].row] = (uint32_t)i + 1;
	for (uint32_t row = 1; row <= most; row++)
		if (last[row])
			sorted[kept++] = out->rows[last[row] - 1];
	free(last);
	free(out->rows);
	out->rows = sorted;
	out->row_count = kept;
	return true;
}

static bool settle(struct snapshot *out)
{
	size_t count = snapshot_sort(out->entries, out->entry_count), kept = 0;
	if (count == SIZE_MAX || !sort_rows(out))
		return false;
	for (size_t i = 0; i < count; i++)
		if (out->entries[i].w0 && out->entries[i].w1)
			out->entries[kept++] = out->entries[i];
	out->entry_count = kept;
	return true;
}

enum weir_error snapshot_read_files(int base, int journal, struct snapshot *out, const struct why *why)
{
	struct snapshot_head head;
	uint64_t size;
	memset(out, 0, sizeof *out);
	enum weir_error error = snapshot_read_head(base, &size, &head, why);
	if (error != WEIR_OK)
		return error;
	if (!fits(head.row_count, head.entry_count, size - sizeof head) ||
	    size != sizeof head + head.row_count * sizeof(struct snapshot_row) +
			    head.entry_count * sizeof(struct snapshot_entry))
		return damaged(why, "it has another size than it says");
	*out = (struct snapshot){
		.table_id = head.table_id,
		.pairs = head.pairs,
		.secret = {head.secret[0], head.secret[1]},
		.digest_secret = {head.digest_secret[0], head.digest_secret[1]},
		.boot = {head.boot[0], head.boot[1]},
		.offset = head.offset,
		.time = head.time,
		.wall = head.wall,
		.generation = head.generation,
	};
	error = read_body(base, sizeof head, head.row_count, head.entry_count, head.body, out, why);
	if (error == WEIR_OK && journal >= 0)
		error = read_journal(journal, head.base, out, why);
	if (error == WEIR_OK && !settle(out))
		error = why_error(why, WEIR_NO_MEMORY, "out of memory");
	if (error != WEIR_OK)
		snapshot_free(out);
	return error;
}

static enum weir_error read_place(const struct snapshot_place *place, struct snapshot *out,
				  const struct why *why)
{
	int base, journal = -1;
	enum weir_error error = snapshot_open(place, SNAPSHOT_JOURNAL, false, &journal, why);
	if (error != WEIR_OK && error != WEIR_NOT_FOUND)
		return error;
	error = snapshot_open(place, "", false, &base, why);
	if (error == WEIR_OK) {
		error = snapshot_read_files(base, journal, out, why);
		close(base);
	}
	if (journal >= 0)
		close(journal);
	return error;
}

enum weir_error snapshot_read(const char *path, struct snapshot *out, char *text, size_t size)
{
	char sentence[256] = "";
	const struct why inner = {sentence, sizeof sentence}, why = {text, size};
	struct snapshot_place place = {.folder = -1};
	memset(out, 0, sizeof *out);
	enum weir_error error = snapshot_place(path, &place, &inner);
	if (error == WEIR_OK)
		error = read_place(&place, out, &inner);
	snapshot_leave(&place);
	if (error == WEIR_NOT_FOUND)
		return why_error(&why, error, "%s: no snapshot there", path);
	return error == WEIR_OK ? error : why_error(&why, error, "%s: %s", path, sentence);
}

void snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->rows);
	free(snapshot->entries);
	memset(snapshot, 0, sizeof *snapshot);
}
