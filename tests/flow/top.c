/* SPDX-License-Identifier: BSD-2-Clause */
/* top: what the sketch learns of requests: once a limit, with the tightest of its counters; names, hostile ones, and none. */
#include <stdlib.h>

#include "table/top.h"
#include "tests/flow/world.h"

static struct top_row *rows;
static size_t count;
static struct top_sum sum;

static void look(struct world *world)
{
	free(rows);
	count = top_read(world->table, world->time.now, &rows, &sum);
}

static const struct top_row *row_of(const struct world *world, const char *limit, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const struct image_limit *its = image_limit_at(world->env.image, rows[i].limit);
		if (text_equal(image_text(world->env.image, its->name), text_of(limit)) &&
		    text_equal((struct text){rows[i].name, rows[i].name_size}, text_of(name)))
			return &rows[i];
	}
	return NULL;
}

static void requests(void)
{
	struct world world;
	const struct top_row *row;

	world_open(&world, "clients: {exempt: [{ip: 10.0.0.1}], deny: [{ip: 6.6.6.6}]}\n"
			   "limits:\n"
			   "  page: {match: /p, rate: [4/min, 100/hour]}\n"
			   "  keyed: {match: /k, key: header.x-key, missing: skip, rate: 10/min}\n"
			   "  dark: {match: /d, rate: 1/min, mode: shadow}\n"
			   "  paced: {match: /p, bandwidth: 1MiB/s}\n");
	for (unsigned i = 0; i < 6; i++)
		world_ask(&world, "GET /p from 1.2.3.4");
	world_ask(&world, "GET /p from 10.0.0.1");
	world_ask(&world, "GET /p from 6.6.6.6");
	world_ask(&world, "GET /k from 1.2.3.4");
	world_ask(&world, "GET /k from 1.2.3.4 | X-Key: a\x1b]0;b");
	for (unsigned i = 0; i < 3; i++)
		world_ask(&world, "GET /d from 1.2.3.5");
	look(&world);
	is_u64(count, 3,
	       "one row for each key of each limit; none for lists, missing keys, and what only paces");
	row = row_of(&world, "page", "1.2.3.4");
	ok(row && row->asked == 6 && row->refused == 2 && row->error == 0 && row->share == TOP_FULL,
	   "a limit of two rates is asked once");
	row = row_of(&world, "keyed", "a\x1b]0;b");
	ok(row && row->asked == 1 && row->refused == 0 && row->share == 100,
	   "a hostile key as it came, with its share");
	row = row_of(&world, "dark", "1.2.3.5");
	ok(row && row->asked == 3 && row->refused == 2, "a shadow limit: what it would have refused");
	is_u64(sum.requests, 10, "all in all");
	struct door door;
	char room[64];
	world_read("GET /p from 1.2.3.4", &door, room, sizeof room);
	world_decide(&world, &door, true, true);
	look(&world);
	is_u64(sum.requests, 10, "explaining is not asking");
	world_close(&world);
}

/* Of whom no name may be kept a digest is, here and in events. */
static void nameless(void)
{
	struct world world;
	struct stats_event event = {0};
	char text[32];

	world_open(&world, "privacy: hash\nlimits: {per-ip: {rate: 1/min}, all: {key: site, rate: 9/s}}\n");
	for (unsigned i = 0; i < 2; i++)
		world_ask(&world, "GET / from 1.2.3.4");
	snprintf(text, sizeof text, "#%016llx", (unsigned long long)world.flow->key_digest);
	look(&world);
	ok(count == 2 && row_of(&world, "per-ip", text), "privacy: a digest, the one of $weir_key_hash");
	ok(row_of(&world, "all", "site"), "the whole site is nobody");
	stats_events(world.table, &event, 1);
	ok(text_equal((struct text){event.text, event.length}, text_of(text)), "events too");
	world_close(&world);

	world_open(&world, "clients: {session: cookie.sid}\n"
			   "limits: {s: {key: [session, ip], missing: deny, rate: 9/min}}\n");
	world_ask(&world, "GET / from 1.2.3.4 | Cookie: sid=secret");
	world_ask(&world, "GET / from 1.2.3.4 | Cookie: a=b; sid=secret");
	world_ask(&world, "GET / from 1.2.3.4 | Cookie: sid=secrets");
	look(&world);
	bool digests = count == 2 && rows[0].asked + rows[1].asked == 3;
	for (size_t i = 0; i < count; i++)
		digests = digests && rows[i].name_size == 17 + 9 && rows[i].name[0] == '#' &&
			  memcmp(rows[i].name + 17, ", 1.2.3.4", 9) == 0;
	ok(digests && memcmp(rows[0].name, rows[1].name, 17) != 0, "a session is told as its digest");
	world_close(&world);
}

int main(void)
{
	requests();
	nameless();
	free(rows);
	return done_testing();
}
