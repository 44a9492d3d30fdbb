/* SPDX-License-Identifier: BSD-2-Clause */
/* given: a world whose operator bans and grants, and whose limits ban. What a policy would say of them is put into the image as it
 * is after publication. */
#ifndef WEIR_TESTS_FLOW_GIVEN_H
#define WEIR_TESTS_FLOW_GIVEN_H

#include "algo/ban.h"
#include "algo/grant.h"
#include "flow/ban.h"
#include "flow/grant.h"
#include "table/given.h"
#include "table/ledger.h"
#include "tests/flow/world.h"

static inline uint32_t given_row(struct world *world, uint64_t identity, const struct algo_numbers *numbers)
{
	uint32_t row;
	if (ledger_lock(world->table, 10000) != WEIR_OK ||
	    ledger_row_for(world->table, identity, 0, numbers, 0, "given",
			   (uint32_t)table_generation(world->table), &row) != WEIR_OK)
		abort();
	ledger_unlock(world->table);
	return row;
}

/* The image is this process's own memory (policy/current.c). */
static inline struct image *given_image(struct world *world)
{
	return (struct image *)(uintptr_t)world->env.image;
}

static inline struct image_limit *given_limit(struct world *world, const char *name)
{
	struct image_limit *limits = (struct image_limit *)(uintptr_t)image_limit_at(world->env.image, 0);
	for (uint32_t i = 0; i < world->env.image->limits.count; i++)
		if (text_equal(image_text(world->env.image, limits[i].name), text_of(name)))
			return &limits[i];
	abort();
}

/* `then` of the limit: so many refusals in `within`, banned for ban up to most. */
static inline void given_then(struct world *world, const char *name, uint32_t strikes, uint64_t within,
			      uint64_t ban, uint64_t most)
{
	struct image_limit *limit = given_limit(world, name);
	struct image_then *then = &limit->then;
	uint64_t identity = limit->key_identity + strlen(name); /* names in these tests differ in length */
	*then = (struct image_then){.ban_ns = ban, .most_ns = most, .strikes = strikes, .strikes_ns = within};
	if (!algo_ban_numbers(ban, most, &then->ban_numbers) ||
	    !algo_fixed_window(strikes, within, ALGO_FIRST_REQUEST, &then->strikes_numbers))
		abort();
	then->ban_row = given_row(world, identity ^ 1, &then->ban_numbers);
	then->strikes_row = given_row(world, identity ^ 2, &then->strikes_numbers);
}

/* The operator's two rows. */
static inline void given_hand(struct world *world)
{
	struct image_clients *clients = &given_image(world)->clients;
	if (!algo_ban_numbers(3600 * SECOND, BAN_MAX_NS, &clients->ban_numbers) ||
	    !grant_numbers(&clients->grant_numbers))
		abort();
	clients->ban_row = given_row(world, clients->ban_identity, &clients->ban_numbers);
	clients->grant_row = given_row(world, clients->grant_identity, &clients->grant_numbers);
}

static inline struct table_key given_whom(struct world *world, enum ban_whom whom, const char *value)
{
	struct address address;
	struct text text = text_of(value);
	if (whom == BAN_ADDRESS) {
		if (!address_parse(text, &address))
			abort();
		text = (struct text){(const char *)address.bytes, sizeof address.bytes};
	}
	return ban_key(world->table, world->env.image, whom, text);
}

static inline void given_ban(struct world *world, enum ban_whom whom, const char *value, uint64_t length_ns)
{
	struct table_key key = given_whom(world, whom, value);
	struct table_look look;
	given_hand(world);
	if (table_ban(world->table, &key, world->env.image->clients.ban_row, &world->time, length_ns,
		      &look) != TABLE_CHARGED)
		abort();
}

static inline bool given_lift(struct world *world, enum ban_whom whom, const char *value)
{
	struct table_key key = given_whom(world, whom, value);
	return table_forget(world->table, &key);
}

#endif
