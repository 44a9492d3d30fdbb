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
	uint64_t size;	  /* bytes of slots, for creation only; 0: TABLE_SIZE_DEFAULT. The file is 2 to 10 MB
			     larger */
	bool create;	  /* make the file if it is missing (privately, then link(2)ed into place) */
	bool read_only;	  /* no process slot, no deciding: for looking */
	uint32_t process_slots; /* creation only, at most 4096; 0: 64, or 4 for each processor */
	uint32_t slot_wait_ms;	/* for a process slot, if none is free; 0: WEIR_BUSY at once */
	const char
		*snapshot; /* creation only: what to begin with (table/snapshot.h), NULL: nothing. One that is
				   missing, damaged or of another version leaves an empty table and a sentence in
				   `why`: it never stands in the way */
};

/* Opens or creates. On failure *out is NULL and `why` (size bytes, may be NULL) holds a sentence that
 * names path and reason. Refuses files that are not owned by the caller or (if the caller is root) by
 * the folder's owner, that others can write, symlinks, and geometry that does not add up. */
enum weir_error table_open(const struct table_options *options, struct table **out, char *why, size_t size);
/* NULL-safe; frees the process slot, and with it what its tickets hold: none of them is live any more. They are
 * touched once more here, so their memory must still be there. */
void table_close(struct table **table);
/* Gives the process slot back, for one who does not decide for a while but still looks at what was decided: from now
 * on the handle is as one opened for reading (table_charge, table_take: TABLE_NO_ROOM), and holds no generation. There
 * are few slots, and a response may take hours. Settling a ticket that was only charged changes nothing any more.
 *
 * While the slot is needed (tickets hold something, or table_stay) this only says what is to be: the handle decides,
 * takes, charges and holds its generation exactly as before, and retires by itself with the last table_settle,
 * table_give_back, table_overdue or table_unstay, or at once by table_yield. A decision of several steps that may end
 * the last of them halfway stays meanwhile. Out of memory: the slot stays, and the next of these tries again. */
void table_retire(struct table *table);
/* Takes a slot again, perhaps another one, and holds what is published now; or, if the handle has not retired yet, goes
 * on with the one it has and the generation it holds. An image that was mapped before may be decided with if it is
 * still the published one; else its rows may be others' by now. WEIR_BUSY: there is none, the handle stays as it
 * was. */
enum weir_error table_resume(struct table *table);
/* Keeps the slot from being given back, for one who has no ticket but will decide or charge again: a request that waits
 * to be looked at once more, a response that pays for its bytes as it goes. Counted: each table_stay has one
 * table_unstay, and the last one completes a retirement that has waited for it. Of a handle without a slot it is only
 * counted. The handle's thread; nothing shared is touched but by the retirement. */
void table_stay(struct table *table);
void table_unstay(struct table *table);
/* Whether the handle may decide: it was not opened for reading, and has a process slot. */
bool table_decides(const struct table *table);
/* Should a handle that has retired, but still needs its slot, give it up for somebody who found none (table_open,
 * table_resume: WEIR_BUSY) within the last two seconds? Yes for those that are among the older half of the table's
 * handles; for the others too if slots have been wanted for more than half a second. No for one without a slot. Cheap as long as
 * nobody wants one; ask once a second. */
bool table_wanted(struct table *table);
/* Completes a table_retire now, whatever is held or stays: as if the process had died, but that what it has reserved is
 * charged first, at its own cost, as by table_overdue (else not to be counted would be a matter of being slow). Of its
 * tickets none is live any more: to settle them or give them back later does nothing, and what was in flight counts
 * for nobody within two seconds (I15). *dropped: how many those are. Stays go on being counted, and hold nothing until
 * table_resume. Their owner then does without: table_charge says TABLE_NO_ROOM. False, and nothing is given up: the
 * handle is not retiring, or out of memory (what was reserved may be charged then). The handle's thread, in no decision. */
bool table_yield(struct table *table, uint32_t *dropped);
/* Bytes that the file system of a new table must have free: for table and ledger as they begin, and for the
 * images of usual policies (a large one takes twice its size: an edit stands beside the one in force until it
 * replaces it). 0: no such table can be made. */
uint64_t table_room(const struct table_options *options);
/* Process slots for a door of so many workers (0: one for each processor): they, and those of seven reloads that
 * still have responses to send; at least 256 (7.4 MB of statistics). */
uint32_t table_slots_for(uint32_t workers);
/* How many process slots are taken, of *slots. Asks the kernel about each: not for every request. */
uint32_t table_slots_taken(struct table *table, uint32_t *slots);
/* Bytes of slots it has: table_options.size when it was made, in whole lines. */
uint64_t table_bytes(const struct table *table);
const char *table_path(const struct table *table);

/* The default path for a namespace: /dev/shm/weir-<uid>/<hash of the namespace>.v<layout>. */
void table_default_path(const char *name_space, unsigned uid, char *path, size_t size);

/* The folder of the table at `path`, before the doors start, by whoever starts them (root, or the user they decide
 * as): made, mode 0700, for uid and gid, if it is not there. WEIR_OWNER: it is no folder, belongs to another than
 * uid (its default one, if root's, is given to it), or others can write to it; no door would use it. Where that is the
 * default folder of uid and a stranger's (anyone can be first in /dev/shm), root moves it aside and it is WEIR_OK: then `why` says so, else it is "". With
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
	/* The key was there: it had a charged slot of its kind, or somebody held units of it, before what was charged now.
	 * False: it is absent, so fully recovered and not stored; or it could not be judged. */
	bool found;
	/* What a word alone does not say; 0 for plain counters. */
	uint32_t held;	   /* units held (reserved, in flight) by everybody, one's own included */
	uint32_t used;	   /* log: units that still count */
	uint64_t fits_at;  /* log, refused: table time at which the cost fits; ALGO_NEVER if it cannot */
	uint64_t empty_at; /* log: table time at which nothing counts any more; 0: nothing does */
};

/* Would it fit? Writes nothing; for any handle. A key that is absent is fully recovered. A bucket, window or log is asked
 * what it has counted, and nothing about what is reserved: out->held is 0, and the cost may not fit beside that. A
 * concurrent limit has nothing but what is held: as table_peek_held. A row that is in no ledger, and a key that never
 * stood still (bounded tries): allowed, all else 0, numbers too. */
void table_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		uint32_t cost, struct table_look *out);
/* The same for a limit whose costs are reserved: would `cost` fit beside what is used and what everybody, this handle
 * included, holds? out->held says how much that is (at most UINT32_MAX); state and used are without it, and fits_at, of a
 * log, is when as much as cost + held fits beside what is used. Of a process slot that has just died a hold
 * may still count for two seconds. Costs a look for each process slot in use; waits a bounded moment, some
 * microseconds a look, 64 looks at most, for one who is finding out whether his fits. */
void table_peek_held(struct table *table, const struct table_key *key, uint32_t row,
		     const struct algo_time *t, uint32_t cost, struct table_look *out);

enum table_charge {
	TABLE_CHARGED, /* allowed and counted */
	TABLE_REFUSED, /* did not fit; nothing written */
	TABLE_NO_ROOM, /* could not be stored: damaged lines, endless interference (bounded tries), or no slot to be
			  had without forgetting a live counter and `on_full` is not evict. The caller asks
			  table_on_full what that means. Also, always, from a handle that was opened for
			  reading or has retired: its owner must not ask (table_resume, table_stay) */
};

/* Charge if it fits: one 16-byte compare-and-swap on a known key of a bucket or window. Cost 0 is a peek.
 * Logs are charged too, their cells one by one: all or none. Not for concurrent ones (TABLE_REFUSED). */
enum table_charge table_charge(struct table *table, const struct table_key *key, uint32_t row,
			       const struct algo_time *t, uint32_t cost, struct table_look *out);

/* The same for a counter of the kind nginx, asked with a bound of one's own (cost 1); out->numbers are those of this asker.
 * A row of another kind is asked as it is, with cost 1; of a concurrent one the peek says whether a place with this bound
 * would be had (table_take_bound). */
void table_peek_bound(struct table *table, const struct table_key *key, uint32_t row,
		      const struct algo_time *t, const struct algo_bound *bound, struct table_look *out);
enum table_charge table_charge_bound(struct table *table, const struct table_key *key, uint32_t row,
				     const struct algo_time *t, const struct algo_bound *bound,
				     struct table_look *out);
/* Undoes table_charge_bound, as table_uncharge does. */
void table_uncharge_bound(struct table *table, const struct table_key *key, uint32_t row,
			  const struct algo_time *t, uint64_t charged_at, const struct algo_bound *bound);

/* What a limit wants when a key of it finds no room (the row's flags). */
enum table_full { TABLE_EVICT, TABLE_ALLOW, TABLE_DENY };
enum table_full table_on_full(struct table *table, uint32_t row);
/* Would a charge find the key's place, or make it one? Writes nothing; for any handle. False: table_charge would say
 * TABLE_NO_ROOM now, were the key's word to be made. Of holds and the cells of a log, which stand elsewhere, it knows nothing. */
bool table_peek_room(struct table *table, const struct table_key *key, uint32_t row,
		     const struct algo_time *t);

/* Undo a charge of a bucket or window made at `charged_at`, by those who keep no ticket. A key that has been evicted
 * since owes nothing. */
void table_uncharge(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		    uint64_t charged_at, uint32_t cost);

/* ---- tickets: what was taken, and can be given back or settled, once ------------------------------- */

enum table_how {
	TABLE_CHARGE,  /* charged at once, as table_charge */
	TABLE_RESERVE, /* held: it takes room, and is charged when it is settled. Concurrent: the only way */
};

/* The caller's memory; it must stay in place while the ticket is live, and be used with the handle that made it. A
 * ticket that was only charged may be dropped without a word; one that holds must be settled or given back.
 * Dies with its process: what was charged stays charged, what was held is free (T10) within two seconds. */
struct table_ticket {
	struct table_key key;
	uint32_t row, cost;
	uint64_t at;			     /* table time of taking */
	uint64_t stamp;			     /* log: when its cells end */
	uint32_t cell;			     /* log: first of its cells */
	uint8_t how;			     /* enum table_how */
	uint8_t rests;			     /* held: 0 grows old, 1 postponed, 2 (in flight) never does */
	uint16_t live;			     /* 1: taken and not yet given back or settled */
	struct table_ticket *before, *after; /* held: those of this handle, oldest first */
};

/* Takes `cost` if it fits, and fills *ticket (live only if TABLE_CHARGED). Reserving: units used + units held by
 * everybody + cost <= capacity, never more, whoever is killed when (proof: table/DESIGN.md, I13, I14). Two who reach for
 * the last unit at once do not both go away empty. One process slot holds less than 2^28 units of a key: more is
 * TABLE_NO_ROOM. An acquisition costs a look for each process slot in use, whatever the capacity. */
enum table_charge table_take(struct table *table, const struct table_key *key, uint32_t row,
			     const struct algo_time *t, uint32_t cost, enum table_how how,
			     struct table_ticket *ticket, struct table_look *out);
/* One place of a concurrent counter, where this asker lets bound->burst + 1 be in flight, others of the same
 * counter perhaps more or fewer. Never more than that beside each other by this asker's count, as above. */
enum table_charge table_take_bound(struct table *table, const struct table_key *key, uint32_t row,
				   const struct algo_time *t, const struct algo_bound *bound,
				   struct table_ticket *ticket, struct table_look *out);
/* The actual cost is known: `cost` is charged whether it fits or not (a log: as much of it as fits), and what was held
 * is free. It pushes a live counter out if it must, whatever `on_full` says: it was granted before. For a charged ticket the difference is charged or given back. Once: false if the ticket is not live.
 * Concurrent: only frees. */
bool table_settle(struct table *table, struct table_ticket *ticket, const struct algo_time *t, uint32_t cost);
/* The same with a cost of 0: nothing was used. What was charged to a log of more than 1,024 stays charged. */
bool table_give_back(struct table *table, struct table_ticket *ticket, const struct algo_time *t);
/* Charges what has been reserved for longer than 60 s by this handle, as if it had been settled at its own cost (T10;
 * concurrent tickets are left alone). Cheap; the door calls it with each decision, and once a second when idle. */
#define TABLE_RESERVE_MAX_NS (UINT64_C(60) * 1000000000)
void table_overdue(struct table *table, const struct algo_time *t);
/* The caller makes the request wait before it is asked at all (a turn in a leaky bucket): a live reservation does not
 * grow old until table_begin, and from then on as one that is taken now. Nothing happens to any other ticket. */
void table_postpone(struct table *table, struct table_ticket *ticket);
void table_begin(struct table *table, struct table_ticket *ticket, const struct algo_time *t);
/* Tickets held by this handle. */
uint32_t table_held(const struct table *table);

/* Count a refusal (`count_denied`): see algo_punish. Nothing for logs and concurrent ones. */
void table_punish(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		  uint32_t cost, struct table_look *out);

/* Describe what was looked at, of any kind: algo_describe, and what only the table knows. `charged`: the cost is in
 * the look already. Concurrent: limit N, remaining, wait_ns 1 s if refused (a hint), full_ns 0. */
void table_describe(const struct table_look *look, const struct algo_time *t, uint32_t cost, bool charged,
		    struct algo_report *out);

/* Forget a key (its bucket is full again). Returns whether it was there. */
bool table_forget(struct table *table, const struct table_key *key);
/* Forget every key of a limit: all slots whose row has this identity. Returns how many. What is held stays held. */
uint64_t table_forget_limit(struct table *table, uint64_t identity);

/* ---- the generation word (N4) -------------------------------------------------------------------- */

/* Generation of the published policy; 0: none yet. One load of a read-mostly line (it acquires: an
 * image read afterwards is at least as new). */
uint64_t table_generation(const struct table *table);
/* The newest generation that a row of this table may bear: the published one, or that of the snapshot the table was
 * made from. The next publication is newer. */
uint64_t table_last_generation(const struct table *table);
/* Publisher only, under ledger_lock: the image has been renamed into place. */
void table_set_generation(struct table *table, uint64_t generation);
/* The oldest generation whose image this handle may still use (delayed requests keep old images): census
 * keeps the rows it names. From table_open on, it holds what was published then; so map the newer image
 * first, and hold it when nothing uses the older one any more. */
void table_hold_generation(struct table *table, uint64_t generation);

#endif
