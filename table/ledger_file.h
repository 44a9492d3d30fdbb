/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger_file: every byte of the ledger.
 *
 *   page 0      struct ledger_header
 *   then blocks of 1024 rows: 1024 x uint32_t `named`, then 1024 x struct ledger_row
 *
 * `named` is the last generation whose publication named the row: what tells a row that can be freed. It
 * stands beside the rows since they are immutable, and only publishers read it.
 */
#ifndef WEIR_TABLE_LEDGER_FILE_H
#define WEIR_TABLE_LEDGER_FILE_H

#include <assert.h>

#include "table/handle.h"

#define LEDGER_MAGIC	  UINT64_C(0x31474c4452494557) /* "WEIRDLG1" */
#define LEDGER_BLOCK_ROWS 1024u

struct ledger_header {
	uint64_t magic;
	uint32_t layout; /* LAYOUT_VERSION of the table it belongs to */
	uint32_t
		count; /* rows ever given out, row 0 included; written last when one is added. 0: just made */
	uint64_t table_id;
};

struct ledger_block {
	uint32_t named[LEDGER_BLOCK_ROWS];
	struct ledger_row rows[LEDGER_BLOCK_ROWS];
};

static_assert(sizeof(struct ledger_row) == 64, "a file format");
static_assert(sizeof(struct ledger_block) % LAYOUT_PAGE == 0, "blocks are whole pages");

/* The check of a row: of its first 60 bytes, and of the number it stands under. Finds damage, not malice. */
uint32_t ledger_check(const struct ledger_row *row, uint32_t number);

/* Rows that a file of `size` bytes reaches, row 0 included. */
static inline uint32_t ledger_capacity(uint64_t size)
{
	uint64_t blocks = size < LAYOUT_PAGE ? 0 : (size - LAYOUT_PAGE) / sizeof(struct ledger_block);
	uint64_t most = (LEDGER_ROW_MAX + 1u) / LEDGER_BLOCK_ROWS;
	return (uint32_t)((blocks < most ? blocks : most) * LEDGER_BLOCK_ROWS);
}

static inline struct ledger_block *ledger_block(const unsigned char *map, uint32_t row)
{
	return (struct ledger_block *)(void *)(map + LAYOUT_PAGE) + row / LEDGER_BLOCK_ROWS;
}

/* What a publisher holds while it has the lock. */
struct ledger_writer {
	int fd; /* flock()ed */
	unsigned char *map;
	size_t size;
	uint32_t capacity;
	uint32_t count;	    /* header's, private while the lock is held */
	uint32_t free_from; /* no free row below: where to look for one */
	bool epoch_raised;  /* since rows were last freed */
	/* newest row of each identity and plan: open addressing, a power of two places, 0: empty */
	uint32_t *newest;
	uint32_t places, used;
};

static inline struct ledger_header *ledger_header(const struct ledger_writer *writer)
{
	return (struct ledger_header *)(void *)writer->map;
}

/* ledger_read.c: maps the rows that there are now for reading, if they are more than are mapped. */
void ledger_follow(struct table *table);
void ledger_unmap(struct handle_ledger *ledger);

/* ledger_lock.c: maps the whole file as it is now. False: too short, or the system refused. */
bool ledger_map(struct ledger_writer *writer);

/* ledger_index.c: newest row of an identity and plan, 0 if there is none; and the same told. False: no memory. */
bool ledger_index_build(struct ledger_writer *writer);
uint32_t ledger_index_find(const struct ledger_writer *writer, uint64_t identity, uint32_t plan);
bool ledger_index_put(struct ledger_writer *writer, uint32_t row);

/* ledger_names.c: the statistics entry for a name, made if need be; 0, the shared one, if all are taken. */
uint16_t ledger_name_entry(struct table *table, const char *name);
/* Frees the entries that no row names any more. */
void ledger_name_census(struct table *table, const struct ledger_writer *writer);

#endif
