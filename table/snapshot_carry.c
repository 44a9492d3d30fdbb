/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot_carry: an increase, brought over.
 *
 * A bucket's debts add up: what the old table charged since the first look is at most its new debt less what it owed then (or
 * less the virtual time of that look, if it owed nothing). So the sum is never less than if both had been one bucket, and
 * more by at most what drains between two looks. Windows count. For a log the same cell may have been taken in both
 * tables: then one admission is lost.
 */
#include "table/snapshot_carry.h"

#include "algo/bucket.h"
#include "algo/grant.h"
#include "algo/limit_req.h"
#include "algo/sliding.h"
#include "algo/window.h"
#include "table/evict.h"
#include "table/given_latest.h"
#include "table/insert.h"
#include "table/log_ring.h"
#include "table/snapshot_file.h"
#include "table/snapshot_judge.h"
#include "table/snapshot_load.h"

#define TRIES 1024u

static uint64_t window_charged(const struct algo_numbers *n, uint64_t before, uint64_t after)
{
	uint64_t had = window_end(n, before) == window_end(n, after) ? window_count(n, before) : 0;
	uint64_t has = window_count(n, after);
	return has > had ? has - had : 0;
}

static uint64_t sliding_charged(const struct algo_numbers *n, uint64_t before, uint64_t after)
{
	uint64_t one = (UINT64_C(1) << n->count_bits) - 1;
	uint64_t index = after >> n->count_bits >> n->count_bits, now = after & one,
		 past = after >> n->count_bits & one;
	uint64_t old_index = before >> n->count_bits >> n->count_bits, old = before & one;
	if (index == old_index)
		return now > old ? now - old : 0;
	if (index == old_index + 1)
		past = past > old ? past - old : 0;
	return now + past;
}

/* In units: what a request takes is perhaps not known (limit_req_asks). */
static uint64_t nginx_charged(const struct algo_numbers *n, uint64_t before, uint64_t after,
			      uint64_t looked_at)
{
	uint64_t clock = limit_req_clock(n, looked_at), from = before > clock ? before : clock;
	return after > from ? after - from : 0;
}

/* In requests, each of which may have been rounded up by less than LIMIT_REQ_ROUND. */
static uint64_t nginx_requests(const struct algo_numbers *n, uint64_t units)
{
	uint64_t token = limit_req_token(n), whole = units / token;
	uint64_t rounded = n->align == ALGO_CLOCK_MS ? whole * (LIMIT_REQ_ROUND - 1) : 0;
	return whole + (units % token > rounded);
}

uint32_t snapshot_charged(const struct algo_numbers *n, uint64_t before, uint64_t after, uint64_t looked_at)
{
	uint64_t units = 0;
	if (n->kind == ALGO_FIXED_WINDOW) {
		units = window_charged(n, before, after);
	} else if (n->kind == ALGO_SLIDING_WINDOW) {
		units = sliding_charged(n, before, after);
	} else if (n->kind == ALGO_TOKEN_BUCKET || n->kind == ALGO_LEAKY_BUCKET) {
		uint64_t clock = bucket_clock(n, looked_at), from = before > clock ? before : clock;
		uint64_t debt = after > from ? after - from : 0;
		units = (debt >> n->shift) + ((debt & ((UINT64_C(1) << n->shift) - 1)) != 0);
	} else if (n->kind == ALGO_LIMIT_REQ) {
		units = nginx_requests(n, nginx_charged(n, before, after, looked_at));
	}
	return units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

/* The same counter a moment ago, under whatever row. */
static const struct snapshot_entry *entry_before(const struct snapshot *before, size_t *from,
						 const struct snapshot_entry *entry, uint64_t identity)
{
	while (*from < before->entry_count && before->entries[*from].pair < entry->pair)
		++*from;
	for (size_t i = *from; i < before->entry_count && before->entries[i].pair == entry->pair; i++) {
		const struct snapshot_entry *at = &before->entries[i];
		const struct snapshot_row *row = snapshot_row(before, slot_row(at->w0));
		if (slot_has_tag(at->w0, entry->w0 & ~LAYOUT_ROW_MASK) &&
		    !((at->w1 ^ entry->w1) & CELL_MARK) && row && row->identity == identity)
			return at;
	}
	return NULL;
}

struct load {
	struct table *to;
	const struct snapshot_row *row;
	const struct ledger_row *mine;
	struct snapshot_entry entry;
	uint32_t cost;
	uint64_t units; /* nginx: the same, exactly */
	struct algo_time t;
};

static uint64_t settled(const struct load *load, const struct algo_numbers *n, uint64_t word)
{
	if (n->kind == ALGO_LIMIT_REQ && load->row->numbers.kind == ALGO_LIMIT_REQ &&
	    load->row->numbers.align == n->align)
		return limit_req_owe(n, word, load->t.now, load->units);
	return algo_settle(n, word, &load->t, load->cost);
}

/* Not a sum, but whichever is later: the ring of a log, a ban, and a grant that was given anew. */
static bool later_wins(const struct algo_numbers *n, uint64_t w1, const struct load *load)
{
	return n->kind == ALGO_SLIDING_LOG || n->kind == ALGO_BAN ||
	       (grant_is(n) && grant_is(&load->row->numbers) &&
		window_end(n, w1) != window_end(n, load->entry.w1));
}

/* True: done, one way or the other. */
static bool into_slot(struct load *load, struct slot *slot)
{
	uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
	struct snapshot_entry *entry = &load->entry;
	const struct ledger_row *its = recall_row(load->to, slot_row(w0));
	if (!its)
		return true;
	if ((its->numbers.kind == ALGO_BAN) != (load->row->numbers.kind == ALGO_BAN))
		return true;			  /* they have nothing in common */
	if (!later_wins(&its->numbers, w1, load)) /* I2: from what was judged */
		return atomic_cas_pair(&slot->w0, w0, w1, w0, settled(load, &its->numbers, w1));
	if (evict_end(&its->numbers, w1) >= evict_end(&load->row->numbers, entry->w1))
		return true;
	return atomic_cas_pair(&slot->w0, w0, w1, entry->w0, entry->w1);
}

static bool into_new(struct load *load, struct slot_pair *pair)
{
	struct insert_claim claim;
	uint64_t tag = load->entry.w0 & ~LAYOUT_ROW_MASK;
	enum insert_made made = insert_try(load->to, pair, tag, slot_row(load->entry.w0), load->mine,
					   load->entry.w1 & CELL_MARK, load->t.now, &claim);
	if (made == INSERT_FULL)
		return true;
	/* I1: only from the very claim that was looked around from. */
	return made == INSERT_MADE &&
	       atomic_cas_pair(&claim.slot->w0, claim.w0, claim.w1, load->entry.w0, load->entry.w1);
}

static void into_pair(struct load *load, struct slot_pair *pair)
{
	uint64_t tag = load->entry.w0 & ~LAYOUT_ROW_MASK;
	for (unsigned try = 0; try < TRIES; try++) {
		struct slot *found = NULL;
		for (unsigned way = 0; way < LAYOUT_WAYS && !found; way++) {
			uint64_t w0 = atomic_get(&pair->ways[way].w0), w1 = atomic_get(&pair->ways[way].w1);
			const struct ledger_row *its;
			if (!slot_has_tag(w0, tag) || w1 & LAYOUT_CLAIM ||
			    (w1 ^ load->entry.w1) & (CELL_MARK | CELL_HOLD))
				continue;
			its = recall_row(load->to, slot_row(w0));
			if (its && its->identity == load->row->identity)
				found = &pair->ways[way];
		}
		if (found ? into_slot(load, found) : into_new(load, pair))
			return;
		recall_fresh(load->to);
		load->mine = recall_row(load->to, load->row->row);
		if (!load->mine)
			return;
	}
}

uint64_t snapshot_carry(const struct snapshot *before, const struct snapshot *after, struct table *to)
{
	uint64_t grown = 0;
	size_t from = 0;
	struct load load = {.to = to};
	table_time(to, &load.t);
	recall_fresh(to);
	for (size_t i = 0; i < after->entry_count; i++) {
		load.entry = after->entries[i];
		load.row = snapshot_row(after, slot_row(load.entry.w0));
		load.mine = load.row ? recall_row(to, load.row->row) : NULL;
		if (!load.mine || load.mine->identity != load.row->identity)
			continue;
		const struct snapshot_entry *old = entry_before(before, &from, &load.entry,
								load.row->identity);
		if (old && old->w0 == load.entry.w0 && old->w1 == load.entry.w1)
			continue;
		uint64_t word = old ? old->w1 : 0;
		if (old && old->w0 != load.entry.w0 && !(word & CELL_MARK))
			word = algo_convert(&snapshot_row(before, slot_row(old->w0))->numbers,
					    &load.row->numbers, word, &load.t);
		load.cost = snapshot_charged(&load.row->numbers, word, load.entry.w1, before->time);
		load.units = load.row->numbers.kind == ALGO_LIMIT_REQ
				     ? nginx_charged(&load.row->numbers, word, load.entry.w1, before->time)
				     : 0;
		if (load.cost == 0 && load.row->numbers.kind != ALGO_SLIDING_LOG &&
		    load.row->numbers.kind != ALGO_BAN)
			continue;				     /* given back */
		given_latest(to, &load.row->numbers, load.entry.w1); /* I19 */
		uint64_t first, last;
		snapshot_pairs(load.entry.pair, after->pairs, to->pair_count, &first, &last);
		for (uint64_t at = first; at <= last; at++)
			into_pair(&load, &to->pairs[at]);
		grown++;
	}
	return grown;
}
