/* SPDX-License-Identifier: BSD-2-Clause */
/* log_ring: find the ring word and the cells of a log, under the newest numbers; move the ring on. */
#include "table/log_ring.h"

#include "table/insert.h"

#define TRIES 1024u

unsigned log_share(uint32_t used, uint32_t count)
{
	unsigned share = 0;
	while (share < LOG_SHARE_MAX && (uint64_t)used << (share + 1) <= count)
		share++;
	return share;
}

uint64_t log_ring_word(uint64_t until, enum log_order order, unsigned share, uint32_t next)
{
	const uint64_t most = (UINT64_C(1) << LOG_TICK_BITS) - 1, extra = (1u << LOG_EXTRA_BITS) - 1;
	uint64_t tick = (until + (UINT64_C(1) << LOG_SHIFT) - 1) >> LOG_SHIFT;
	tick = (tick + extra) & ~extra;
	if (tick > most)
		tick = most & ~extra;
	return (tick | (uint64_t)order << 4 | share) << LOG_NEXT_BITS | next;
}

/* A time under one period, told under another. Never below 0. */
static uint64_t carried(uint64_t end, uint64_t from, uint64_t to)
{
	return to >= from ? end + (to - from) : end > from - to ? end - (from - to) : 0;
}

static bool judge_under(struct log_view *view, uint32_t row, const struct ledger_row *mine)
{
	view->row = row;
	view->mine = mine;
	view->count = (uint32_t)mine->numbers.capacity;
	view->period = mine->numbers.scale;
	return mine->numbers.kind == ALGO_SLIDING_LOG;
}

/* The word as the view's numbers have it. `its` NULL: damage, and the cells have to be looked at. */
static void read_word(struct log_view *view, const struct ledger_row *its)
{
	view->until = 0;
	view->next = 0;
	view->order = LOG_LOOSE;
	view->share = LOG_SHARE_MAX;
	if (!its || its->numbers.kind != ALGO_SLIDING_LOG || view->w1 == 0)
		return;
	uint32_t next = (uint32_t)(view->w1 & ((1u << LOG_NEXT_BITS) - 1));
	view->until = carried(log_ring_until(view->w1), its->numbers.scale, view->period);
	view->share = log_ring_share(view->w1);
	if (its->numbers.capacity == view->count) {
		view->order = log_ring_order(view->w1);
		view->next = next < view->count ? next : 0;
	} else if (view->count > its->numbers.capacity) {
		view->next = (uint32_t)its->numbers.capacity; /* the first that was never taken */
	}
}

static enum log_found find_slot(struct log_view *view)
{
	struct slot_pair *pair = slot_pair(view->table, view->key);
	uint64_t tag = slot_tag(view->key);
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		struct slot *slot = &pair->ways[__builtin_ctz(mask)];
		uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
		if (!slot_has_tag(w0, tag) || !cell_is_counter(w1))
			continue;
		const struct ledger_row *its = view->mine;
		if (slot_row(w0) != view->row) {
			its = recall_row(view->table, slot_row(w0));
			if (recall_stale(view->table))
				return LOG_AGAIN;
			if (its && its->identity != view->mine->identity)
				continue;
		}
		if (!slot_still(slot, w0, w1))
			return LOG_AGAIN;
		view->slot = slot;
		view->w0 = w0;
		view->w1 = w1;
		if (its && recall_newer(its, view->mine) && !judge_under(view, slot_row(w0), its)) /* I5 */
			return LOG_OTHER;
		read_word(view, its);
		return LOG_FOUND;
	}
	view->slot = NULL;
	view->w0 = view->w1 = view->until = 0;
	view->next = 0;
	view->order = LOG_ORDERED;
	view->share = LOG_SHARE_MAX;
	return LOG_FOUND;
}

enum log_found log_find(struct log_view *view, uint32_t row)
{
	recall_fresh(view->table);
	const struct ledger_row *mine = recall_row(view->table, row);
	if (!mine)
		return LOG_UNKNOWN;
	return judge_under(view, row, mine) ? find_slot(view) : LOG_OTHER;
}

bool log_cell_read(struct log_view *view, uint32_t index, struct log_cell *out)
{
	enum probe_found found = PROBE_STALE;
	*out = (struct log_cell){.key = cell_key(view->key, false, index), .index = index};
	for (unsigned try = 0; found == PROBE_STALE; try++) {
		if (try == TRIES || recall_stale(view->table))
			return false;
		found = cell_find(view->table, &out->key, false, view->row, view->mine, &out->at);
	}
	/* A row nobody knows is damage: as if it were absent, but replaced in its place (I1). */
	if (found == PROBE_ABSENT || !out->at.row || out->at.row->numbers.kind != ALGO_SLIDING_LOG)
		return true;
	if (recall_newer(out->at.row, view->mine)) { /* I5: the newer one judges */
		judge_under(view, slot_row(out->at.w0), out->at.row);
		return false;
	}
	out->raw = log_cell_end(out->at.w1);
	out->end = carried(out->raw, out->at.row->numbers.scale, view->period);
	out->lap = out->at.w1 >> 4 & 1;
	out->given = log_cell_share(out->at.w1) == LOG_GIVEN;
	return true;
}

/* Is `a` further on the way from `from` than `b`? At the beginning is as far as all the way round. */
static bool further(const struct log_view *view, uint32_t from, uint32_t a, uint32_t b)
{
	uint32_t n = view->count, way_a = (a + n - from - 1) % n, way_b = (b + n - from - 1) % n;
	return way_a > way_b;
}

/* The word that joins what the ring says (`now`, read by now) with what we know. */
static uint64_t joined(const struct log_view *view, const struct log_view *now, uint32_t from, uint32_t next,
		       uint64_t until, enum log_order order, unsigned share)
{
	if (now->slot && (now->w1 != view->w1 || now->w0 != view->w0) && now->count == view->count) {
		/* Others have moved it meanwhile: whoever is further says where, and doubt stays doubt. */
		if (now->next != view->next && now->next != from && further(view, from, now->next, next))
			next = now->next;
		if (order != LOG_ORDERED || now->order != LOG_ORDERED)
			order = LOG_LOOSE;
		share = now->share < share ? now->share : share;
	}
	until = now->until > until ? now->until : until;
	return log_ring_word(until, order, share, next);
}

bool log_ring_point(struct log_view *view, uint32_t from, uint32_t next, uint64_t until, enum log_order order,
		    unsigned share)
{
	struct table *table = view->table;
	uint64_t tag = slot_tag(view->key);
	for (unsigned try = 0; try < TRIES; try++) {
		struct log_view now = *view;
		struct insert_claim claim;
		if (log_find(&now, view->row) != LOG_FOUND || now.row != view->row) {
			if (recall_stale(table))
				continue;
			return true; /* others know better: it is only a hint */
		}
		uint64_t word = joined(view, &now, from, next, until, order, share);
		if (now.slot) {
			if (now.w1 == word && slot_row(now.w0) == view->row)
				return true;
			/* I2, I5 */
			if (!atomic_cas_pair(&now.slot->w0, now.w0, now.w1, tag | view->row, word))
				continue;
			if (slot_row(now.w0) != view->row)
				stats_add(&table->area->process.converted, 1);
			view->w0 = tag | view->row;
			view->w1 = word;
			return true;
		}
		enum insert_made made = insert_try(table, slot_pair(table, view->key), tag, view->row,
						   now.mine, 0, view->now, &claim);
		if (made == INSERT_FULL)
			return false;
		/* I1 */
		if (made == INSERT_AGAIN ||
		    !atomic_cas_pair(&claim.slot->w0, claim.w0, claim.w1, tag | view->row, word))
			continue;
		stats_add(&table->area->process.inserted, 1);
		view->w0 = tag | view->row;
		view->w1 = word;
		return true;
	}
	return true;
}

void log_ring_loosen(struct log_view *view)
{
	for (unsigned try = 0; try < TRIES; try++) {
		struct log_view now = *view;
		enum log_found found = log_find(&now, view->row);
		if (found == LOG_AGAIN)
			continue;
		if (found != LOG_FOUND || !now.slot)
			return;
		/* Also one that another plan, or an older policy, has written: it is said in its own terms. */
		const struct ledger_row *its = recall_row(view->table, slot_row(now.w0));
		if (!its || its->numbers.kind != ALGO_SLIDING_LOG || now.w1 == 0 ||
		    log_ring_order(now.w1) == LOG_LOOSE)
			return;
		uint64_t word = now.w1 & ~(UINT64_C(3) << (LOG_EXTRA_SHIFT + 4));
		word |= (uint64_t)LOG_LOOSE << (LOG_EXTRA_SHIFT + 4);
		if (atomic_cas_pair(&now.slot->w0, now.w0, now.w1, now.w0, word)) /* I2 */
			return;
	}
}

static bool end_cell(const struct log_cell *cell)
{
	uint64_t period = cell->at.row->numbers.scale;
	uint64_t then = cell->raw > period ? (cell->raw - period) & ~(uint64_t)(LOG_UNIT - 1) : 0;
	uint64_t word = CELL_MARK | log_cell_data(then, cell->lap, LOG_GIVEN);
	return atomic_cas_pair(&cell->at.slot->w0, cell->at.w0, cell->at.w1, cell->at.w0, word); /* I2, I16 */
}

/* False: there is nothing (more) to be done here. */
static bool cell_again(struct log_view *view, uint32_t index, struct log_cell *out)
{
	for (unsigned try = 0; try < TRIES; try++) {
		recall_fresh(view->table);
		view->mine = recall_row(view->table, view->row);
		if (!view->mine || view->count == 0) /* a newer row that was met allows none */
			return false;
		if (log_cell_read(view, index % view->count, out))
			return out->at.slot != NULL;
	}
	return false;
}

uint32_t log_end(struct log_view *view, uint32_t from, uint32_t steps, uint64_t raw, uint32_t cost)
{
	uint32_t ended = 0;
	for (uint32_t step = 0; step < steps && ended < cost; step++) {
		struct log_cell cell;
		while (cell_again(view, from + step, &cell) && cell.raw == raw && !cell.given)
			if (end_cell(&cell)) {
				ended++;
				break;
			}
	}
	return ended;
}

uint32_t log_forget(struct log_view *view)
{
	uint32_t removed = 0;
	for (uint32_t i = 0, count = view->count; i < count && i < view->count; i++) {
		struct log_cell cell;
		while (cell_again(view, i, &cell))
			if (cell_remove(&cell.at)) { /* I2 */
				removed++;
				break;
			}
	}
	return removed;
}
