/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hold: look, reach, look again, keep or let go.
 *
 * The proof (I13, I14: table/DESIGN.md) stands on three orders: a hold can be seen before its owner adds up the others';
 * holds are added up before the key's word is read; and a cost is charged to the word before its hold is given up.
 * That of two who reach for the last unit one gets it stands on a fourth: nobody is refused by anything but a look
 * made while he himself holds nothing tentative.
 */
#include "table/hold.h"

#include "algo/step.h"
#include "table/log.h"
#include "table/quota.h"

#define TRIES	  1024u
#define WAITS	  64u /* looks at one who is still finding out, before one goes without */
#define PAUSE_MAX 64u
#define NOBODY	  UINT32_MAX

struct others { /* what other process slots hold, and who judges */
	uint64_t units;
	uint32_t tentative;	       /* the lowest of them that is still finding out, or NOBODY */
	uint32_t row;		       /* the newest of the caller's and all holds' of its plan */
	const struct ledger_row *mine; /* the same */
};

struct ask { /* who wants to know */
	const struct table_key *key;
	uint32_t row;
	const struct algo_time *t;
	const struct algo_bound *bound; /* NULL: none */
};

enum fit {
	FIT_YES,
	FIT_NO,
	FIT_AGAIN,   /* something moved under the look */
	FIT_UNKNOWN, /* the row is in no ledger */
};

static void pause_for(struct table *table, uint32_t pauses)
{
	stats_add(&table->area->process.retries, 1);
	for (uint32_t i = pauses < PAUSE_MAX ? pauses : PAUSE_MAX; i > 0; i--)
		atomic_pause();
}

bool hold_dead(struct table *table, uint64_t word, uint64_t now)
{
	return hold_units(word) == 0 || !process_owns(table, hold_process(word), hold_owner(word), now);
}

/* ---- looking -------------------------------------------------------------------------------------- */

/* False: the ledger has moved on, or a cell never stood still. */
static bool find(struct table *table, const struct table_key *derived, uint32_t row,
		 const struct ledger_row *mine, struct cell *out, bool *there)
{
	enum probe_found found = PROBE_STALE;
	for (unsigned try = 0; found == PROBE_STALE && try < TRIES; try++) {
		found = cell_find(table, derived, true, row, mine, out);
		if (recall_stale(table))
			return false;
	}
	*there = found == PROBE_FOUND;
	return found != PROBE_STALE;
}

static bool add_up(struct table *table, const struct table_key *key, uint32_t but, uint64_t now,
		   struct others *out)
{
	const struct ledger_row *mine = out->mine;
	uint32_t row = out->row;
	for (uint32_t i = 0; i < table->process_slots; i++) {
		uint32_t owners = atomic_get32(&table->processes[i].owners);
		struct cell cell;
		bool there;
		if (owners == 0) /* I15: nor has any behind it had one */
			break;
		if (i == but || process_gone(table, i, owners))
			continue;
		struct table_key derived = cell_key(key, true, i);
		if (!find(table, &derived, row, mine, &cell, &there))
			return false;
		if (!there || hold_process(cell.w1) != i || hold_dead(table, cell.w1, now))
			continue;
		out->units += hold_units(cell.w1);
		if (cell.w1 & HOLD_TENTATIVE && out->tentative == NOBODY)
			out->tentative = i;
		if (cell.row && recall_newer(cell.row, out->mine)) { /* I5 */
			out->row = slot_row(cell.w0);
			out->mine = cell.row;
		}
	}
	return true;
}

static void see(const struct algo_numbers *numbers, const struct ask *ask, struct algo_numbers *out)
{
	if (ask->bound)
		algo_bounded(numbers, ask->bound, out);
	else
		*out = *numbers;
}

static enum fit word_fits(struct table *table, const struct ask *ask, const struct others *others,
			  uint32_t units, struct table_look *out)
{
	struct probe at;
	struct algo_outcome outcome;
	enum probe_found found = probe_find(table, slot_pair(table, ask->key), slot_tag(ask->key),
					    others->row, others->mine, ask->t, &at);
	if (found == PROBE_STALE || (found == PROBE_FOUND && !slot_still(at.slot, at.w0, at.w1)))
		return FIT_AGAIN;
	if (at.numbers->kind == ALGO_SLIDING_LOG) {
		log_peek(table, ask->key, slot_row(at.keep), ask->t, units, out);
		return out->allowed ? FIT_YES : FIT_NO;
	}
	*out = (struct table_look){.state = at.state, .found = found == PROBE_FOUND};
	see(at.numbers, ask, &out->numbers);
	step_inline(&out->numbers, at.state, ask->t, units, &outcome);
	out->allowed = outcome.allowed;
	return outcome.allowed ? FIT_YES : FIT_NO;
}

/* Do `units`, those of `but` included, fit beside what everybody else holds and what is used? In this order (I14). */
static enum fit judge(struct table *table, const struct ask *ask, uint32_t but, uint64_t units,
		      struct others *others, struct table_look *out)
{
	recall_fresh(table);
	*others = (struct others){.tentative = NOBODY, .row = ask->row, .mine = recall_row(table, ask->row)};
	if (!others->mine)
		return FIT_UNKNOWN;
	if (!add_up(table, ask->key, but, ask->t->now, others))
		return FIT_AGAIN;
	units += others->units;
	uint32_t all = units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
	if (others->mine->numbers.kind != ALGO_CONCURRENT)
		return word_fits(table, ask, others, all, out);
	*out = (struct table_look){0};
	see(&others->mine->numbers, ask, &out->numbers);
	out->allowed = units <= out->numbers.capacity;
	return out->allowed ? FIT_YES : FIT_NO;
}

void hold_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
	       uint32_t units, const struct algo_bound *bound, struct table_look *out)
{
	const struct ask ask = {key, row, t, bound};
	struct others others;
	for (unsigned try = 0, waits = 0; try < TRIES; try++) {
		enum fit fit = judge(table, &ask, NOBODY, units, &others, out);
		if (fit == FIT_UNKNOWN)
			break;
		if (fit == FIT_AGAIN)
			continue;
		if (fit == FIT_NO && others.tentative != NOBODY && waits++ < WAITS) {
			pause_for(table, waits);
			continue;
		}
		out->held = others.units < UINT32_MAX ? (uint32_t)others.units : UINT32_MAX;
		out->found = out->found || others.units;
		return;
	}
	probe_unknown(out);
}

/* ---- one's own ------------------------------------------------------------------------------------ */

static uint64_t own_data(const struct table *table, uint32_t units, bool tentative)
{
	uint64_t who = (uint64_t)table->process_index << HOLD_OWNER_BITS | process_owner(table);
	return (tentative ? HOLD_TENTATIVE : 0) | who << HOLD_UNIT_BITS | units;
}

static bool is_own(const struct table *table, uint64_t w1)
{
	uint64_t data = own_data(table, 0, false);
	return (w1 & CELL_DATA & ~HOLD_TENTATIVE & ~(uint64_t)HOLD_UNITS_MAX) == data;
}

/* The word says whose it is, so also if the ledger knows the row no more, or gave it to another limit. Of two keys that
 * share a tag (one in 2^40) the row's identity tells which. */
static bool own_find(struct table *table, const struct table_key *key, uint32_t row, struct slot *out,
		     struct slot **slot)
{
	const struct table_key derived = cell_key(key, true, table->process_index);
	const struct ledger_row *mine = recall_known(table, row);
	struct slot_pair *pair = slot_pair(table, &derived);
	uint64_t tag = slot_tag(&derived);
	*slot = NULL;
	for (unsigned mask = slot_matches(pair, tag); mask; mask &= mask - 1) {
		struct slot *way = &pair->ways[__builtin_ctz(mask)];
		struct slot at = {atomic_get(&way->w0), atomic_get(&way->w1)};
		if (!slot_has_tag(at.w0, tag) || !cell_is_hold(at.w1) || !is_own(table, at.w1))
			continue;
		bool same = !mine || probe_same(table, mine, row, at.w0);
		if (same || !*slot) {
			*slot = way;
			*out = at;
		}
		if (same)
			break;
	}
	return *slot != NULL;
}

uint32_t hold_row(struct table *table, const struct table_key *key, uint32_t row)
{
	struct slot *slot, own;
	if (!table->process || !own_find(table, key, row, &own, &slot) || hold_units(own.w1) == 0)
		return row;
	return slot_row(own.w0);
}

void hold_lower(struct table *table, const struct table_key *key, uint32_t row, uint32_t units)
{
	struct slot *slot, own;
	/* Nobody else writes it while it holds something: once, unless the table is damaged. */
	for (unsigned try = 0; table->process && units && try < TRIES; try++) {
		if (!own_find(table, key, row, &own, &slot))
			return;
		uint32_t had = hold_units(own.w1), left = had > units ? had - units : 0;
		uint64_t word = CELL_MARKS | own_data(table, left, false);
		if (atomic_cas_pair(&slot->w0, own.w0, own.w1, own.w0,
				    word)) /* I2, I14: the word is charged */
			return;
	}
}

/* What was tentative is held. */
static bool keep(struct table *table, const struct table_key *key, uint32_t row, uint32_t units)
{
	struct slot *slot, own;
	uint64_t word = CELL_MARKS | own_data(table, units, false);
	return own_find(table, key, row, &own, &slot) && own.w1 == (word | HOLD_TENTATIVE) &&
	       atomic_cas_pair(&slot->w0, own.w0, own.w1, own.w0, word); /* I2 */
}

/* Makes it `units` more, tentatively. *had: what it was. */
static enum cell_stored reach(struct table *table, const struct table_key *key, uint32_t row, uint64_t now,
			      uint32_t units, uint32_t *had)
{
	const struct table_key derived = cell_key(key, true, table->process_index);
	struct cell cell;
	bool there;
	recall_fresh(table);
	const struct ledger_row *mine = recall_row(table, row);
	if (!mine || !find(table, &derived, row, mine, &cell, &there))
		return CELL_CHANGED;
	*had = there && is_own(table, cell.w1) ? hold_units(cell.w1) : 0; /* another owner's is nobody's */
	if (units > HOLD_UNITS_MAX - *had)
		return CELL_NO_ROOM;
	/* I18: whether the cell is new or lies there empty, which would let one key after the other fill the pair. */
	if (*had == 0 && !quota_may_hold(table, slot_pair(table, &derived), mine, now))
		return CELL_NO_ROOM;
	/* I13: seen by everybody before we look at them. */
	return cell_store(table, &derived, true, row, mine, &cell, own_data(table, *had + units, true), now);
}

/* While it is tentative. Of several who are in each other's way the lowest process slot stays, the others make
 * room for it: else they might go on meeting for ever. */
static enum fit insist(struct table *table, const struct ask *ask, uint32_t own, struct others *others,
		       unsigned *waits, struct table_look *out)
{
	for (unsigned try = 0; try < TRIES; try++) {
		enum fit fit = judge(table, ask, table->process_index, own, others, out);
		if (fit == FIT_AGAIN)
			continue;
		if (fit != FIT_NO || others->tentative == NOBODY ||
		    others->tentative < table->process_index || *waits >= WAITS)
			return fit;
		pause_for(table, ++*waits);
	}
	return FIT_AGAIN;
}

enum table_charge hold_take(struct table *table, const struct table_key *key, uint32_t row,
			    const struct algo_time *t, uint32_t units, const struct algo_bound *bound,
			    struct table_look *out)
{
	const struct ask ask = {key, row, t, bound};
	struct others others;
	unsigned waits = 0;
	for (unsigned try = 0; !table->read_only && try < TRIES; try++) {
		uint32_t had;
		enum fit fit = judge(table, &ask, NOBODY, units, &others, out);
		if (fit == FIT_UNKNOWN)
			break;
		if (fit == FIT_AGAIN)
			continue;
		out->held = others.units < UINT32_MAX ? (uint32_t)others.units : UINT32_MAX;
		out->found = out->found || others.units;
		if (fit == FIT_YES && units == 0)
			return TABLE_CHARGED;
		if (fit == FIT_NO) {
			if (others.tentative == NOBODY || waits >= WAITS)
				return TABLE_REFUSED;
			pause_for(table, ++waits);
			continue;
		}
		enum cell_stored stored = reach(table, key, row, t->now, units, &had);
		if (stored == CELL_NO_ROOM)
			break;
		if (stored == CELL_CHANGED) {
			pause_for(table, try);
			continue;
		}
		fit = insist(table, &ask, had + units, &others, &waits, out);
		/* I13, I14: everything that was held before ours could be seen has been counted, and fits. */
		if (fit == FIT_YES && keep(table, key, row, had + units)) {
			out->held = (uint32_t)others.units + had + units;
			out->found = out->found || others.units + had;
			return TABLE_CHARGED;
		}
		hold_lower(table, key, row, units);
		pause_for(table, 1 + (table->process_index + try) % PAUSE_MAX);
	}
	probe_unknown(out);
	stats_add(&table->area->process.no_room, 1);
	return TABLE_NO_ROOM;
}
