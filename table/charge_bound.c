/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * charge_bound: a decision with a bound of one's own, about a counter that others ask with theirs.
 *
 * The word is the row's: what it says does not depend on who charged it. Only how much may be in it does, so the
 * numbers are narrowed after it is known which row judges, and nothing that is stored comes of the bound but the
 * charge itself. As fast as without: a known key costs one compare-and-swap, a refusal none (T5).
 */
#include "algo/step.h"
#include "table/charge.h"

static inline void plain(struct table_look *out, uint64_t state, bool allowed)
{
	out->state = state;
	out->allowed = allowed;
	out->found = true; /* the usual case only */
	out->held = out->used = 0;
	out->fits_at = out->empty_at = 0;
}

void table_peek_bound(struct table *table, const struct table_key *key, uint32_t row,
		      const struct algo_time *t, const struct algo_bound *bound, struct table_look *out)
{
	uint64_t index = slot_pair_index(table, key);
	struct charge_known at = charge_find(table, &table->pairs[index], slot_tag(key), row);
	struct algo_outcome outcome;
	if (__builtin_expect(at.numbers && slot_still(at.slot, at.w0, at.w1), 1)) {
		algo_bounded(at.numbers, bound, &out->numbers);
		step_inline(&out->numbers, at.w1, t, 1, &outcome);
		plain(out, at.w1, outcome.allowed);
	} else {
		charge_peek(table, key, &(struct charge_ask){.row = row, .cost = 1, .bound = bound}, t, out);
	}
	if (!out->allowed)
		key_shun(table, index);
}

static enum table_charge __attribute__((noinline))
slowly(struct table *table, const struct table_key *key, uint32_t row, const struct algo_time *t,
       const struct algo_bound *bound, struct table_look *out)
{
	return charge_move(table, key, &(struct charge_ask){.row = row, .cost = 1, .bound = bound}, t, out);
}

enum table_charge table_charge_bound(struct table *table, const struct table_key *key, uint32_t row,
				     const struct algo_time *t, const struct algo_bound *bound,
				     struct table_look *out)
{
	uint64_t index = slot_pair_index(table, key);
	struct charge_known at = charge_find(table, &table->pairs[index], slot_tag(key), row);
	struct algo_outcome outcome;
	if (__builtin_expect(!at.numbers || table->read_only, 0))
		return slowly(table, key, row, t, bound, out);
	algo_bounded(at.numbers, bound, &out->numbers);
	step_inline(&out->numbers, at.w1, t, 1, &outcome);
	if (outcome.allowed) {
		/* I2, I5: from what was judged: another's charge in between, whatever his bound, makes it fail. */
		if (!atomic_cas_pair(&at.slot->w0, at.w0, at.w1, at.w0, outcome.state))
			return slowly(table, key, row, t, bound, out);
		key_welcome(table, index);
	} else {
		if (!slot_still(at.slot, at.w0, at.w1))
			return slowly(table, key, row, t, bound, out);
		key_shun(table, index);
	}
	plain(out, outcome.state, outcome.allowed);
	return outcome.allowed ? TABLE_CHARGED : TABLE_REFUSED;
}

void table_uncharge_bound(struct table *table, const struct table_key *key, uint32_t row,
			  const struct algo_time *t, uint64_t charged_at, const struct algo_bound *bound)
{
	charge_undo(table, key, &(struct charge_ask){.row = row, .cost = 1, .bound = bound}, t, charged_at);
}
