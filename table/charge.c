/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * charge: the decision itself.
 *
 * A known key costs one compare-and-swap, a refusal none (T5). Every loop is bounded: with others
 * deciding, a failed compare-and-swap means that one of them got on; without them it means damage.
 */
#include "algo/step.h"
#include "table/hold.h"
#include "table/insert.h"
#include "table/key.h"
#include "table/log.h"
#include "table/probe.h"

#define TRIES	 1024u
#define PATIENCE 4u  /* tries before one waits for the others a little */
#define WAIT_MAX 64u /* pauses */

/* Of a plain counter. */
static inline void answer(struct table_look *out, const struct algo_numbers *numbers, uint64_t state,
			  bool allowed)
{
	out->numbers = *numbers;
	out->state = state;
	out->allowed = allowed;
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

/* The usual case, in a few dozen instructions: the key is there, charged, under the caller's own row, in the
 * first way that bears its tag. `numbers` NULL: something else, the long way finds out what. */
struct known {
	struct slot *slot;
	uint64_t w0, w1;
	const struct algo_numbers *numbers;
};

static inline __attribute__((always_inline)) struct known
known_find(const struct table *table, struct slot_pair *pair, uint64_t tag, uint32_t row)
{
	const struct ledger_row *mine = recall_known(table, row);
	unsigned mask = slot_matches(pair, tag);
	if (!mine || !mask || recall_stale(table))
		return (struct known){.numbers = NULL};
	struct slot *slot = &pair->ways[__builtin_ctz(mask)];
	uint64_t w0 = atomic_get(&slot->w0), w1 = atomic_get(&slot->w1);
	/* Logs and what is in flight: the long way finds them, too. */
	bool usual = w0 == (tag | row) && cell_is_counter(w1) && mine->numbers.kind < ALGO_SLIDING_LOG;
	return (struct known){slot, w0, w1, usual ? &mine->numbers : NULL};
}

/* The kinds whose use is in cells. */
static bool look_at_cells(struct table *table, const struct table_key *key, uint32_t row,
			  const struct ledger_row *mine, const struct algo_time *t, uint32_t cost,
			  struct table_look *out)
{
	if (mine->numbers.kind == ALGO_SLIDING_LOG)
		log_peek(table, key, row, t, cost, out);
	else if (mine->numbers.kind == ALGO_CONCURRENT)
		hold_peek(table, key, row, t, cost, out);
	else
		return false;
	return true;
}

static enum table_charge charge_cells(struct table *table, const struct table_key *key, uint32_t row,
				      const struct ledger_row *mine, const struct algo_time *t, uint32_t cost,
				      bool refuse, struct table_look *out)
{
	if (mine->numbers.kind == ALGO_SLIDING_LOG && refuse)
		return log_charge(table, key, row, t, cost, NULL, out);
	look_at_cells(table, key, row, mine, t, cost, out);
	out->allowed = false;
	return TABLE_REFUSED;
}

static void __attribute__((noinline)) peek(struct table *table, const struct table_key *key, uint32_t row,
					   const struct algo_time *t, uint32_t cost, struct table_look *out)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);

	for (unsigned try = 0; try < TRIES; try++) {
		struct probe at;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, row);
		if (!mine)
			break;
		if (look_at_cells(table, key, row, mine, t, cost, out))
			return;
		enum probe_found found = probe_find(table, pair, tag, row, mine, t, &at);
		if (found == PROBE_STALE || (found == PROBE_FOUND && !slot_still(at.slot, at.w0, at.w1)))
			continue;
		/* A newer policy made it a log: so it is judged. */
		if (at.numbers->kind == ALGO_SLIDING_LOG) {
			log_peek(table, key, slot_row(at.keep), t, cost, out);
			return;
		}
		struct algo_outcome outcome;
		step_inline(at.numbers, at.state, t, cost, &outcome);
		*out = (struct table_look){
			.numbers = *at.numbers, .state = at.state, .allowed = outcome.allowed};
		return;
	}
	probe_unknown(out);
}

void table_peek(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		uint32_t cost, struct table_look *out)
{
	uint64_t index = slot_pair_index(table, key);
	struct known at = known_find(table, &table->pairs[index], slot_tag(key), row);
	struct algo_outcome outcome;
	if (__builtin_expect(at.numbers && slot_still(at.slot, at.w0, at.w1), 1)) {
		step_inline(at.numbers, at.w1, t, cost, &outcome);
		answer(out, at.numbers, at.w1, outcome.allowed);
	} else {
		peek(table, key, row, t, cost, out);
	}
	if (!out->allowed)
		key_shun(table, index);
}

/* Store what the word becomes. `refuse`: only if it fits; else count a refusal (algo_punish). */
static enum table_charge __attribute__((noinline))
move(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t, uint32_t cost,
     bool refuse, struct table_look *out)
{
	uint64_t index = slot_pair_index(table, key), tag = slot_tag(key);
	struct slot_pair *pair = &table->pairs[index];

	for (unsigned try = 0; try < TRIES; again(table, try++)) {
		struct probe at;
		struct insert_claim claim;
		struct algo_outcome outcome;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, row);
		if (__builtin_expect(!mine || table->read_only, 0))
			break;
		if (__builtin_expect(mine->numbers.kind >= ALGO_SLIDING_LOG, 0))
			return charge_cells(table, key, row, mine, t, cost, refuse, out);

		enum probe_found found = probe_find(table, pair, tag, row, mine, t, &at);
		if (__builtin_expect(found == PROBE_STALE, 0))
			continue;
		if (__builtin_expect(at.numbers->kind >= ALGO_SLIDING_LOG, 0)) /* by a newer policy */
			return charge_cells(table, key, slot_row(at.keep),
					    recall_row(table, slot_row(at.keep)), t, cost, refuse, out);
		if (refuse) {
			step_inline(at.numbers, at.state, t, cost, &outcome);
		} else {
			outcome.state = algo_punish(at.numbers, at.state, t, cost);
			outcome.allowed = outcome.state != at.state;
		}
		answer(out, at.numbers, at.state, refuse && outcome.allowed);
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
		return refuse ? TABLE_CHARGED : TABLE_REFUSED;
	}
	probe_unknown(out);
	stats_add(&table->area->process.no_room, 1);
	return TABLE_NO_ROOM;
}

enum table_charge table_charge(struct table *table, const struct table_key *key, uint32_t row,
			       const struct algo_time *t, uint32_t cost, struct table_look *out)
{
	uint64_t index = slot_pair_index(table, key);
	struct known at = known_find(table, &table->pairs[index], slot_tag(key), row);
	struct algo_outcome outcome;
	if (__builtin_expect(!at.numbers || table->read_only, 0))
		return move(table, key, row, t, cost, true, out);
	step_inline(at.numbers, at.w1, t, cost, &outcome);
	if (outcome.allowed && cost) {
		/* I2, I5: as in move. */
		if (!atomic_cas_pair(&at.slot->w0, at.w0, at.w1, at.w0, outcome.state))
			return move(table, key, row, t, cost, true, out);
		key_welcome(table, index);
	} else {
		if (!slot_still(at.slot, at.w0, at.w1))
			return move(table, key, row, t, cost, true, out);
		if (!outcome.allowed)
			key_shun(table, index);
	}
	answer(out, at.numbers, outcome.state, outcome.allowed);
	return outcome.allowed ? TABLE_CHARGED : TABLE_REFUSED;
}

void table_punish(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		  uint32_t cost, struct table_look *out)
{
	move(table, key, row, t, cost, false, out);
}

void table_uncharge(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
		    uint64_t charged_at, uint32_t cost)
{
	struct slot_pair *pair = slot_pair(table, key);
	uint64_t tag = slot_tag(key);

	for (unsigned try = 0; try < TRIES; again(table, try++)) {
		struct probe at;
		recall_fresh(table);
		const struct ledger_row *mine = recall_row(table, row);
		if (!mine || table->read_only)
			return;
		enum probe_found found = probe_find(table, pair, tag, row, mine, t, &at);
		if (found == PROBE_STALE)
			continue;
		if (at.numbers->kind == ALGO_SLIDING_LOG) {
			struct log_taken taken = {0, log_stamp(at.numbers, charged_at)};
			log_uncharge(table, key, slot_row(at.keep), t, &taken, cost);
			return;
		}
		if (found == PROBE_ABSENT) /* evicted: an absent key owes nothing */
			return;
		uint64_t state = algo_give_back(at.numbers, at.state, t, charged_at, cost);
		if (state == at.state)
			return;
		if (atomic_cas_pair(&at.slot->w0, at.w0, at.w1, at.keep, state)) /* I2, I5 */
			return;
	}
}
