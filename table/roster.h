/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roster: the names of who is banned, and why, for `weir bans`.
 *
 * A bounded file beside the table, PATH.bans. Best effort: the slots of the table are the truth, and a ban without a name
 * here is a ban. A door that begins one notes it if nobody else is writing, and not more than some a second. An entry
 * is told apart by the key of its ban, so it says which slot to look at; where there is no room the one that ends first goes.
 */
#ifndef WEIR_TABLE_ROSTER_H
#define WEIR_TABLE_ROSTER_H

#include "table/table.h"
#include "table/why.h"

#define BESIDE_ROSTER	".bans"
#define ROSTER_ENTRIES	4096u
#define ROSTER_A_SECOND 10u /* entries that one handle notes */

enum roster_whom { ROSTER_KEY, ROSTER_ADDRESS, ROSTER_API_KEY, ROSTER_USER };

struct roster_entry {	      /* 320 bytes, a file format; texts end in NUL */
	struct table_key key; /* of the ban's slot */
	uint64_t until;	      /* table time */
	int64_t made_at;      /* wall clock, s */
	uint32_t level;	      /* the how manieth in a row; 0: chosen by an operator */
	uint8_t whom;	      /* enum roster_whom */
	uint8_t hashed;	      /* 1: `name` is a digest (privacy: hash) */
	uint8_t spare[2];
	char limit[64];	 /* whose ban it is; "": the operator's */
	char name[112];	 /* of whom it is; hostile bytes, as the client sent them */
	char reason[96]; /* the operator's */
	uint64_t check;	 /* of all before it */
};

/* By a door: returns at once, whatever becomes of it. Not of a handle opened for reading. */
void roster_note(struct table *table, const struct roster_entry *entry, uint64_t now);
/* By the command line: waits for other writers, at most wait_ms (WEIR_BUSY). Entries of the same key are replaced. now: table time. */
enum weir_error roster_write(struct table *table, const struct roster_entry *entry, uint64_t now,
			     unsigned wait_ms, const struct why *why);
/* The entries that are whole and have not ended at `now`, in no order; the caller frees *out. No file: none. */
enum weir_error roster_read(const struct table *table, uint64_t now, struct roster_entry **out, size_t *count,
			    const struct why *why);

#endif
