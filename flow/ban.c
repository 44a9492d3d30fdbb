/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ban: asked before anything is counted, begun by a refusal.
 *
 * A limit has one ban for each of its keys, however many rates it has: under the key of its first counter, whichever of
 * them refuses, and whichever numbers the client's plan makes of it; without the plan, where that is part of the key: a ban is not
 * escaped by coming under another plan. Strikes are an ordinary window under a key of
 * their own. The one who makes it full begins the ban, and then clears it; those who find it full begin the ban, too, in
 * case he was killed in between: a ban that holds is not begun again, so of any number of parallel refusals one begins it.
 */
#include "flow/ban.h"

#include "algo/ban.h"
#include "flow/ban_told.h"
#include "flow/keybytes.h"
#include "flow/read.h"
#include "table/given.h"

#define BAN_WORD    UINT64_C(0x6e6162)	     /* "ban" */
#define STRIKE_WORD UINT64_C(0x656b69727473) /* "strike" */

/* The limit's ban (or strikes) under the key of its first counter, which is a keyed hash already. */
static struct table_key beside(const struct table *table, const struct table_key *key, uint64_t word)
{
	const uint64_t words[3] = {key->tag_word, key->line_word, word};

	return table_key(table, words, sizeof words);
}

/* The key of the limit's first counter, whatever the plan. */
static struct table_key first_key(struct flow *flow, const struct flow_hit *hit)
{
	const struct image *image = flow->env->image;
	const struct image_limit *limit = image_limit_at(image, hit->limit);
	uint32_t first = (uint32_t)((limit->counters.offset - image->counters.offset) /
				    sizeof(struct image_counter));
	struct flow_hit main = {.limit = hit->limit, .counter = first, .clause = hit->clause};

	if (limit->counters.count == 0 || (hit->counter == first && !limit->plan_in_key))
		return hit->key;
	flow_key_planless(flow, &main);
	return main.key;
}

/* Has this hit to do with bans? One that a plan excludes, or without a key, is refused for that; of new keys an address
 * is told, not the key that it has made up. */
static const struct image_then *then_of(const struct flow *flow, const struct flow_hit *hit)
{
	const struct image_then *then = &image_limit_at(flow->env->image, hit->limit)->then;

	if (then->ban_ns == 0 || then->ban_row == TABLE_ROW_NONE || hit->role != FLOW_ROLE_ENFORCED ||
	    hit->denied || hit->never || hit->what == IMAGE_NEW_KEYS || hit->what == IMAGE_USAGE ||
	    read_paces(hit))
		return NULL;
	return then;
}

struct table_key ban_hit_key(struct flow *flow, const struct flow_hit *hit)
{
	struct table_key key = first_key(flow, hit);

	return beside(flow->env->table, &key, BAN_WORD);
}

struct table_key ban_hit_strikes(struct flow *flow, const struct flow_hit *hit)
{
	struct table_key key = first_key(flow, hit);

	return beside(flow->env->table, &key, STRIKE_WORD);
}

void ban_look(struct flow *flow, struct flow_hit *hit)
{
	const struct image_then *then = then_of(flow, hit);
	struct table_look look;
	struct table_key key;
	uint64_t until;

	hit->banned = false;
	if (!then)
		return;
	key = ban_hit_key(flow, hit);
	table_peek(flow->env->table, &key, then->ban_row, &flow->time, 1, &look);
	if (look.allowed)
		return;
	hit->banned = true;
	until = ban_until(look.state);
	if (until > flow->ban.until)
		flow->ban.until = until;
}

/* Of the hits of one limit the first that refuses strikes: a request is one strike. */
static bool struck(const struct flow *flow, const struct flow_hit *hit)
{
	for (const struct flow_hit *before = hit; before-- > flow->hits && before->limit == hit->limit;)
		if (read_enforced(before) && !before->allowed)
			return true;
	return false;
}

void ban_strike(struct flow *flow, struct flow_hit *hit)
{
	const struct image_then *then = then_of(flow, hit);
	struct table *table = flow->env->table;
	struct table_key first, strikes, ban;
	struct algo_report report;
	struct table_look look;

	if (!then || flow->dry || hit->banned || hit->no_room || struck(flow, hit))
		return;
	first = first_key(flow, hit);
	strikes = beside(table, &first, STRIKE_WORD);
	if (then->strikes > 1 && then->strikes_row != TABLE_ROW_NONE) {
		if (table_charge(table, &strikes, then->strikes_row, &flow->time, 1, &look) == TABLE_NO_ROOM)
			return;
		table_describe(&look, &flow->time, 1, false, &report);
		if (look.allowed && report.remaining > 0)
			return;
	}
	ban = beside(table, &first, BAN_WORD);
	if (table_ban(table, &ban, then->ban_row, &flow->time, 0, &look) != TABLE_CHARGED)
		return;
	table_forget(table, &strikes); /* afterwards: else who is killed in between has let him go */
	ban_told(flow, hit, &ban, &look);
}

/* ---- the operator's ------------------------------------------------------------------------------------ */

struct table_key ban_key(const struct table *table, const struct image *image, enum ban_whom whom,
			 struct text value)
{
	static const uint8_t KINDS[] = {
		[BAN_ADDRESS] = IMAGE_KEY_IP, [BAN_API_KEY] = IMAGE_KEY_API_KEY, [BAN_USER] = IMAGE_KEY_USER};
	struct address address = {0};
	struct keybytes key;

	if (whom == BAN_ADDRESS && value.size == sizeof address.bytes) {
		memcpy(address.bytes, value.data, sizeof address.bytes);
		address_mask(&address, 32, image->ipv6_prefix);
		value.data = (const char *)address.bytes;
	}
	keybytes_begin(&key, table);
	keybytes_part(&key, KINDS[whom], TEXT(""), value.size);
	keybytes_add(&key, value.data, value.size);
	return keybytes_key(&key, image->clients.ban_identity);
}

static void look_for(struct flow *flow, enum ban_whom whom, struct text value)
{
	const struct image *image = flow->env->image;
	struct table_key key = ban_key(flow->env->table, image, whom, value);
	struct table_look look;

	table_peek(flow->env->table, &key, image->clients.ban_row, &flow->time, 1, &look);
	if (look.allowed)
		return;
	flow->ban.by_operator = true;
	if (ban_until(look.state) > flow->ban.until)
		flow->ban.until = ban_until(look.state);
}

/* Has anybody a ban at all? */
static bool bans(const struct flow *flow)
{
	return flow->env->table && flow->env->image && table_bans_until(flow->env->table) > flow->time.now &&
	       flow->env->image->clients.ban_row != TABLE_ROW_NONE;
}

void flow_ban_address(struct flow *flow)
{
	flow->ban.by_operator = false;
	flow->ban.until = 0;
	if (bans(flow) && flow->has_client)
		look_for(flow, BAN_ADDRESS,
			 (struct text){(const char *)flow->client.bytes, sizeof flow->client.bytes});
}

void flow_ban(struct flow *flow)
{
	struct text name;

	if (!bans(flow))
		return;
	if (flow_who_field(&flow->who, TEXT(""), &name) && name.size)
		look_for(flow, BAN_API_KEY, name);
	if (flow->who.user.size)
		look_for(flow, BAN_USER, flow->who.user);
}
