/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top: who asks most, as a sketch of 64 keys for each process slot (Space-Saving: Metwally, Agrawal, El Abbadi,
 * "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005).
 *
 * Time is cut into epochs. Of the epoch that runs, with n counted and any key:
 *   what is said of a key is never too little: true <= asked, and too much by at most what is said too: asked - error <= true;
 *   a key with more than n / TOP_KEYS is in the sketch; error <= n / TOP_KEYS.
 * That is exact for the first TOP_EXACT of an epoch in each process. Of what follows one in TOP_STRIDE on average, by chance, counts for
 * as many: then a share p of n is told as p, give or take about 2 sqrt(p / n) (one standard deviation).
 * Of the epoch before, what is surely true of the keys that are still in it. Nothing older: a sketch that nobody writes any more is
 * not read either.
 *
 * One writer, the owner of the process slot; whoever reads adds up. A table made before there were sketches has no such section: nothing
 * is counted then.
 */
#ifndef WEIR_TABLE_TOP_H
#define WEIR_TABLE_TOP_H

#include "table/table.h"

#define TOP_KEYS      64u
#define TOP_NAME_MAX  72u
#define TOP_EPOCH_NS  (UINT64_C(30) * 1000000000)
#define TOP_EXACT     16384u
#define TOP_STRIDE    4u
#define TOP_FULL      1000u /* a share */
#define TOP_PLAN_NONE UINT8_MAX

/* What a key is known by outside the table: 40 bits of its tag, 24 of where it is (its pair, to 2^24). */
static inline uint64_t top_slot(const struct table_key *key)
{
	return key->tag_word << 24 | key->line_word >> 40;
}

struct top_seen {	     /* one request, by one key */
	uint64_t slot;	     /* top_slot; 0 is taken for 1 */
	uint32_t generation; /* of the policy for which the next two are indices */
	uint32_t limit;	     /* below 2^24 */
	uint8_t plan;	     /* TOP_PLAN_NONE: none */
	bool refused;
	uint16_t
		share; /* of its limit that is used, in thousandths; TOP_SHARE_KEEP: not looked at this time */
};
#define TOP_SHARE_KEEP UINT16_MAX

/* What the sketch would like to know of the key just counted, a mask. Of keys that were seen twice, or while there is room: a flood of
 * invented ones costs no names. */
#define TOP_WANTS_NAME	1u
#define TOP_WANTS_SHARE 2u /* now and then */
/* Counts it; `now`: table time. 0 also without a sketch, and for one that is passed over. */
unsigned top_count(struct table *table, uint64_t now, const struct top_seen *seen);
/* Names the key, hostile bytes as they are, cut at TOP_NAME_MAX; says its share. Only right after a top_count that asked for it. */
void top_name(struct table *table, const char *name, size_t size);
void top_share(struct table *table, uint16_t share);

/* ---- reading: any handle ---- */

struct top_row {	     /* all processes added up */
	uint64_t slot, last; /* table time of the last one */
	uint64_t
		asked; /* at most so many in the epoch that runs, what processes may have lost sight of included */
	uint64_t error;			 /* and at least asked - error */
	uint64_t refused;		 /* of those that are sure */
	uint64_t before, before_refused; /* in the epoch before, at least */
	uint32_t generation, limit;
	uint16_t share; /* at the last look */
	uint8_t plan, name_size;
	char name[TOP_NAME_MAX]; /* hostile */
};
struct top_sum {
	uint64_t requests, before; /* counted in this epoch and in the one before */
	uint64_t window_ns;	   /* since when both were counted: what makes a rate of them; at least 1 s */
};
/* Rows of every key of any sketch, malloc()ed in *out (NULL: none), by slot ascending; returns how many. Nothing read is believed: sizes and
 * shares are bounded here, indices by the caller. */
size_t top_read(struct table *table, uint64_t now, struct top_row **out, struct top_sum *sum);
/* Whether the table has sketches. */
bool top_there(const struct table *table);

#endif
