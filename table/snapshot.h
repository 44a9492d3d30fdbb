/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot: what a table has counted, on disk: for a reboot, a restarted container, and another size.
 *
 * Two files: a base (the path) and a journal of what changed since (the path + ".journal"); a third, ".lock",
 * keeps a second writer away. Whoever creates a table loads them before the table has a name
 * (table_options.snapshot), so nobody decides in a half-loaded one. What is held (reservations, requests in flight)
 * is in none: it ends with its process. Bytes, order and what a kill leaves: table/DESIGN.md, "Snapshots".
 *
 * Nothing in these files is believed without being bounded: forged ones cost at most the counters they name.
 */
#ifndef WEIR_TABLE_SNAPSHOT_H
#define WEIR_TABLE_SNAPSHOT_H

#include "table/ledger.h"

struct snapshot_row { /* a ledger row, and the name of its limit */
	uint32_t row, generation;
	uint64_t identity;
	uint16_t flags, zero;
	uint32_t plan; /* files from before there were plans have 0 here, which means none */
	struct algo_numbers numbers;
	char limit[LEDGER_NAME_MAX]; /* "": it shares the statistics entry of all further limits */
};

struct snapshot_entry { /* a charged slot that has not recovered: a counter, or a cell of a log */
	uint64_t pair, w0, w1;
};

struct snapshot {
	uint64_t table_id, pairs; /* pairs: of the table that was taken */
	uint64_t secret[2], digest_secret[2];
	uint64_t boot[2];    /* kernel's name for the boot in which it was taken; {0, 0}: it has none */
	int64_t offset;	     /* in that boot, table time = CLOCK_BOOTTIME (of the host) + offset */
	uint64_t time;	     /* table time, not before any charge in it */
	uint64_t wall;	     /* wall clock then, ns since 1970 */
	uint64_t generation; /* of the policy published then; 0: none */
	struct snapshot_row *rows;
	size_t row_count; /* rows ascend by number; those that entries carry, and no others */
	struct snapshot_entry *entries;
	size_t entry_count; /* by pair, ascending */
};

/* Takes a table that others may be deciding in: every slot as it was at one moment, not all at the same one. Reads
 * only. durable_only: leaves out the counters that are full again within a minute, however much was used (T14).
 * The caller frees with snapshot_free, which zeroes *snapshot; on failure it is zeroed. WEIR_NO_MEMORY. */
enum weir_error snapshot_take(struct table *table, bool durable_only, struct snapshot *out);
void snapshot_free(struct snapshot *snapshot);

/* Reads base and journal. A journal that is cut short or damaged somewhere is read up to there, one that belongs to
 * another base not at all. WEIR_NOT_FOUND: no base; WEIR_VERSION: written by a weir that knows another format;
 * WEIR_FOREIGN, WEIR_DAMAGED, WEIR_OWNER: as for tables. On failure *out is zeroed, and `why` (size bytes, may be NULL)
 * holds a sentence that names the file. */
enum weir_error snapshot_read(const char *path, struct snapshot *out, char *why, size_t size);
/* Writes a base: whole, mode 0600, renamed into place, on disk (fdatasync) when it returns. A journal that lay beside
 * belongs to no base any more. Fails with WEIR_BUSY while a keeper has the path, and with WEIR_VERSION or
 * WEIR_FOREIGN, changing nothing, if the file there is not one that this weir could have written. */
enum weir_error snapshot_write(const struct snapshot *snapshot, const char *path, char *why, size_t size);

/* Makes a table from a snapshot, of options->size and at options->path, with the same secrets, table id and ledger rows;
 * entries go where a table of that size has them, and where they do not all fit those stay that recover last.
 * Without `replace` WEIR_BUSY if there is a table already. With it the new table takes the old one's place by
 * rename: deciders see it at once or within a second (table_replaced). The ledger of a table with the same id is
 * kept and its generation stays in force; so take the snapshot under ledger_lock, or use table_resize. */
enum weir_error snapshot_make_table(const struct snapshot *snapshot, const struct table_options *options,
				    bool replace, char *why, size_t size);

/* A table of another size (options->size, options->process_slots) in place of `table`, while others decide: takes it,
 * makes the new one, renames, and brings over what was charged in the old one meanwhile, until nobody decides
 * there any more, for at most `patience_ms`. Until that has been brought over (the time of the copy) a counter may
 * admit once more what it admitted in that time; afterwards it owes it. What is held stays in the old table
 * until its holder is done. Afterwards close `table` and open the path again. WEIR_BUSY: a publisher holds the
 * ledger's lock. */
enum weir_error table_resize(struct table *table, const struct table_options *options, unsigned patience_ms,
			     char *why, size_t size);

/* What became of options->snapshot when this table was made. False: it was made without one. For every handle. */
struct table_restored {
	uint64_t entries; /* loaded */
	uint64_t expired; /* had recovered since */
	uint64_t refused; /* made no sense: forged or damaged */
	uint64_t crowded; /* no room in a smaller table: those that recovered soonest */
	uint64_t age_ns;  /* wall clock: from the snapshot to its loading; 0 if the clock went back */
	uint64_t
		bridged_ns; /* table time went on by this much; less than age_ns if the clock was not believed */
	bool same_boot;	    /* the clock went on exactly */
	bool believed;	    /* false: more time has passed than is bridged yet, see table_catch_up */
	char why[200];	    /* "": loaded; else why it was not, a sentence */
};
bool table_restored(struct table *table, struct table_restored *out);

/* The wall clock was not believed in full when the table was loaded: has it earned it since? By the kernel's word that
 * it is synchronised, or by an hour in which nobody set it. Then table time jumps forward, never back (I9), to
 * where the wall clock says it should be; handles follow within a second. For control, about once a second, with
 * one `watch` (zeroed at first). Returns by how many ns; nearly always 0. */
struct table_watch {
	int64_t wall;	/* wall clock - CLOCK_BOOTTIME when last looked at */
	uint64_t since; /* CLOCK_BOOTTIME since when it has not been set; 0: not looked at yet */
};
uint64_t table_catch_up(struct table *table, struct table_watch *watch);

/* ---- keeper: writes a table down while it lives; one thread ---- */

struct keeper;

/* One writer for a path: WEIR_BUSY if another has it. WEIR_VERSION, WEIR_FOREIGN: what lies there is not ours to
 * replace. The folder must exist and be trusted as a table's is. Only counters that take over a minute to recover are
 * written (snapshot_take's durable_only). */
enum weir_error keeper_open(const char *path, struct keeper **out, char *why, size_t size);
/* Appends what has changed since the last time, at most once a second (earlier calls return WEIR_OK at once), and
 * compacts when the journal has outgrown the base. now_ms: any clock that goes forward. A crash of the machine
 * loses what was charged after the last call that returned WEIR_OK. A table whose reading takes long is read less
 * often: at most a tenth of the time (keeper_pause_ms). An error (a full disk) leaves what is on disk readable and the
 * table alone; the next call tries again. `why` is set once for each kind of trouble, and "" while it lasts.
 * Another table (a resized one) may be given at any time. */
enum weir_error keeper_work(struct keeper *keeper, struct table *table, uint64_t now_ms, char *why,
			    size_t size);
/* How long the keeper waits between two readings of the table: 1000, or more for a large one. */
unsigned keeper_pause_ms(const struct keeper *keeper);
/* Writes a last time (table may be NULL: not), and closes. *keeper becomes NULL; NULL-safe. */
enum weir_error keeper_close(struct keeper **keeper, struct table *table, char *why, size_t size);

#endif
