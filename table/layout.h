/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout: every byte of the table file. The picture is in table/DESIGN.md.
 *
 * Changing anything here is a new LAYOUT_VERSION: the version is in the header and in the default
 * file name, so two versions never meet in one file (T13). New sections take a free place in
 * `sections`; a reader that does not know one maps it and leaves it alone.
 */
#ifndef WEIR_TABLE_LAYOUT_H
#define WEIR_TABLE_LAYOUT_H

#include <assert.h>

#include "table/stats.h"
#include "table/table.h"

#define LAYOUT_MAGIC   UINT64_C(0x314c425452494557) /* "WEIRTBL1" */
#define LAYOUT_VERSION 2u
#define LAYOUT_PAGE    UINT64_C(4096)
#define LAYOUT_HUGE    (UINT64_C(2) << 20)

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file and the hash are little-endian");

/* ---- slots (T1) ---- */

#define LAYOUT_WAYS	8u  /* candidates of a key: a pair of 64-byte lines */
#define LAYOUT_ROW_BITS 24u /* w0 = tag << 24 | row */
#define LAYOUT_ROW_MASK UINT64_C(0xffffff)
#define LAYOUT_TAG_MASK UINT64_C(0xffffffffff) /* 40 bits */
#define LAYOUT_CLAIM	(UINT64_C(1) << 63)    /* w1: not charged by anybody yet (I3) */

struct slot {
	uint64_t w0; /* tag40 | row24; 0: empty, and then w1 is 0 */
	uint64_t
		w1; /* LAYOUT_CLAIM | nonce; or by its marks (cell.h) a cell of a log, or a hold; else a word of algo */
} __attribute__((aligned(16)));

struct slot_pair {
	struct slot ways[LAYOUT_WAYS];
} __attribute__((aligned(128)));

static_assert(sizeof(struct slot) == 16 && sizeof(struct slot_pair) == 128, "a file format");

/* Nonce of a claim: process slot, then a counter that the process slot keeps across its owners (I4). */
#define LAYOUT_PROCESS_BITS  12u
#define LAYOUT_PROCESSES_MAX (1u << LAYOUT_PROCESS_BITS)
#define LAYOUT_NONCE_BITS    (63u - LAYOUT_PROCESS_BITS)

/* ---- process slots (T11) ---- */

struct process_line {	    /* written by the holder of the lock on its first byte, read by anyone */
	uint64_t held;	    /* oldest generation whose image it may still use; 0: none yet */
	uint64_t nonce;	    /* claims made by all owners so far */
	uint64_t opened_at; /* table time */
	uint32_t pid;	    /* for people; identity is the byte */
	uint32_t owners;    /* how many so far */
	uint64_t spare[4];
} __attribute__((aligned(64)));
static_assert(sizeof(struct process_line) == 64, "a file format");

/* ---- statistics (T5) ---- */

struct stats_area { /* one for each process slot, same single writer; it survives its owners */
	struct stats_limit limits[TABLE_STAT_COUNT];
	struct stats_process process;
	uint64_t happened; /* events so far; the next one goes to happened % STATS_EVENTS */
	uint64_t spare[7];
	struct stats_event events[STATS_EVENTS];
} __attribute__((aligned(64)));
static_assert(sizeof(struct stats_limit) == 64 && sizeof(struct stats_process) == 128 &&
		      sizeof(struct stats_event) == 128 && sizeof(struct stats_area) % 64 == 0,
	      "counters of two processes never share a line");

struct stats_entry {   /* the directory; written by the publisher under ledger_lock */
	uint64_t hash; /* of the name; 0: unused. Written last, cleared first */
	char name[96];
	struct stats_limit base; /* sums when the entry was given to this name: subtracted on reading */
	uint64_t spare[3];	 /* trial.c */
} __attribute__((aligned(64)));
static_assert(sizeof(struct stats_entry) == 192, "a file format");

/* ---- who asks most (top.h) ---- */

struct top_entry { /* 128 bytes; `slot` is 0 while it changes hands */
	uint64_t slot;
	uint64_t last;	  /* table time */
	uint64_t counts;  /* asked (low half), refused */
	uint64_t further; /* error, before */
	uint64_t old;	  /* refused before, generation */
	uint64_t about;	  /* limit (24), plan (8), share (16), bytes of name (8), 8 unused */
	uint64_t version; /* how many keys it was given to */
	uint64_t name[9];
};
struct top_area {	/* one for each process slot, its owner writes */
	uint64_t epoch; /* table time / TOP_EPOCH_NS of `counts`, plus one; 0: being changed, or never used */
	uint64_t requests, before;
	uint64_t began; /* table time at which `before` (or, without, `requests`) began to count */
	uint64_t spare[4];
	struct top_entry entries[64];
} __attribute__((aligned(64)));
static_assert(sizeof(struct top_entry) == 128 && sizeof(struct top_area) == 64 + 64 * 128, "a file format");

/* ---- header ---- */

struct layout_section {
	uint64_t offset, size; /* bytes from the start of the file */
};

enum layout_sections {
	LAYOUT_PROCESSES,
	LAYOUT_NAMES,
	LAYOUT_STATISTICS,
	LAYOUT_SPARE, /* size 0 */
	LAYOUT_SLOTS,
	LAYOUT_TOP,	     /* size 0 in tables of before there were sketches */
	LAYOUT_SECTIONS = 16 /* places; those behind the last are reserved, {0, 0} */
};

struct layout_fixed { /* written before the file gets its name, never again */
	uint64_t magic;
	uint32_t version;
	uint32_t process_slots;
	uint64_t file_size;
	uint64_t table_id; /* random: a ledger says for which table it is */
	uint64_t pairs;
	uint32_t stat_count, event_count;
	uint64_t secret[2];	   /* of table_key */
	uint64_t digest_secret[2]; /* of table_key_digest */
	struct layout_section sections[LAYOUT_SECTIONS];
	uint64_t check; /* of everything above */
};

struct layout_published {      /* read-mostly: written when a policy is published */
	uint64_t generation;   /* of the published policy */
	uint64_t ledger_epoch; /* counts reuses of ledger rows: remembered rows of older epochs are void (I8)
				*/
	uint64_t before;       /* generation of the snapshot it was made from: the next one is newer (I7) */
	uint64_t moved;	       /* another table has taken its place at the path: look now */
	uint64_t wanted_since; /* table time: process slots are wanted since then (yield.c), */
	uint64_t wanted_at;    /* and somebody has found none. 0: nobody ever has */
	uint64_t bans_until;   /* table time: no ban of a chosen length holds longer, */
	uint64_t grants_until; /* and no grant. 0: there never was one (I19) */
} __attribute__((aligned(64)));

struct layout_clock {	  /* T12; offset and boot are written under a lock, at most once a boot */
	uint64_t boot[2]; /* kernel's boot id for which `offset` holds */
	int64_t offset;	  /* table time = CLOCK_BOOTTIME + offset */
	uint64_t stamp;	  /* table time, at most a second behind any charge */
	uint64_t wall;	  /* wall clock at `stamp`, ns; for snapshots */
	uint64_t then;	  /* loaded from a snapshot: table time and wall clock when it was taken */
	uint64_t then_wall;
	uint64_t pending; /* 1: the wall clock was not believed in full then (clock.h) */
} __attribute__((aligned(64)));

struct layout_restored { /* what became of a snapshot; written before the file has a name, never again */
	uint64_t made;	 /* 1: it was to be loaded */
	uint64_t entries, expired, refused, crowded, age_ns, bridged_ns, same_boot;
	char why[200];
};
#define LAYOUT_RESTORED_AT 512

struct layout_header {
	struct layout_fixed fixed;
	unsigned char room[LAYOUT_RESTORED_AT - sizeof(struct layout_fixed)];
	struct layout_restored restored;
	unsigned char room2[1024 - LAYOUT_RESTORED_AT - sizeof(struct layout_restored)];
	struct layout_published published;
	unsigned char gap[64]; /* adjacent-line prefetch: keep the clock's writes away from `published` */
	struct layout_clock clock;
};
static_assert(sizeof(struct layout_fixed) < LAYOUT_RESTORED_AT && sizeof(struct layout_header) <= LAYOUT_PAGE,
	      "the header is the first page");
static_assert(offsetof(struct layout_header, restored) == LAYOUT_RESTORED_AT &&
		      offsetof(struct layout_header, published) == 1024 &&
		      offsetof(struct layout_header, clock) == 1152,
	      "a file format");

#endif
