/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * insert: claim, look again, clear the twins, and only then let it be charged (T4).
 *
 * Why it cannot admit twice is proved in table/DESIGN.md under I1. The proof stands on three things that
 * the code below must keep: every claim ever made is a different word (I4); a claim is charged or removed
 * only by a compare-and-swap from exactly the word that was seen; and nobody charges a claim without having
 * read the whole pair after seeing that very word, whoever made it.
 */
#include "table/insert.h"

#include "table/cell.h"
#include "table/evict.h"
#include "table/full.h"

/* A word no claim has borne before: the counter belongs to the process slot and outlives its owners, and it
 * has moved on before the claim can be seen (I4). Atomic although the process slot has one owner: a program
 * that forks with an open handle breaks its own statistics, but must not break everyone's I1. */
static uint64_t fresh_claim(struct table *table)
{
	uint64_t nonce = atomic_count(&table->process->nonce);
	return LAYOUT_CLAIM | (uint64_t)table->process_index << LAYOUT_NONCE_BITS |
	       (nonce & ((UINT64_C(1) << LAYOUT_NONCE_BITS) - 1));
}

static bool read_same(struct table *table, struct slot *slot, uint64_t tag, uint32_t row,
		      const struct ledger_row *mine, struct insert_claim *out)
{
	*out = (struct insert_claim){slot, atomic_get(&slot->w0), 0};
	if (!slot_has_tag(out->w0, tag))
		return false;
	out->w1 = atomic_get(&slot->w1);
	return probe_same(table, mine, row, out->w0);
}

static bool away(const struct insert_claim *claim)
{
	return atomic_cas_pair(&claim->slot->w0, claim->w0, claim->w1, 0, 0); /* I1 */
}

/* A claim of this key that lies about: of a writer at work, or of one that was killed. It is as good as one's
 * own: a second one would only have to be cleared again. */
static bool adopt(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row,
		  const struct ledger_row *mine, struct insert_claim *out)
{
	for (unsigned i = 0; i < LAYOUT_WAYS; i++)
		if (read_same(table, &pair->ways[i], tag, row, mine, out) && (out->w1 & LAYOUT_CLAIM))
			return true;
	return false;
}

/* The key itself, charged. A claim says nothing about marks: whoever charges it decides. */
static bool charged(uint64_t w1, uint64_t mark)
{
	return !(w1 & LAYOUT_CLAIM) && (w1 & CELL_MARKS) == mark;
}

static enum insert_made take(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row,
			     const struct ledger_row *mine, uint64_t mark, uint64_t now,
			     struct insert_claim *out)
{
	struct evict_victim victim;
	if (!evict_choose(table, pair, mine, now, &victim))
		return INSERT_AGAIN;
	if (!victim.slot)
		return INSERT_FULL;
	/* The key itself, charged since the probe, and with one charge often the first to recover: to take
	 * that would forget the charge. */
	if (slot_has_tag(victim.w0, tag) && charged(victim.w1, mark) &&
	    probe_same(table, mine, row, victim.w0))
		return INSERT_AGAIN;
	if (victim.kind == EVICT_LIVE && full_wants(mine) != TABLE_EVICT && !table->settling)
		return INSERT_FULL;
	*out = (struct insert_claim){victim.slot, tag | row, fresh_claim(table)};
	/* I3: the claim holds nothing, so a death from here on costs nobody anything. I18: from the very words by which
	 * it was the one to go; what the other ways hold may have changed since. */
	if (!atomic_cas_pair(&victim.slot->w0, victim.w0, victim.w1, out->w0, out->w1))
		return INSERT_AGAIN;
	if (victim.kind == EVICT_RECOVERED)
		stats_add(&table->area->process.evicted, 1);
	else if (victim.kind == EVICT_LIVE)
		stats_add(&table->area->process.evicted_live, 1);
	return INSERT_MADE;
}

enum insert_made insert_try(struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row,
			    const struct ledger_row *mine, uint64_t mark, uint64_t now,
			    struct insert_claim *out)
{
	if (!adopt(table, pair, tag, row, mine, out)) {
		enum insert_made taken = take(table, pair, tag, row, mine, mark, now, out);
		if (taken != INSERT_MADE)
			return taken;
	}

	/* The whole pair once more, now that out->w1 has been seen in its place (or put there). */
	struct insert_claim twins[LAYOUT_WAYS];
	unsigned count = 0;
	for (unsigned i = 0; i < LAYOUT_WAYS; i++) {
		struct insert_claim *twin = &twins[count];
		if (!read_same(table, &pair->ways[i], tag, row, mine, twin))
			continue;
		if (twin->slot == out->slot) {
			if (twin->w1 != out->w1)
				return INSERT_AGAIN;
		} else if (!(twin->w1 & LAYOUT_CLAIM) && !charged(twin->w1, mark)) {
			continue; /* a tag two keys share: one in 2^40 */
		} else if (charged(twin->w1, mark) || twin->slot < out->slot) {
			/* Someone has charged, or stands lower: theirs stays. Of two who look at each other
			 * both agree which is the lower, and one of them must have seen the other. */
			away(out);
			return INSERT_AGAIN;
		} else {
			count++;
		}
	}
	/* I1: after this nobody holds a claim of this key that was seen before ours: whoever makes a new one
	 * will see ours, or what it became. */
	for (unsigned i = 0; i < count; i++)
		if (!away(&twins[i]))
			return INSERT_AGAIN;
	return recall_stale(table) ? INSERT_AGAIN : INSERT_MADE;
}
