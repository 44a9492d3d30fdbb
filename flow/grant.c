/* SPDX-License-Identifier: BSD-2-Clause */
/* grant: looked for by who is refused, while there is any; spent, and given back. */
#include "flow/grant.h"

#include "flow/read.h"
#include "table/given.h"

struct table_key grant_key(const struct table *table, const struct image *image,
			   const struct table_key *counter)
{
	const uint64_t words[3] = {counter->tag_word, counter->line_word, image->clients.grant_identity};

	return table_key(table, words, sizeof words);
}

static bool none(const struct flow *flow)
{
	return table_grants_until(flow->env->table) <= flow->time.now ||
	       flow->env->image->clients.grant_row == TABLE_ROW_NONE;
}

bool grant_take(struct flow *flow, struct flow_hit *hit)
{
	const struct image *image = flow->env->image;
	struct table *table = flow->env->table;
	struct table_look look;
	struct table_key key;

	if (none(flow) || hit->granted || hit->cost == 0)
		return false;
	key = grant_key(table, image, &hit->key);
	if (flow->dry) {
		table_peek(table, &key, image->clients.grant_row, &flow->time, hit->cost, &look);
		if (!look.found || !look.allowed || algo_recovered(&look.numbers, look.state, flow->time.now))
			return false;
	} else if (table_spend(table, &key, image->clients.grant_row, &flow->time, hit->cost, &look) !=
		   TABLE_CHARGED) {
		return false;
	}
	hit->granted = hit->allowed = true;
	return true;
}

void grant_return(struct flow *flow, const struct flow_hit *hit, const struct algo_time *t, uint32_t units)
{
	const struct image *image = flow->env->image;
	struct table_key key = grant_key(flow->env->table, image, &hit->key);

	if (!flow->dry)
		table_uncharge(flow->env->table, &key, image->clients.grant_row, t, flow->time.now, units);
}

void grant_back(struct flow *flow, struct flow_hit *hit)
{
	if (hit->granted)
		grant_return(flow, hit, &flow->time, hit->cost);
	hit->granted = false;
}
