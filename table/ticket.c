/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ticket: what was taken is settled or given back once, whoever asks and however often.
 *
 * Those that hold something are listed in their handle, oldest first: reservations that grow too old are charged,
 * and the process slot is not given back before the last of them ends.
 */
#include "table/hold.h"
#include "table/insert.h"
#include "table/log.h"

#define TRIES	1024u
#define LATE_NS UINT64_C(1000000000) /* so late can the clock of a settlement be */

static enum algo_kind kind_of(struct table *table, uint32_t row)
{
	recall_fresh(table);
	const struct ledger_row *mine = recall_row(table, row);
	return mine ? mine->numbers.kind : ALGO_NONE;
}

/* ---- the list --------------------------------------------------------------------------------------- */

static struct handle_tickets *list_of(struct table *table, const struct table_ticket *ticket)
{
	return ticket->rests ? &table->in_flight : &table->reserved;
}

static void enlist(struct table *table, struct table_ticket *ticket)
{
	struct handle_tickets *list = list_of(table, ticket);
	ticket->before = list->last;
	*(list->last ? &list->last->after : &list->first) = ticket;
	list->last = ticket;
	table->held++;
}

static void strike(struct table *table, struct table_ticket *ticket)
{
	struct handle_tickets *list = list_of(table, ticket);
	if (ticket->before)
		ticket->before->after = ticket->after;
	else
		list->first = ticket->after;
	if (ticket->after)
		ticket->after->before = ticket->before;
	else
		list->last = ticket->before;
	ticket->before = ticket->after = NULL;
	table->held--;
}

/* Among those in flight: there none grows old. */
void table_postpone(struct table *table, struct table_ticket *ticket)
{
	if (!ticket->live || ticket->how != TABLE_RESERVE || ticket->rests)
		return;
	strike(table, ticket);
	ticket->rests = 1;
	enlist(table, ticket);
}

void table_begin(struct table *table, struct table_ticket *ticket, const struct algo_time *t)
{
	if (!ticket->live || ticket->rests != 1)
		return;
	strike(table, ticket);
	ticket->at = t->now;
	ticket->rests = 0;
	enlist(table, ticket);
}

static void drop_all(struct handle_tickets *list)
{
	for (struct table_ticket *ticket = list->first, *after; ticket; ticket = after) {
		after = ticket->after;
		ticket->before = ticket->after = NULL;
		ticket->live = 0;
	}
	*list = (struct handle_tickets){NULL, NULL};
}

void ticket_close(struct table *table)
{
	drop_all(&table->reserved);
	drop_all(&table->in_flight);
	table->held = 0;
}

uint32_t table_held(const struct table *table)
{
	return table->held;
}

/* ---- taking ------------------------------------------------------------------------------------------ */

void table_peek_held(struct table *table, const struct table_key *key, uint32_t row,
		     const struct algo_time *t, uint32_t cost, struct table_look *out)
{
	hold_peek(table, key, row, t, cost, NULL, out);
}

static enum table_charge taken(struct table *table, enum table_charge result, const struct table_look *look,
			       struct table_ticket *ticket)
{
	ticket->live = result == TABLE_CHARGED;
	if (ticket->live && ticket->how == TABLE_RESERVE) {
		ticket->rests = look->numbers.kind == ALGO_CONCURRENT ? 2 : 0;
		enlist(table, ticket);
	}
	return result;
}

enum table_charge table_take(struct table *table, const struct table_key *key, uint32_t row,
			     const struct algo_time *t, uint32_t cost, enum table_how how,
			     struct table_ticket *ticket, struct table_look *out)
{
	enum table_charge result;
	*ticket = (struct table_ticket){
		.key = *key, .row = row, .cost = cost, .at = t->now, .how = (uint8_t)how};
	if (how == TABLE_RESERVE) {
		result = hold_take(table, key, row, t, cost, NULL, out);
	} else if (kind_of(table, row) == ALGO_SLIDING_LOG) {
		struct log_taken cells = {0};
		result = log_charge(table, key, row, t, cost, &cells, out);
		ticket->cell = cells.cell;
		ticket->stamp = cells.stamp;
	} else {
		result = table_charge(table, key, row, t, cost, out);
	}
	return taken(table, result, out, ticket);
}

enum table_charge table_take_bound(struct table *table, const struct table_key *key, uint32_t row,
				   const struct algo_time *t, const struct algo_bound *bound,
				   struct table_ticket *ticket, struct table_look *out)
{
	*ticket = (struct table_ticket){
		.key = *key, .row = row, .cost = 1, .at = t->now, .how = (uint8_t)TABLE_RESERVE};
	return taken(table, hold_take(table, key, row, t, 1, bound, out), out, ticket);
}

/* ---- settling ---------------------------------------------------------------------------------------- */

/* What was held fits, so at once, as a rule. But a caller whose clock is late may not see yet that an admission has
 * ended whose place others have taken: what has no room now is charged as of when it has, up to a second later; else
 * a window would hold more than is charged. A log cannot owe for longer: what a cost exceeds its hold by is not
 * charged then. */
static void charge_log(struct table *table, const struct table_key *key, uint32_t row,
		       const struct algo_time *t, uint32_t cost)
{
	struct table_look look;
	for (unsigned try = 0; cost > 0 && try < TRIES; try++) {
		struct algo_time at = *t;
		if (log_charge(table, key, row, t, cost, NULL, &look) != TABLE_REFUSED)
			return;
		uint32_t left = look.used < look.numbers.capacity
					? (uint32_t)look.numbers.capacity - look.used
					: 0;
		uint32_t some = left == 0 ? 1 : left < cost ? left : cost;
		if (left == 0) {
			log_peek(table, key, row, t, 1, &look);
			if (look.fits_at > t->now && look.fits_at != ALGO_NEVER)
				at.now = look.fits_at;
		}
		if (at.now - t->now > LATE_NS)
			return;
		if (log_charge(table, key, row, &at, some, NULL, &look) != TABLE_REFUSED)
			cost -= some;
	}
}

/* Whether it fits or not, and whoever must be forgotten for it: what was granted is to be counted, else guesses would be
 * free in a full table. Only where eight live holds meet it is as if it were forgotten at once. */
static void charge(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		   uint32_t cost)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);
	for (unsigned try = 0; cost > 0 && try < TRIES; try++) {
		struct probe at;
		struct insert_claim claim = {0};
		enum insert_made made = INSERT_MADE;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, row);
		if (!mine)
			return;
		enum probe_found found = probe_find(table, pair, tag, row, mine, t, &at);
		if (found == PROBE_STALE)
			continue;
		if (at.numbers->kind == ALGO_SLIDING_LOG) {
			charge_log(table, key, slot_row(at.keep), t, cost);
			return;
		}
		uint64_t state = algo_settle(at.numbers, at.state, t, cost);
		if (state == at.state) /* in flight, too */
			return;
		if (found == PROBE_ABSENT) {
			made = insert_try(table, pair, tag, row, mine, 0, t->now, &claim);
			at.slot = claim.slot;
			at.w0 = claim.w0;
			at.w1 = claim.w1;
		}
		if (made == INSERT_FULL)
			break;
		/* I1, I2, I5: from the very claim that was looked around from, or from what was judged. */
		if (made == INSERT_MADE && atomic_cas_pair(&at.slot->w0, at.w0, at.w1, at.keep, state)) {
			if (found == PROBE_ABSENT)
				stats_add(&table->area->process.inserted, 1);
			else if (at.converted)
				stats_add(&table->area->process.converted, 1);
			return;
		}
		stats_add(&table->area->process.retries, 1);
	}
	if (cost > 0)
		stats_add(&table->area->process.no_room, 1);
}

static void settle_charged(struct table *table, struct table_ticket *ticket, const struct algo_time *t,
			   uint32_t cost)
{
	if (cost > ticket->cost) {
		charge(table, &ticket->key, ticket->row, t, cost - ticket->cost);
	} else if (cost < ticket->cost && kind_of(table, ticket->row) == ALGO_SLIDING_LOG) {
		struct log_taken cells = {ticket->cell, ticket->stamp};
		log_uncharge(table, &ticket->key, ticket->row, t, &cells, ticket->cost - cost);
	} else if (cost < ticket->cost) {
		table_uncharge(table, &ticket->key, ticket->row, t, ticket->at, ticket->cost - cost);
	}
}

bool table_settle(struct table *table, struct table_ticket *ticket, const struct algo_time *t, uint32_t cost)
{
	if (!ticket->live)
		return false;
	ticket->live = 0;
	table->settling = true;
	if (ticket->how != TABLE_RESERVE) {
		if (!table->retired) /* it may hold its row no more: what is charged stays charged */
			settle_charged(table, ticket, t, cost);
	} else {
		/* I14: first the word, then the hold. */
		charge(table, &ticket->key, hold_row(table, &ticket->key, ticket->row), t, cost);
		hold_lower(table, &ticket->key, ticket->row, ticket->cost);
		strike(table, ticket);
	}
	table->settling = false;
	process_done(table);
	return true;
}

bool table_give_back(struct table *table, struct table_ticket *ticket, const struct algo_time *t)
{
	return table_settle(table, ticket, t, 0);
}

void ticket_charge(struct table *table, const struct algo_time *t)
{
	while (table->reserved.first)
		table_settle(table, table->reserved.first, t, table->reserved.first->cost);
	for (struct table_ticket *ticket = table->in_flight.first, *after; ticket; ticket = after) {
		after = ticket->after;
		if (ticket->rests == 1)
			table_settle(table, ticket, t, ticket->cost);
	}
}

void table_overdue(struct table *table, const struct algo_time *t)
{
	for (;;) {
		struct table_ticket *first = table->reserved.first;
		if (!first || t->now <= first->at + TABLE_RESERVE_MAX_NS)
			return;
		table_settle(table, first, t, first->cost);
	}
}
