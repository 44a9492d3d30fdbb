/* SPDX-License-Identifier: BSD-2-Clause */
/* given: what is no charge, by way of charge_move; and the two words in the header that say whether to look at all. */
#include "table/given.h"

#include "algo/ban.h"
#include "algo/grant.h"
#include "algo/window.h"
#include "table/charge.h"
#include "table/given_latest.h"

#define TRIES 1024u

/* Never lowered: who lifts a ban does not know of the others. */
static void raise_to(uint64_t *word, uint64_t until)
{
	for (unsigned try = 0; try < TRIES; try++) {
		uint64_t was = atomic_get(word);
		/* I19: only upwards, or a ban that is in force would be looked for by nobody. */
		if (was >= until || atomic_cas(word, was, until))
			return;
	}
}

void given_latest(struct table *table, const struct algo_numbers *numbers, uint64_t w1)
{
	struct layout_published *published = &table->header->published;
	if (numbers->kind == ALGO_BAN && ban_level(w1) == 0)
		raise_to(&published->bans_until, ban_until(w1));
	else if (grant_is(numbers))
		raise_to(&published->grants_until, window_end(numbers, w1));
}

uint64_t table_bans_until(const struct table *table)
{
	return atomic_get(&table->header->published.bans_until);
}

uint64_t table_grants_until(const struct table *table)
{
	return atomic_get(&table->header->published.grants_until);
}

/* Whoever is banned or given something is so by somebody's decision: too late for `on_full` to refuse it. */
static enum table_charge give(struct table *table, const struct table_key *key, const struct charge_ask *ask,
			      const struct algo_time *t, struct table_look *out)
{
	bool settling = table->settling;
	table->settling = true;
	enum table_charge result = charge_move(table, key, ask, t, out);
	table->settling = settling;
	return result;
}

enum table_charge table_ban(struct table *table, const struct table_key *key, uint32_t row,
			    const struct algo_time *t, uint64_t length_ns, struct table_look *out)
{
	const struct charge_ask ask = {.row = row, .cost = 1, .act = CHARGE_BAN, .length_ns = length_ns};
	struct algo_numbers longest;
	struct ban_outcome ban;
	if (length_ns && !table->read_only && algo_ban_numbers(BAN_MAX_NS, BAN_MAX_NS, &longest)) {
		/* I19: before the ban can be seen, by whichever row it will be cut. */
		algo_ban(&longest, 0, t->now, length_ns, &ban);
		given_latest(table, &longest, ban.word);
	}
	return give(table, key, &ask, t, out);
}

enum table_charge table_grant(struct table *table, const struct table_key *key, uint32_t row,
			      const struct algo_time *t, uint32_t units, uint64_t until,
			      struct table_look *out)
{
	const struct charge_ask ask = {.row = row, .cost = units, .act = CHARGE_GRANT, .until = until};
	struct algo_numbers numbers;
	if (units && !table->read_only && grant_numbers(&numbers))
		given_latest(table, &numbers, grant_word(&numbers, units, until)); /* I19 */
	return give(table, key, &ask, t, out);
}

enum table_charge table_spend(struct table *table, const struct table_key *key, uint32_t row,
			      const struct algo_time *t, uint32_t cost, struct table_look *out)
{
	return charge_move(table, key, &(struct charge_ask){.row = row, .cost = cost, .act = CHARGE_SPEND}, t,
			   out);
}
