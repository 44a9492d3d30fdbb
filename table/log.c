/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: the decision of a sliding log.
 *
 * A cell is taken only from a word that has ended, by one compare-and-swap; that alone keeps the limit. The rest is
 * about finding such a cell in few looks, and about saying truly when there will be one.
 */
#include "table/log.h"

#include "table/insert.h"
#include "table/key.h"
#include "table/log_ring.h"

#define TRIES	   1024u
#define WAIT_MAX   64u
#define GIVE_TRIES 4u

static void again(struct table *table, unsigned try)
{
	stats_add(&table->area->process.retries, 1);
	/* Two who take each other's last cells get out of step. */
	unsigned pauses = try * (1 + table->process_index % 7);
	for (unsigned i = pauses < WAIT_MAX ? pauses : WAIT_MAX; i > 0; i--)
		atomic_pause();
}

/* ---- looking ------------------------------------------------------------------------------------------ */

/* Of a view that was found. False: begin again. */
static bool judge(struct log_view *view, uint32_t cost, struct log_room *room, struct table_look *out)
{
	uint32_t asked = cost == 0 ? 1 : cost < view->count ? cost : view->count;
	*room = (struct log_room){.fits_at = ALGO_NEVER};
	if (view->count > 0 && !log_look(view, asked, room))
		return false;
	*out = (struct table_look){.numbers = view->mine->numbers,
				   .state = view->w1,
				   .allowed = (uint64_t)room->used + cost <= view->count,
				   .found = view->slot || room->used,
				   .used = room->used,
				   .empty_at = room->empty_at};
	if (!out->allowed)
		out->fits_at = cost <= view->count ? room->fits_at : ALGO_NEVER;
	return true;
}

void log_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
	      uint32_t cost, struct table_look *out)
{
	struct log_view view = {.table = table, .key = key, .now = t->now};
	uint32_t under = row;
	for (unsigned try = 0; try < TRIES; try++) {
		struct log_room room;
		enum log_found found = log_find(&view, under);
		if (found == LOG_UNKNOWN && under == row)
			break;
		if (found == LOG_OTHER) {
			table_peek(table, key, view.row, t, cost, out);
			return;
		}
		if (found == LOG_FOUND && judge(&view, cost, &room, out))
			return;
		under = found == LOG_FOUND && !recall_stale(table) ? view.row : row;
	}
	probe_unknown(out);
}

/* ---- taking ------------------------------------------------------------------------------------------- */

enum took { TOOK, TOOK_NONE, TOOK_NO_ROOM };

struct grasp { /* what has been taken so far */
	uint32_t count, first, last;
	uint64_t end;
	bool loose; /* out of order: somebody else took a cell in between, and later */
};

static bool take_cell(struct log_view *view, const struct log_room *room, struct log_cell *cell, bool lap,
		      struct grasp *grasp, bool *full)
{
	uint32_t used = room->used + grasp->count + 1;
	uint64_t data = log_cell_data(grasp->end, lap, log_share(used, view->count));
	/* I16: absent, or ended as the very word that is replaced says; and it stays the newest row's (I5). */
	enum cell_stored stored = cell_store(view->table, &cell->key, false, view->row, view->mine, &cell->at,
					     data, view->now);
	*full = stored == CELL_NO_ROOM;
	if (stored != CELL_STORED)
		return false;
	if (grasp->count++ == 0)
		grasp->first = cell->index;
	grasp->last = cell->index;
	return true;
}

/* Cells that others take meanwhile are passed over, once round. */
static enum took take(struct log_view *view, const struct log_room *room, uint32_t cost, struct grasp *grasp)
{
	uint32_t n = view->count, at = room->start;
	uint64_t end = view->now + view->period;
	struct log_cell cell;
	bool full = false, lap;
	*grasp = (struct grasp){.end = log_round(end > room->newest ? end : room->newest)};
	if (!log_cell_read(view, (at + n - 1) % n, &cell))
		return TOOK_NONE;
	lap = cell.lap;
	for (uint32_t step = 0, tries = 0; step < n && grasp->count < cost && tries < TRIES;) {
		if (!log_cell_read(view, at, &cell))
			return TOOK_NONE;
		if (!log_cell_live(view, &cell)) {
			if (!take_cell(view, room, &cell, lap != (at == 0), grasp, &full)) {
				if (full)
					return TOOK_NO_ROOM;
				tries++;
				continue; /* look at it again */
			}
			lap = lap != (at == 0);
		} else {
			/* Ends go on in order: ours are at least as late as those before them. */
			if (grasp->count == 0 && log_round(cell.end) > grasp->end)
				grasp->end = log_round(cell.end);
			grasp->loose |= cell.end > grasp->end;
			lap = cell.lap;
		}
		step++;
		at = (at + 1) % n;
	}
	return grasp->count == cost ? TOOK : TOOK_NONE;
}

/* Cells that end at the same time are alike, and whoever gives one back takes the next best: if another one took ours,
 * he left us his, perhaps behind our back. */
static void give(struct log_view *view, uint32_t from, uint32_t steps, uint64_t raw, uint32_t cost)
{
	for (unsigned try = 0; cost > 0 && view->count > 0 && try < GIVE_TRIES; try++) {
		cost -= log_end(view, from % view->count, steps, raw, cost);
		from = 0;
		steps = view->count;
	}
}

/* All or none. Whoever dies here leaves at most `cost` cells, until they end; so does who has met a newer row that allows
 * none, under which there are no cells to look at. */
static void let_go(struct log_view *view, const struct grasp *grasp)
{
	if (grasp->count == 0 || view->count == 0)
		return;
	uint32_t n = view->count, steps = (grasp->last + n - grasp->first) % n + 1;
	give(view, grasp->first, steps, grasp->end, grasp->count);
	log_ring_loosen(view);
}

static enum took charge(struct log_view *view, const struct log_room *room, uint32_t cost,
			struct grasp *grasp, struct table_look *out)
{
	enum took took = take(view, room, cost, grasp);
	if (took == TOOK) {
		enum log_order order = room->order == LOG_ORDERED && !grasp->loose ? LOG_ORDERED : LOG_LOOSE;
		out->used = room->used + cost;
		if (!log_ring_point(view, room->start, (grasp->last + 1) % view->count, grasp->end, order,
				    log_share(out->used, view->count)))
			took = TOOK_NO_ROOM;
	}
	if (took != TOOK) {
		let_go(view, grasp);
		return took;
	}
	out->state = view->w1;
	out->empty_at = grasp->end > out->empty_at ? grasp->end : out->empty_at;
	out->fits_at = room->fits_at != ALGO_NEVER ? room->fits_at : grasp->end;
	return TOOK;
}

/* A look at all the cells has found out what the next ones need not look for again. */
static void remember(struct log_view *view, const struct log_room *room)
{
	if (room->scanned && view->slot && (room->order != view->order || room->start != view->next))
		log_ring_point(view, view->next, room->start, view->until, room->order, view->share);
}

static enum table_charge refused(struct log_view *view, const struct log_room *room)
{
	remember(view, room);
	key_shun(view->table, slot_pair_index(view->table, view->key));
	return TABLE_REFUSED;
}

static enum table_charge other_kind(struct log_view *view, uint32_t row, const struct algo_time *t,
				    uint32_t cost, struct log_taken *taken, struct table_look *out)
{
	const struct ledger_row *mine = recall_row(view->table, row);
	*taken = (struct log_taken){0, t->now + (mine ? mine->numbers.scale : 0)};
	return table_charge(view->table, view->key, view->row, t, cost, out);
}

enum table_charge log_charge(struct table *table, const struct table_key *key, uint32_t row,
			     const struct algo_time *t, uint32_t cost, struct log_taken *taken,
			     struct table_look *out)
{
	struct log_view view = {.table = table, .key = key, .now = t->now};
	struct log_taken none;
	uint32_t under = row;
	for (unsigned try = 0; !table->read_only && try < TRIES; again(table, try++)) {
		struct log_room room;
		struct grasp grasp;
		enum log_found found = log_find(&view, under);
		if (found == LOG_UNKNOWN && under == row)
			break;
		if (found == LOG_OTHER)
			return other_kind(&view, row, t, cost, taken ? taken : &none, out);
		if (found == LOG_FOUND && judge(&view, cost, &room, out)) {
			if (!out->allowed)
				return refused(&view, &room);
			if (cost == 0)
				return TABLE_CHARGED;
			enum took took = charge(&view, &room, cost, &grasp, out);
			if (took == TOOK_NO_ROOM)
				break;
			if (took == TOOK) {
				if (taken)
					*taken = (struct log_taken){grasp.first, grasp.end};
				key_welcome(table, slot_pair_index(table, key));
				return TABLE_CHARGED;
			}
		}
		under = found == LOG_FOUND && !recall_stale(table) ? view.row : row;
	}
	probe_unknown(out);
	stats_add(&table->area->process.no_room, 1);
	return TABLE_NO_ROOM;
}

/* ---- giving back --------------------------------------------------------------------------------------- */

uint64_t log_stamp(const struct algo_numbers *numbers, uint64_t charged_at)
{
	return log_round(charged_at + numbers->scale);
}

/* The newest ones: the ring goes back by as many, and stays in order. */
static uint32_t give_newest(struct log_view *view, uint64_t raw, uint32_t cost)
{
	uint32_t n = view->count, at = view->next, cleared = 0;
	while (cleared < cost && cleared < n) {
		uint32_t last = (at + n - 1) % n;
		if (!log_end(view, last, 1, raw, 1) || view->count != n)
			break;
		at = last;
		cleared++;
	}
	if (cleared) {
		uint64_t w1 = (view->w1 & ~((UINT64_C(1) << LOG_NEXT_BITS) - 1)) | at;
		/* I2: only back from where it was, else whoever moved it does not know of the holes. */
		if (!atomic_cas_pair(&view->slot->w0, view->w0, view->w1, view->w0, w1))
			log_ring_loosen(view);
	}
	return cleared;
}

void log_uncharge(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		  const struct log_taken *taken, uint32_t cost)
{
	struct log_view view = {.table = table, .key = key, .now = t->now};
	/* A stamp of 0 is no log's. */
	for (unsigned try = 0; !table->read_only && taken->stamp && cost && try < TRIES; try++) {
		enum log_found found = log_find(&view, row);
		if (found == LOG_AGAIN)
			continue;
		const struct ledger_row *its = recall_row(table, row);
		uint64_t period = its ? its->numbers.scale : 0;
		if (found == LOG_OTHER)
			table_uncharge(table, key, view.row, t,
				       taken->stamp > period ? taken->stamp - period : 0, cost);
		if (found != LOG_FOUND || view.count == 0 || view.count > LOG_HOLES_MAX ||
		    (view.period == period && taken->stamp <= t->now))
			return;
		if (view.slot && view.order == LOG_ORDERED && slot_row(view.w0) == view.row)
			cost -= give_newest(&view, taken->stamp, cost);
		if (cost && view.count) {
			log_ring_loosen(&view); /* first: then a hole is never overlooked */
			give(&view, taken->cell, view.count, taken->stamp, cost);
		}
		return;
	}
}
