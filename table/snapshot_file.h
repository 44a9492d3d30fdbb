/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_file: every byte of a base and its journal. The picture is in table/DESIGN.md, "Snapshots".
 *
 *   base      struct snapshot_head, then its rows, then its entries
 *   journal   struct journal_head, then batches: struct journal_batch, then its rows, then its entries
 *
 * Checks find damage, not malice: what is read is bounded besides.
 */
#ifndef WEIR_TABLE_SNAPSHOT_FILE_H
#define WEIR_TABLE_SNAPSHOT_FILE_H

#include <assert.h>

#include "table/file.h"
#include "table/snapshot.h"

#define SNAPSHOT_MAGIC	 UINT64_C(0x314e534452494557) /* "WEIRDSN1" */
#define JOURNAL_MAGIC	 UINT64_C(0x314a534452494557) /* "WEIRDSJ1" */
#define BATCH_MAGIC	 UINT64_C(0x3142534452494557) /* "WEIRDSB1" */
#define SNAPSHOT_VERSION 1u
#define SNAPSHOT_JOURNAL ".journal"
#define SNAPSHOT_LOCK	 ".lock"
#define SNAPSHOT_OLD	 ".old"

#define SNAPSHOT_TIME_MAX	(ALGO_TIME_MAX / 2) /* no table is 18 years old */
#define SNAPSHOT_GENERATION_MAX (UINT32_MAX / 2)    /* there must be room for newer ones */
#define SNAPSHOT_BATCHES_MAX	(UINT64_C(1) << 32)

struct snapshot_head {
	uint64_t magic;
	uint32_t version, zero;
	uint64_t base; /* random: a journal says to which base it belongs */
	uint64_t table_id, pairs;
	uint64_t secret[2], digest_secret[2], boot[2];
	int64_t offset;
	uint64_t time, wall, generation;
	uint64_t row_count, entry_count;
	uint64_t body;	/* check of rows and entries */
	uint64_t check; /* of everything above */
};

struct journal_head {
	uint64_t magic;
	uint32_t version, zero;
	uint64_t base;
	uint64_t check;
};

/* What has changed since the batch before. An entry with w1 = 0 has gone; rows come before entries that carry them. */
struct journal_batch {
	uint64_t magic, base;
	uint64_t number; /* from 0, without a gap: what is left of a torn batch is none */
	int64_t offset;
	uint64_t time, wall, generation;
	uint64_t row_count, entry_count;
	uint64_t body, check;
};

static_assert(sizeof(struct snapshot_row) == 160 && sizeof(struct snapshot_entry) == 24, "a file format");
static_assert(sizeof(struct snapshot_head) == 152 && sizeof(struct journal_head) == 32 &&
		      sizeof(struct journal_batch) == 88,
	      "a file format");

/* Of what stands before `check` in a struct of `size` bytes. */
uint64_t snapshot_check(const void *head, size_t size);
uint64_t snapshot_body_check(const struct snapshot_row *rows, size_t row_count,
			     const struct snapshot_entry *entries, size_t entry_count);

/* The place of a snapshot: its folder, opened and trusted, and the names in it. */
struct snapshot_place {
	int folder;
	const char *name; /* inside the path */
};
enum weir_error snapshot_place(const char *path, struct snapshot_place *out, const struct why *why);
void snapshot_leave(struct snapshot_place *place);
/* `name` + suffix, opened by the rules of file_open. */
enum weir_error snapshot_open(const struct snapshot_place *place, const char *suffix, bool write, int *fd,
			      const struct why *why);
/* One writer. *lock: a descriptor; closing it gives the place free. */
enum weir_error snapshot_lock(const struct snapshot_place *place, int *lock, const struct why *why);

/* Is the base in this file ours, of our version? Its head is in *head, checked. `size`: of the file. */
enum weir_error snapshot_read_head(int fd, uint64_t *size, struct snapshot_head *head, const struct why *why);
/* From open files; journal -1: none. */
enum weir_error snapshot_read_files(int base, int journal, struct snapshot *out, const struct why *why);

/* A base in place of the one that is there, and on disk; `base` names it. *bytes: its size. */
enum weir_error snapshot_put_base(const struct snapshot_place *place, const struct snapshot *snapshot,
				  uint64_t base, uint64_t *bytes, const struct why *why);

/* Sorts entries by pair and w0; of those that are alike in both the last stays. How many stay; SIZE_MAX: no memory. */
size_t snapshot_sort(struct snapshot_entry *entries, size_t count);
/* NULL: no such row. */
const struct snapshot_row *snapshot_row(const struct snapshot *snapshot, uint32_t row);

#endif
