/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * charge: the decision itself.
 *
 * A known key costs one compare-and-swap, a refusal none (T5). Every loop is bounded: with others
 * deciding, a failed compare-and-swap means that one of them got on; without them it means damage.
 */
#include "table/charge.h"

#include "algo/ban.h"
#include "algo/grant.h"
#include "algo/step.h"
#include "table/hold.h"
#include "table/insert.h"
#include "table/log.h"

#define TRIES	 1024u
#define PATIENCE 4u  /* tries before one waits for the others a little */
#define WAIT_MAX 64u /* pauses */

/* Of a plain counter. */
static inline void answer(struct table_look *out, const struct algo_numbers *numbers, uint64_t state,
			  bool allowed, bool found)
{
	out->numbers = *numbers;
	out->state = state;
	out->allowed = allowed;
	out->found = found;
	out->held = out->used = 0;
	out->fits_at = out->empty_at = 0;
}

/* Begin again. Waiting longer each time lets two that take each other's slots get out of step. */
static void again(struct table *table, unsigned try)
{
	stats_add(&table->area->process.retries, 1);
	for (unsigned i = try < PATIENCE ? 0 : try < WAIT_MAX ? try : WAIT_MAX; i > 0; i--)
		atomic_pause();
}

/* As this asker sees them: only now, when it is known which row judges. */
static inline void narrow(struct probe *at, const struct charge_ask *ask, struct algo_numbers *own)
{
	if (!ask->bound)
		return;
	algo_bounded(at->numbers, ask->bound, own);
	at->numbers = own;
}

/* The kinds whose use is in cells; `row` is the one that judges. */
static void look_at_cells(struct table *table, const struct table_key *key, uint32_t row, enum algo_kind kind,
			  const struct charge_ask *ask, const struct algo_time *t, struct table_look *out)
{
	if (kind == ALGO_SLIDING_LOG)
		log_peek(table, key, row, t, ask->cost, out);
	else
		hold_peek(table, key, row, t, ask->cost, ask->bound, out);
}

static enum table_charge charge_cells(struct table *table, const struct table_key *key, uint32_t row,
				      enum algo_kind kind, const struct charge_ask *ask,
				      const struct algo_time *t, struct table_look *out)
{
	if (kind == ALGO_SLIDING_LOG && ask->act == CHARGE_FITS)
		return log_charge(table, key, row, t, ask->cost, NULL, out);
	look_at_cells(table, key, row, kind, ask, t, out);
	out->allowed = false;
	return TABLE_REFUSED;
}

void __attribute__((noinline))
charge_peek(struct table *table, const struct table_key *key, const struct charge_ask *ask,
	    const struct algo_time *t, struct table_look *out)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);

	for (unsigned try = 0; try < TRIES; try++) {
		struct probe at;
		struct algo_numbers own;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, ask->row);
		if (!mine)
			break;
		if (ALGO_IN_CELLS(mine->numbers.kind)) {
			look_at_cells(table, key, ask->row, mine->numbers.kind, ask, t, out);
			return;
		}
		enum probe_found found = probe_find(table, pair, tag, ask->row, mine, t, &at);
		if (found == PROBE_STALE || (found == PROBE_FOUND && !slot_still(at.slot, at.w0, at.w1)))
			continue;
		if (ALGO_IN_CELLS(at.numbers->kind)) { /* by a newer policy: so it is judged */
			look_at_cells(table, key, slot_row(at.keep), at.numbers->kind, ask, t, out);
			return;
		}
		struct algo_outcome outcome;
		narrow(&at, ask, &own);
		step_inline(at.numbers, at.state, t, ask->cost, &outcome);
		answer(out, at.numbers, at.state, outcome.allowed, found == PROBE_FOUND);
		return;
	}
	probe_unknown(out);
}

void table_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		uint32_t cost, struct table_look *out)
{
	uint64_t index = slot_pair_index(table, key);
	struct charge_known at = charge_find(table, &table->pairs[index], slot_tag(key), row);
	struct algo_outcome outcome;
	if (__builtin_expect(at.numbers && slot_still(at.slot, at.w0, at.w1), 1)) {
		step_inline(at.numbers, at.w1, t, cost, &outcome);
		answer(out, at.numbers, at.w1, outcome.allowed, true);
	} else {
		charge_peek(table, key, &(struct charge_ask){.row = row, .cost = cost}, t, out);
	}
	if (!out->allowed)
		key_shun(table, index);
}

static inline bool refuses(enum charge_act act)
{
	return act == CHARGE_PUNISH || act == CHARGE_BAN;
}

/* What the word becomes, if it is no charge; outcome->allowed: it is to be stored. */
static void become(const struct charge_ask *ask, const struct probe *at, bool there,
		   const struct algo_time *t, struct algo_outcome *outcome)
{
	struct ban_outcome ban;
	*outcome = (struct algo_outcome){.state = at->state};
	switch (ask->act) {
	case CHARGE_FITS:
		break;
	case CHARGE_PUNISH:
		outcome->state = algo_punish(at->numbers, at->state, t, ask->cost);
		outcome->allowed = outcome->state != at->state;
		break;
	case CHARGE_SPEND:
		if (there && !algo_recovered(at->numbers, at->state, t->now))
			algo_step(at->numbers, at->state, t, ask->cost, outcome);
		break;
	case CHARGE_BAN:
		if (at->numbers->kind != ALGO_BAN)
			break;
		algo_ban(at->numbers, at->state, t->now, ask->length_ns, &ban);
		*outcome = (struct algo_outcome){ban.word, ban.began};
		break;
	case CHARGE_GRANT:
		if (grant_is(at->numbers))
			*outcome = (struct algo_outcome){grant_word(at->numbers, ask->cost, ask->until),
							 true};
		break;
	}
}

/* Store what the word becomes. */
enum table_charge __attribute__((noinline))
charge_move(struct table *table, const struct table_key *key, const struct charge_ask *ask,
	    const struct algo_time *t, struct table_look *out)
{
	const uint32_t row = ask->row, cost = ask->cost;
	uint64_t index = slot_pair_index(table, key), tag = slot_tag(key);
	struct slot_pair *pair = &table->pairs[index];

	for (unsigned try = 0; try < TRIES; again(table, try++)) {
		struct probe at;
		struct insert_claim claim;
		struct algo_outcome outcome;
		struct algo_numbers own;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, row);
		if (__builtin_expect(!mine || table->read_only, 0))
			break;
		if (__builtin_expect(ALGO_IN_CELLS(mine->numbers.kind), 0))
			return charge_cells(table, key, row, mine->numbers.kind, ask, t, out);

		enum probe_found found = probe_find(table, pair, tag, row, mine, t, &at);
		if (__builtin_expect(found == PROBE_STALE, 0))
			continue;
		if (__builtin_expect(ALGO_IN_CELLS(at.numbers->kind), 0)) /* by a newer policy */
			return charge_cells(table, key, slot_row(at.keep), at.numbers->kind, ask, t, out);
		narrow(&at, ask, &own);
		if (__builtin_expect(ask->act == CHARGE_FITS, 1))
			step_inline(at.numbers, at.state, t, cost, &outcome);
		else
			become(ask, &at, found == PROBE_FOUND, t, &outcome);
		answer(out, at.numbers, at.state, outcome.allowed && !refuses(ask->act),
		       found == PROBE_FOUND);
		if (!outcome.allowed || cost == 0) { /* nothing to write */
			if (found == PROBE_FOUND && !slot_still(at.slot, at.w0, at.w1))
				continue;
			if (!outcome.allowed)
				key_shun(table, index);
			return out->allowed ? TABLE_CHARGED : TABLE_REFUSED;
		}

		if (__builtin_expect(found == PROBE_ABSENT, 0)) {
			enum insert_made made = insert_try(table, pair, tag, row, mine, 0, t->now, &claim);
			if (made == INSERT_FULL)
				break;
			if (made == INSERT_AGAIN)
				continue;
			/* I1: only now, and only from the very claim that was looked around from. */
			if (!atomic_cas_pair(&claim.slot->w0, claim.w0, claim.w1, tag | row, outcome.state))
				continue;
			stats_add(&table->area->process.inserted, 1);
		} else {
			/* I2, I5: from what was judged, tag, row and word; a new owner, other numbers or
			 * another charge in between make it fail. Without the row in it, a word could be
			 * stored under numbers it was not written for. */
			if (!atomic_cas_pair(&at.slot->w0, at.w0, at.w1, at.keep, outcome.state))
				continue;
			if (__builtin_expect(at.converted, 0))
				stats_add(&table->area->process.converted, 1);
		}
		out->state = outcome.state;
		key_welcome(table, index);
		return ask->act == CHARGE_PUNISH ? TABLE_REFUSED : TABLE_CHARGED;
	}
	probe_unknown(out);
	stats_add(&table->area->process.no_room, 1);
	return TABLE_NO_ROOM;
}

static enum table_charge __attribute__((noinline))
slowly(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
       uint32_t cost, struct table_look *out)
{
	return charge_move(table, key, &(struct charge_ask){.row = row, .cost = cost}, t, out);
}

enum table_charge table_charge(struct table *table, const struct table_key *key, uint32_t row,
			       const struct algo_time *t, uint32_t cost, struct table_look *out)
{
	uint64_t index = slot_pair_index(table, key);
	struct charge_known at = charge_find(table, &table->pairs[index], slot_tag(key), row);
	struct algo_outcome outcome;
	if (__builtin_expect(!at.numbers || table->read_only, 0))
		return slowly(table, key, row, t, cost, out);
	step_inline(at.numbers, at.w1, t, cost, &outcome);
	if (outcome.allowed && cost) {
		/* I2, I5: as in charge_move. */
		if (!atomic_cas_pair(&at.slot->w0, at.w0, at.w1, at.w0, outcome.state))
			return slowly(table, key, row, t, cost, out);
		key_welcome(table, index);
	} else {
		if (!slot_still(at.slot, at.w0, at.w1))
			return slowly(table, key, row, t, cost, out);
		if (!outcome.allowed)
			key_shun(table, index);
	}
	answer(out, at.numbers, outcome.state, outcome.allowed, true);
	return outcome.allowed ? TABLE_CHARGED : TABLE_REFUSED;
}

void table_punish(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		  uint32_t cost, struct table_look *out)
{
	charge_move(table, key, &(struct charge_ask){.row = row, .cost = cost, .act = CHARGE_PUNISH}, t, out);
}

void charge_undo(struct table *table, const struct table_key *key, const struct charge_ask *ask,
		 const struct algo_time *t, uint64_t charged_at)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);

	for (unsigned try = 0; try < TRIES; again(table, try++)) {
		struct probe at;
		struct algo_numbers own;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, ask->row);
		if (!mine || table->read_only)
			return;
		enum probe_found found = probe_find(table, pair, tag, ask->row, mine, t, &at);
		if (found == PROBE_STALE)
			continue;
		if (at.numbers->kind == ALGO_SLIDING_LOG) {
			struct log_taken taken = {0, log_stamp(at.numbers, charged_at)};
			log_uncharge(table, key, slot_row(at.keep), t, &taken, ask->cost);
			return;
		}
		if (found == PROBE_ABSENT) /* evicted: an absent key owes nothing */
			return;
		narrow(&at, ask, &own);
		uint64_t state = algo_give_back(at.numbers, at.state, t, charged_at, ask->cost);
		if (state == at.state)
			return;
		if (atomic_cas_pair(&at.slot->w0, at.w0, at.w1, at.keep, state)) /* I2, I5 */
			return;
	}
}

void table_uncharge(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		    uint64_t charged_at, uint32_t cost)
{
	charge_undo(table, key, &(struct charge_ask){.row = row, .cost = cost}, t, charged_at);
}
