/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz the files of a snapshot: whatever is read can be loaded, and what is loaded is a sound table in which every
 * counter recovers.
 *
 * An input is a mode and a list of edits, six bytes each {word number, new value}, made to a sound base or its journal,
 * so that inputs stay useful when the format changes; or, if bit 0 of the mode is set, the rest is the file itself. Bit 1:
 * the journal instead of the base. Bit 2: the checks are made to fit afterwards.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "table/handle.h"
#include "table/ledger_file.h"
#include "table/make.h"
#include "table/snapshot_file.h"
#include "table/snapshot_judge.h"
#include "tests/table/snapshot_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SIZE (UINT64_C(64) << 10)

static struct file {
	int fd;
	unsigned char *sound;
	size_t size;
} files[2];
static struct farm farm;
static unsigned count;

static void need(bool good)
{
	if (!good)
		abort();
}

static struct file keep_copy(const char *suffix)
{
	char path[160];
	struct file file;
	snprintf(path, sizeof path, "%s%s", farm.snapshot, suffix);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	file.size = (size_t)lseek(fd, 0, SEEK_END);
	file.sound = malloc(file.size);
	need(fd >= 0 && file.sound && pread(fd, file.sound, file.size, 0) == (ssize_t)file.size);
	close(fd);
	file.fd = memfd_create("fuzz", MFD_CLOEXEC);
	need(file.fd >= 0);
	return file;
}

static void clean(void)
{
	farm_free(&farm);
}

static void prepare(void)
{
	struct keeper *keeper;
	struct table_look look;
	farm = farm_new(SIZE);
	need(keeper_open(farm.snapshot, &keeper, NULL, 0) == WEIR_OK);
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned kind = 0; i && kind < FARM_KINDS; kind++) {
			struct table_key key = farm_key(farm.table, kind, 10 * i);
			table_charge(farm.table, &key, farm.row[kind], &farm.t, 1, &look);
		}
		need(keeper_work(keeper, farm.table, i * 60000, NULL, 0) == WEIR_OK);
	}
	keeper_close(&keeper, NULL, NULL, 0);
	files[0] = keep_copy("");
	files[1] = keep_copy(SNAPSHOT_JOURNAL);
	atexit(clean);
}

static void put(const struct file *file, const void *bytes, size_t size)
{
	need(ftruncate(file->fd, 0) == 0 && pwrite(file->fd, bytes, size, 0) == (ssize_t)size);
}

/* As a forger would: as far as the sizes make sense. */
static void seal_base(unsigned char *bytes, size_t size)
{
	struct snapshot_head *head = (struct snapshot_head *)(void *)bytes;
	if (size < sizeof *head)
		return;
	size_t left = size - sizeof *head, rows = head->row_count * sizeof(struct snapshot_row);
	if (head->row_count <= left / sizeof(struct snapshot_row) &&
	    head->entry_count <= (left - rows) / sizeof(struct snapshot_entry)) {
		struct snapshot_row *row = (struct snapshot_row *)(head + 1);
		head->body = snapshot_body_check(row, head->row_count,
						 (struct snapshot_entry *)(row + head->row_count),
						 head->entry_count);
	}
	head->check = snapshot_check(head, sizeof *head);
}

static void seal_journal(unsigned char *bytes, size_t size)
{
	struct journal_head *head = (struct journal_head *)(void *)bytes;
	if (size < sizeof *head)
		return;
	head->check = snapshot_check(head, sizeof *head);
	size_t at = sizeof *head;
	while (size - at >= sizeof(struct journal_batch)) {
		struct journal_batch *batch = (struct journal_batch *)(void *)(bytes + at);
		size_t left = size - at - sizeof *batch,
		       rows = batch->row_count * sizeof(struct snapshot_row);
		if (batch->row_count > left / sizeof(struct snapshot_row) ||
		    batch->entry_count > (left - rows) / sizeof(struct snapshot_entry))
			return;
		struct snapshot_row *row = (struct snapshot_row *)(batch + 1);
		batch->body = snapshot_body_check(row, batch->row_count,
						  (struct snapshot_entry *)(row + batch->row_count),
						  batch->entry_count);
		batch->check = snapshot_check(batch, sizeof *batch);
		at += sizeof *batch + rows + batch->entry_count * sizeof(struct snapshot_entry);
	}
}

static void edit(const uint8_t *data, size_t size, unsigned mode)
{
	const struct file *file = &files[mode >> 1 & 1];
	size_t length = mode & 1 ? size : file->size;
	unsigned char *bytes = calloc(1, length + 8);
	need(bytes != NULL);
	memcpy(bytes, mode & 1 ? data : file->sound, length);
	for (size_t at = 0; !(mode & 1) && at + 6 <= size; at += 6) {
		uint16_t word;
		memcpy(&word, data + at, 2);
		memcpy(bytes + word % (length / 4) * 4, data + at + 2, 4);
	}
	if (mode & 4)
		(mode & 2 ? seal_journal : seal_base)(bytes, length);
	put(file, bytes, length);
	free(bytes);
}

static void found(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "%s\n", sentence);
	abort();
}

/* Into a table of any size; then a year and more later nobody owes anything, but to a limit that is so slow itself: a
 * forged row may say one in a century, and a policy could. */
static void use(const struct snapshot *snapshot, unsigned mode)
{
	static const uint64_t sizes[] = {SIZE, 2 * SIZE, 3 * SIZE, SIZE / 2 * 3};
	char path[160];
	struct table *table;
	struct table_restored told;
	struct algo_time t;
	snprintf(path, sizeof path, "%s/loaded", farm.rig.folder);
	struct table_options options = {.path = path, .size = sizes[mode >> 3 & 3], .process_slots = 2};
	if (snapshot_make_table(snapshot, &options, false, NULL, 0) != WEIR_OK)
		return;
	need(table_open(&options, &table, NULL, 0) == WEIR_OK);
	need(table_restored(table, &told) &&
	     told.entries + told.expired + told.refused + told.crowded == snapshot->entry_count);
	table_time(table, &t);
	need(t.now >= snapshot->time && t.now < ALGO_TIME_MAX);
	census_check(table, found, NULL);
	t.now += 3 * RIG_YEAR;
	for (uint64_t i = 0; i < table->pair_count * LAYOUT_WAYS; i++) {
		struct slot slot = table->pairs[i / LAYOUT_WAYS].ways[i % LAYOUT_WAYS];
		const struct ledger_row *row = slot.w0 ? ledger_row(table, slot.w0 & LAYOUT_ROW_MASK) : NULL;
		uint64_t w1 = slot.w1;
		need(!slot.w0 || row);
		if (row && algo_window_ns(&row->numbers) <= RIG_YEAR)
			need(snapshot_judge(&row->numbers, slot.w0, &w1, t.now, t.now) == JUDGED_EXPIRED);
	}
	struct snapshot again;
	need(snapshot_take(table, false, &again) == WEIR_OK);
	snapshot_free(&again);
	table_close(&table);
	unlink(path);
	snprintf(path, sizeof path, "%s/loaded.ledger", farm.rig.folder);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot snapshot;
	if (count++ == 0)
		prepare();
	if (size == 0)
		return 0;
	unsigned mode = data[0];
	put(&files[0], files[0].sound, files[0].size);
	put(&files[1], files[1].sound, files[1].size);
	edit(data + 1, size - 1, mode);
	char why[128];
	const struct why reason = {why, sizeof why};
	if (snapshot_read_files(files[0].fd, files[1].fd, &snapshot, &reason) == WEIR_OK)
		use(&snapshot, mode);
	snapshot_free(&snapshot);
	return 0;
}
