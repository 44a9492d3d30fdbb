/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table: counters in one memory-mapped file, shared by every process that decides.
 *
 * Open it after fork, once per thread that decides: a handle is one process slot (statistics,
 * liveness) and must not be used by two threads at once. Any number of handles, in any number
 * of processes, may decide at the same time; nothing here blocks on another of them, and a
 * process killed at any instruction leaves the table sound. Bytes and invariants: table/DESIGN.md.
 */
#ifndef WEIR_TABLE_TABLE_H
#define WEIR_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algo/algo.h"
#include "table/error.h"

#define TABLE_SIZE_DEFAULT (UINT64_C(16) << 20)
#define TABLE_SIZE_MIN	   (UINT64_C(64) << 10)
#define TABLE_SIZE_MAX	   (UINT64_C(64) << 30)
#define TABLE_ROW_NONE	   0u
#define TABLE_STAT_COUNT   256u /* limits with statistics of their own; 0 is shared by all further ones */

struct table; /* opaque; see table/handle.h for those inside the layer */

struct table_options {
	const char *path; /* the table file; its folder is made 0700 if missing. The ledger is path +
			     ".ledger", the published policy image path + ".policy" */
	uint64_t size;	  /* bytes of slots, for creation only; 0: TABLE_SIZE_DEFAULT. The file is 1 to 4 MB
			     larger */
	bool create;	  /* make the file if it is missing (privately, then link(2)ed into place) */
	bool read_only;	  /* no process slot, no deciding: for looking */
	uint32_t process_slots; /* creation only, at most 4096; 0: 64, or 4 for each processor */
};

/* Opens or creates. On failure *out is NULL and `why` (size bytes, may be NULL) holds a sentence that
 * names path and reason. Refuses files that are not owned by the caller or (if the caller is root) by
 * the folder's owner, that others can write, symlinks, and geometry that does not add up. */
enum weir_error table_open(const struct table_options *options, struct table **out, char *why, size_t size);
void table_close(struct table **table); /* NULL-safe; frees the process slot */
/* Gives the process slot back, for one who does not decide for a while but still looks at what was decided:
 * from now on the handle is as one opened for reading (table_charge: TABLE_NO_ROOM), and holds no generation.
 * There are few slots, and a response may take hours. Out of memory: the slot stays until table_close. */
void table_retire(struct table *table);
/* Takes a slot again, perhaps another one, and holds what is published now. An image that was mapped before may
 * be decided with if it is still the published one; else its rows may be others' by now. WEIR_BUSY: there is
 * none, the handle stays as it was. */
enum weir_error table_resume(struct table *table);
/* Bytes that the file system of a new table must have free: for table and ledger as they begin, and for the
 * images of usual policies (a large one takes twice its size: an edit stands beside the one in force until it
 * replaces it). 0: no such table can be made. */
uint64_t table_room(const struct table_options *options);
const char *table_path(const struct table *table);

/* The default path for a namespace: /dev/shm/weir-<uid>/<hash of the namespace>.v<layout>. */
void table_default_path(const char *name_space, unsigned uid, char *path, size_t size);

/* The folder of the table at `path`, before the doors start, by whoever starts them (root, or the user they decide
 * as): made, mode 0700, for uid and gid, if it is not there. WEIR_OWNER: it is no folder, belongs to neither root nor
 * uid, or others can write to it; no door would use it. Where that is the default folder of uid and a stranger's
 * (anyone can be first in /dev/shm), root moves it aside and it is WEIR_OK: then `why` says so, else it is "". With
 * look_only nothing is changed. WEIR_SYSTEM: it cannot be made; the doors will say so when they try. */
enum weir_error table_folder(const char *path, unsigned uid, unsigned gid, bool look_only, char *why,
			     size_t size);

/* Table time and wall clock now (T12). One clock_gettime; the wall offset is refreshed once a second. */
void table_time(struct table *table, struct algo_time *out);

/* True if the file at the path is no longer this one (removed or replaced): close and open again.
 * Looks at most once a second of table time. */
bool table_replaced(struct table *table, uint64_t now);

/* ---- keys ---------------------------------------------------------------------------------------- */

struct table_key {
	uint64_t tag_word;  /* low 40 bits: the tag */
	uint64_t line_word; /* top bits: the line pair */
};

/* 128-bit keyed SipHash-1-3 with the table's secret over `bytes` (identity and length-prefixed,
 * kind-tagged parts: T3; the caller builds them). Prefetches the lines. */
struct table_key table_key(const struct table *table, const void *bytes, size_t size);
/* 64 bits of the same hash for showing a key without telling it ($weir_key_hash). Another domain:
 * it says nothing about table_key. */
uint64_t table_key_digest(const struct table *table, const void *bytes, size_t size);

/* ---- deciding ------------------------------------------------------------------------------------ */

/* `row` is the ledger row the caller's policy image names. A slot written under another row is
 * converted, or, if its row is of a newer generation, judged under that one. */
struct table_look {
	struct algo_numbers numbers; /* those that were applied */
	uint64_t state;		     /* the word judged (before a charge for peek, after it for charge) */
	bool allowed;
};

/* Would it fit? Writes nothing. A key that is absent is fully recovered. */
void table_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		uint32_t cost, struct table_look *out);

enum table_charge {
	TABLE_CHARGED, /* allowed and counted */
	TABLE_REFUSED, /* did not fit; nothing written */
	TABLE_NO_ROOM, /* could not be stored: damaged lines or endless interference (bounded tries) */
};

/* Charge if it fits: one 16-byte compare-and-swap on a known key. Cost 0 is a peek. */
enum table_charge table_charge(struct table *table, const struct table_key *key, uint32_t row,
			       const struct algo_time *t, uint32_t cost, struct table_look *out);

/* Count a refusal (`count_denied`): see algo_punish. */
void table_punish(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		  uint32_t cost, struct table_look *out);

/* Undo a charge made at `charged_at`. A key that has been evicted since owes nothing. */
void table_give_back(struct table *table, const struct table_key *key, uint32_t row,
		     const struct algo_time *t, uint64_t charged_at, uint32_t cost);

/* Forget a key (its bucket is full again). Returns whether it was there. */
bool table_forget(struct table *table, const struct table_key *key);
/* Forget every key of a limit: all slots whose row has this identity. Returns how many. */
uint64_t table_forget_limit(struct table *table, uint64_t identity);

/* ---- the generation word (N4) -------------------------------------------------------------------- */

/* Generation of the published policy; 0: none yet. One load of a read-mostly line (it acquires: an
 * image read afterwards is at least as new). */
uint64_t table_generation(const struct table *table);
/* Publisher only, under ledger_lock: the image has been renamed into place. */
void table_set_generation(struct table *table, uint64_t generation);
/* The oldest generation whose image this handle may still use (delayed requests keep old images): census
 * keeps the rows it names. From table_open on, it holds what was published then; so map the newer image
 * first, and hold it when nothing uses the older one any more. */
void table_hold_generation(struct table *table, uint64_t generation);

#endif
