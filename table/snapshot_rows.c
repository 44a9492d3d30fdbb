/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_rows: the ledger of a table that is made from a snapshot.
 *
 * Rows keep their numbers, so that entries can be taken as they are. A row is 68 bytes of shared memory for every number
 * up to it, and a file can claim any number: where they would be mostly holes, rows are counted through anew.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "table/atomic.h"
#include "table/beside.h"
#include "table/ledger_file.h"
#include "table/snapshot_file.h"
#include "table/snapshot_load.h"

#define HOLES_MAX 65536u

static bool believable(const struct snapshot_row *row)
{
	return row->row != TABLE_ROW_NONE && row->row <= LEDGER_ROW_MAX && row->generation > 0 &&
	       row->generation <= SNAPSHOT_GENERATION_MAX && ledger_flags_valid(row->flags) &&
	       memchr(row->limit, '\0', sizeof row->limit) && algo_valid(&row->numbers);
}

bool snapshot_rows(const struct snapshot *snapshot, bool keep, struct snapshot_rows *out)
{
	uint32_t most = 0;
	for (size_t i = 0; i < snapshot->row_count; i++)
		if (believable(&snapshot->rows[i]) && snapshot->rows[i].row > most)
			most = snapshot->rows[i].row;
	bool anew = !keep && most > HOLES_MAX && most / 4 > snapshot->row_count;
	*out = (struct snapshot_rows){
		.snapshot = snapshot,
		.number = calloc(snapshot->row_count + 1, sizeof *out->number),
		.place = calloc((anew ? snapshot->row_count : most) + 1, sizeof *out->place),
		.count = 1,
	};
	if (!out->number || !out->place) {
		snapshot_rows_free(out);
		return false;
	}
	for (size_t i = 0; i < snapshot->row_count; i++) {
		const struct snapshot_row *row = &snapshot->rows[i];
		uint32_t number = anew ? out->count : row->row;
		if (!believable(row) || out->place[number])
			continue;
		out->number[i] = number;
		out->place[number] = (uint32_t)i + 1;
		if (number >= out->count)
			out->count = number + 1;
		if (row->generation > out->newest)
			out->newest = row->generation;
	}
	return true;
}

void snapshot_rows_free(struct snapshot_rows *rows)
{
	free(rows->number);
	free(rows->place);
	*rows = (struct snapshot_rows){0};
}

static struct ledger_row *row_in(unsigned char *map, uint32_t number)
{
	return &ledger_block(map, number)->rows[number % LEDGER_BLOCK_ROWS];
}

/* The count is what makes it a ledger; nobody has it open yet. */
static void write_rows(const struct snapshot_rows *rows, struct table *table, unsigned char *map)
{
	struct ledger_header *header = (struct ledger_header *)(void *)map;
	for (uint32_t number = 1; number < rows->count; number++) {
		if (!rows->place[number])
			continue;
		const struct snapshot_row *from = &rows->snapshot->rows[rows->place[number] - 1];
		struct ledger_row row = {
			.identity = from->identity,
			.generation = from->generation,
			.stat = from->limit[0] ? ledger_name_entry(table, from->limit) : 0,
			.flags = from->flags,
			.numbers = from->numbers,
			.plan = from->plan,
		};
		row.check = ledger_check(&row, number);
		*row_in(map, number) = row;
		ledger_block(map, number)->named[number % LEDGER_BLOCK_ROWS] = from->generation;
	}
	*header = (struct ledger_header){LEDGER_MAGIC, LAYOUT_VERSION, rows->count, table->table_id};
}

enum weir_error snapshot_ledger(const struct snapshot_rows *rows, struct table *table, int folder,
				const char *name, const struct why *why)
{
	uint64_t blocks = 1;
	char whole_name[NAME_MAX + 1];
	struct file_new file;
	bool taken;
	while (blocks * LEDGER_BLOCK_ROWS < rows->count)
		blocks *= 2;
	size_t size = LAYOUT_PAGE + blocks * sizeof(struct ledger_block);
	enum weir_error error = file_make(folder, size, &file, why);
	if (error != WEIR_OK)
		return error;
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0);
	if (map == MAP_FAILED) {
		error = why_error(why, WEIR_NO_MEMORY, "mmap: out of memory");
	} else {
		write_rows(rows, table, map);
		munmap(map, size);
		snprintf(whole_name, sizeof whole_name, "%s" BESIDE_LEDGER, name);
		error = file_name(&file, whole_name, true, &taken, why);
	}
	file_drop(&file);
	return error;
}

bool snapshot_share_ledger(struct snapshot_rows *rows, struct table *table, int folder, const char *name)
{
	char whole_name[NAME_MAX + 1];
	int fd;
	struct ledger_header header;
	snprintf(whole_name, sizeof whole_name, "%s" BESIDE_LEDGER, name);
	if (file_open(folder, whole_name, false, &fd, &(struct why){0}) != WEIR_OK)
		return false;
	bool ours = pread(fd, &header, sizeof header, 0) == sizeof header && header.magic == LEDGER_MAGIC &&
		    header.layout == LAYOUT_VERSION && header.table_id == table->table_id && header.count > 0;
	for (uint32_t number = 1; ours && number < rows->count; number++) {
		if (!rows->place[number])
			continue;
		const struct snapshot_row *from = &rows->snapshot->rows[rows->place[number] - 1];
		off_t at = (off_t)(LAYOUT_PAGE + number / LEDGER_BLOCK_ROWS * sizeof(struct ledger_block) +
				   offsetof(struct ledger_block, rows) +
				   number % LEDGER_BLOCK_ROWS * sizeof(struct ledger_row));
		struct ledger_row row;
		bool same = number < header.count && pread(fd, &row, sizeof row, at) == sizeof row &&
			    row.check == ledger_check(&row, number) && row.identity == from->identity &&
			    row.generation == from->generation && row.flags == from->flags &&
			    row.plan == from->plan &&
			    memcmp(&row.numbers, &from->numbers, sizeof row.numbers) == 0;
		if (!same) {
			rows->number[rows->place[number] - 1] = 0;
			rows->place[number] = 0;
		}
	}
	close(fd);
	return ours;
}
