/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle: an opened table, for those inside the layer.
 *
 * Geometry and secrets are copied out of the file once, when it is opened and checked. Nothing that
 * another process can write is ever used as an index, length or address without being bounded here.
 */
#ifndef WEIR_TABLE_HANDLE_H
#define WEIR_TABLE_HANDLE_H

#include <sys/types.h>

#include "table/layout.h"
#include "table/ledger.h"
#include "table/siphash.h"

#define HANDLE_CHUNK_ROWS 1024u /* ledger rows remembered in one allocation */
#define HANDLE_CHUNKS	  ((LEDGER_ROW_MAX + 1u) / HANDLE_CHUNK_ROWS)
#define HANDLE_SHUN	  64u /* recent pairs that refused: see key.c */

struct process_seen;  /* process.c: what is known of the owners of process slots */
struct ledger_writer; /* ledger_file.h: what a publisher holds while it has the lock */

struct handle_ledger {
	int fd;			  /* read-only, -1: not opened yet */
	const unsigned char *map; /* read-only; NULL: none */
	size_t size;
	uint32_t capacity; /* rows the mapping reaches, row 0 included */
	uint64_t epoch;	   /* layout_published.ledger_epoch for which `chunks` hold */
	/* Rows are copied out and checked when first used, so that nobody can change them under the
	 * arithmetic. Chunks are never freed before the handle is. */
	struct ledger_row **chunks;
	struct ledger_writer *writer;
};

struct handle_clock {
	int64_t offset; /* table time = CLOCK_BOOTTIME + offset */
	int64_t shift;	/* of our time namespace: the header's offset is `offset` + `shift` */
	uint64_t next;	/* table time at which wall and stamp are refreshed */
	int64_t wall;	/* wall clock - table time */
	uint64_t last;	/* last table time told: never step back */
};

/* What the writer of a sketch keeps to itself (top.c): whatever stands in the file, this is sound. */
struct handle_top {
	struct top_area *area; /* own; NULL: none, or read-only, or retired */
	uint64_t until;	       /* table time at which the epoch ends; 0: nothing is known of the area yet */
	uint64_t named;	       /* bit i: entry i has a name */
	uint64_t slots[64];
	uint32_t asked[64], before[64];
	uint8_t head[64], next[64]; /* by hash of the slot: entry + 1; 0: the end */
	uint32_t least;		    /* no entry has asked less */
	uint32_t exact;		    /* so many more are counted one by one */
	uint32_t skip;		    /* then: how many until the next that is */
	uint32_t chance;	    /* the state of a generator of random numbers, not 0 */
	uint8_t used, cursor, last;
};

struct table {
	/* hot: what every decision reads */
	struct slot_pair *pairs;
	uint64_t pair_count;
	struct layout_header *header; /* shared */
	struct siphash_key secret;
	struct stats_area *area;      /* own; a private dummy if read-only or retired */
	struct process_line *process; /* own; NULL if read-only or retired */
	struct handle_ledger ledger;
	struct handle_clock clock;
	uint32_t shun[HANDLE_SHUN];
	struct handle_top top;

	/* cold */
	struct siphash_key digest_secret;
	unsigned char *base; /* the mapping */
	size_t size;
	struct process_line *processes;
	struct stats_entry *names;
	struct stats_area *areas;
	struct top_area *tops; /* NULL: the table has none */
	uint32_t process_slots;
	uint32_t process_index;
	uint64_t process_offset; /* of `processes` in the file: where the liveness locks are */
	uint64_t table_id;
	bool read_only; /* opened so, or retired: no process slot, and `area` is on the heap */
	bool retired;	/* gave its slot back, and may take one again */
	bool retiring; /* is to retire when nothing needs the slot any more; until then nothing is different */
	uint32_t stays; /* table_stay */
	bool settling;	/* what is stored now was granted before: too late for `on_full` to refuse it */
	int fd, folder;
	dev_t device;
	ino_t inode;
	bool replaced;
	uint64_t look_again; /* table time of the next look at the path */
	uint64_t moved;	     /* the header's word when it was last looked at */
	char *path;
	const char *name; /* last component of path */
	char stat_name[LEDGER_NAME_MAX];
	struct process_seen *seen; /* of each process slot; NULL: none yet */
	struct handle_tickets {	   /* oldest first */
		struct table_ticket *first, *last;
	} reserved, in_flight;
	uint32_t held;		/* tickets in both */
	uint64_t roster_second; /* of table time: so many entries have been noted in it (roster.c) */
	uint32_t roster_noted;
};

/* process.c: takes and gives back a process slot. */
enum weir_error process_open(struct table *table);
/* The same, and while there is none tries again, for about so long. */
enum weir_error process_wait(struct table *table, uint32_t wait_ms);
void process_close(struct table *table);
/* A ticket or a stay has ended: retires, if that is what the handle waits to do and this was the last of them. */
void process_done(struct table *table);
/* Retires now, whatever is held. False: out of memory, nothing has changed. */
bool process_leave(struct table *table);
/* Statistics of one's own where nobody reads them. False: out of memory. */
bool process_do_without(struct table *table);
bool process_alive(struct table *table, uint32_t index);
/* Is the process slot still that of its `owner` (the low HOLD_OWNER_BITS of process_line.owners)? Whatever the numbers
 * are. No is for ever; yes is remembered for a second of table time `now`. */
bool process_owns(struct table *table, uint32_t index, uint32_t owner, uint64_t now);
/* The owner that this handle is, as process_owns wants it. */
uint32_t process_owner(const struct table *table);
/* Surely without an owner, as far as is known without asking the kernel. */
bool process_gone(const struct table *table, uint32_t index, uint32_t owners);

/* yield.c: this handle has found no process slot. */
void yield_want(struct table *table);

/* ticket.c: charges all that this handle has reserved, postponed or not, at its own cost. In flight it leaves alone. */
void ticket_charge(struct table *table, const struct algo_time *t);
/* The handle is being closed. None of its tickets is live any more. */
void ticket_close(struct table *table);

/* ledger_read.c: the handle's own part; nothing is mapped before a row is asked for. */
void ledger_open(struct table *table);
void ledger_close(struct table *table);

#endif
