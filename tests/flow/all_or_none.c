/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * all_or_none: several limits on one request agree, or nothing is charged to any (D1, mission B12); a shadow
 * limit changes nothing (D34). Random policies and requests over virtual time, against a ledger of words kept
 * by the arithmetic alone.
 */
#include "tests/flow/world.h"

#define ROUNDS 60
#define STEPS  800
#define BOOK   4096

/* What each counter of each key should hold. */
static struct entry {
	struct table_key key;
	uint64_t state;
	bool used;
} book[BOOK];

static uint64_t *word_of(struct table_key key)
{
	size_t at = (size_t)(key.tag_word ^ key.line_word) % BOOK;

	while (book[at].used &&
	       (book[at].key.tag_word != key.tag_word || book[at].key.line_word != key.line_word))
		at = (at + 1) % BOOK;
	if (!book[at].used)
		book[at] = (struct entry){key, 0, true};
	return &book[at].state;
}

static size_t random_policy(char *out, size_t shadows)
{
	static const char *const keys[] = {"ip", "site", "path", "[ip, path]", "header.x-key | ip", "method"};
	static const char *const matches[] = {"", "match: /a/*, ", "match: POST /*, ", "match: /a/b, "};
	size_t used = (size_t)sprintf(out, "limits:\n"), limits = 1 + pick(6);

	for (size_t i = 0; i < limits; i++) {
		used += (size_t)sprintf(out + used, "  l%zu: {%skey: %s, ", i, matches[pick(4)],
					keys[pick(6)]);
		switch (pick(4)) {
		case 0:
			used += (size_t)sprintf(out + used, "rate: %u/s, burst: %u", 1 + pick(20),
						1 + pick(30));
			break;
		case 1:
			used += (size_t)sprintf(out + used, "algorithm: fixed-window, rate: [%u/10s, %u/min]",
						1 + pick(20), 20 + pick(60));
			break;
		case 2:
			used += (size_t)sprintf(out + used, "algorithm: sliding-window, rate: %u/5s",
						1 + pick(40));
			break;
		default:
			used += (size_t)sprintf(out + used, "algorithm: leaky-bucket, rate: %u/s, queue: %u",
						1 + pick(20), 1 + pick(20));
		}
		if (pick(4) == 0)
			used += (size_t)sprintf(out + used, ", cost: %u", 1 + pick(4));
		if (pick(8) == 0)
			used += (size_t)sprintf(out + used, ", count_denied: true");
		used += (size_t)sprintf(out + used, "}\n");
	}
	for (size_t i = 0; i < shadows; i++)
		used += (size_t)sprintf(
			out + used, "  s%zu: {key: %s, rate: %u/s, burst: %u, mode: shadow%s}\n", i,
			keys[pick(6)], 1 + pick(4), 1 + pick(4), pick(2) ? ", count_denied: true" : "");
	return limits;
}

static void random_request(char *out, size_t size)
{
	static const char *const paths[] = {"/", "/a/b", "/a/c", "/x"}, *const methods[] = {"GET", "POST"};
	unsigned path = pick(4), method = pick(2), address = pick(4), key = pick(6);

	int used = snprintf(out, size, "%s %s from 10.0.0.%u", methods[method], paths[path], address);
	if (key < 3)
		snprintf(out + used, size - (size_t)used, " | X-Key: k%u", key);
}

static const struct image_limit *limit_of(const struct world *world, const struct flow_hit *hit)
{
	return (const struct image_limit *)image_at(world->env.image, world->env.image->limits.offset) +
	       hit->limit;
}

/* What should come of the request, and the book brought up to it. */
static bool expect(struct world *world)
{
	bool pass = true;

	for (size_t i = 0; i < world->flow->hit_count; i++) {
		const struct flow_hit *hit = &world->flow->hits[i];
		struct algo_outcome outcome;
		algo_step(&hit->look.numbers, *word_of(hit->key), &world->time, hit->cost, &outcome);
		if (hit->role != FLOW_ROLE_SHADOW)
			pass = pass && outcome.allowed;
	}
	for (size_t i = 0; i < world->flow->hit_count; i++) {
		const struct flow_hit *hit = &world->flow->hits[i];
		uint64_t *word = word_of(hit->key);
		struct algo_outcome outcome;
		algo_step(&hit->look.numbers, *word, &world->time, hit->cost, &outcome);
		if (outcome.allowed && pass)
			*word = outcome.state;
		else if (!outcome.allowed && limit_of(world, hit)->count_denied)
			*word = algo_punish(&hit->look.numbers, *word, &world->time, hit->cost);
	}
	return pass;
}

static size_t differences(struct world *world)
{
	const struct image_counter *counters = image_at(world->env.image, world->env.image->counters.offset);
	size_t wrong = 0;

	for (size_t i = 0; i < world->flow->hit_count; i++) {
		const struct flow_hit *hit = &world->flow->hits[i];
		struct table_look look;
		table_peek(world->table, &hit->key, counters[hit->counter].row, &world->time, hit->cost,
			   &look);
		/* a word that has recovered may be gone from the table */
		wrong += look.state != *word_of(hit->key) &&
			 !algo_recovered(&hit->look.numbers, *word_of(hit->key), world->time.now);
	}
	return wrong;
}

static void against_the_book(void)
{
	size_t wrong = 0, words = 0, passed = 0, refused = 0, several = 0, dry_wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct world world;
		char policy[4096];

		random_policy(policy, pick(3));
		memset(book, 0, sizeof book);
		world_open(&world, policy);
		for (int step = 0; step < STEPS; step++) {
			char line[128];
			random_request(line, sizeof line);
			world_pass(&world, pick(3) ? pick(50) * MS : 0);

			/* explaining it first says the same, and leaves everything as it is */
			static struct door door;
			char room[256];
			world_read(line, &door, room, sizeof room);
			struct flow_verdict said = *world_decide(&world, &door, true, true);
			words += differences(&world);
			struct flow_verdict is = *world_ask(&world, line);
			dry_wrong += said.action != is.action || said.status != is.status ||
				     said.limit_index != is.limit_index ||
				     (is.action == FLOW_PASS &&
				      (said.remaining != is.remaining || said.wait_ms != is.wait_ms));

			bool pass = expect(&world);
			wrong += pass != (is.action == FLOW_PASS);
			words += differences(&world);
			passed += pass;
			refused += !pass;
			several += world.flow->hit_count > 1;
		}
		world_close(&world);
	}
	is_u64(wrong, 0, "a request passes if every limit lets it, and only then");
	is_u64(words, 0, "... charged to all of them, or to none: every counter holds what it should");
	is_u64(dry_wrong, 0, "... and explaining it beforehand says so, and charges nothing");
	ok(passed > 3000 && refused > 3000 && several > 20000,
	   "... over thousands of both, with several limits");
	note("%zu passed, %zu refused, %zu with several counters", passed, refused, several);
}

static void shadows_change_nothing(void)
{
	size_t different = 0, shadowed = 0;

	for (int round = 0; round < ROUNDS / 2; round++) {
		struct world bare, both;
		char policy[4096];
		static struct flow_answer a, b;

		random_policy(policy, 0);
		world_open(&bare, policy);
		size_t used = strlen(policy);
		sprintf(policy + used,
			"  s0: {key: ip, rate: 1/s, mode: shadow}\n  s1: {key: site, rate: 3/s, mode: "
			"shadow, count_denied: true}\n"
			"  s2: {key: header.x-none, missing: deny, rate: 1/s, mode: shadow}\n");
		world_open(&both, policy);
		both.time = bare.time;
		for (int step = 0; step < STEPS; step++) {
			char line[128];
			uint64_t pause = pick(3) ? pick(50) * MS : 0;
			random_request(line, sizeof line);
			world_pass(&bare, pause);
			world_pass(&both, pause);
			const struct flow_verdict *x = world_ask(&bare, line);
			/* an id names a slot of its own table, and these are two */
			if (bare.flow->verdict.refusal[0])
				strcpy(bare.flow->verdict.refusal, "1");
			flow_answer(bare.flow, TEXT(""), WALL, &a);
			const struct flow_verdict *y = world_ask(&both, line);
			if (both.flow->verdict.refusal[0])
				strcpy(both.flow->verdict.refusal, "1");
			flow_answer(both.flow, TEXT(""), WALL, &b);
			bool same = x->action == y->action && x->wait_ms == y->wait_ms &&
				    x->http_status == y->http_status && a.header_count == b.header_count &&
				    text_equal(a.body, b.body);
			for (size_t i = 0; same && i < a.header_count; i++)
				same = text_equal(a.headers[i].name, b.headers[i].name) &&
				       text_equal(a.headers[i].value, b.headers[i].value);
			different += !same;
			shadowed += y->status == FLOW_REJECTED_SHADOW;
		}
		world_close(&bare);
		world_close(&both);
	}
	is_u64(different, 0, "shadow limits change no answer: action, wait, headers, body");
	ok(shadowed > 1000, "... though they would have refused thousands");
}

/* Statistics: what was charged is what was allowed. */
static void sums(void)
{
	struct world world;
	struct stats_limit a, b;
	size_t passed = 0, refused = 0;

	world_open(&world, "limits:\n"
			   "  a: {key: ip, rate: 3/s, burst: 7}\n"
			   "  b: {key: site, rate: 24/s, burst: 13, cost: 2}\n");
	for (int i = 0; i < 3000; i++) {
		char line[64];
		sprintf(line, "GET / from 10.0.0.%u", pick(2) * pick(5));
		world_pass(&world, pick(60) * MS);
		bool pass = world_ask(&world, line)->action == FLOW_PASS;
		passed += pass;
		refused += !pass;
	}
	const struct image_counter *counters = image_at(world.env.image, world.env.image->counters.offset);
	stats_limit_sum(world.table, (uint16_t)counters[0].stat, &a);
	stats_limit_sum(world.table, (uint16_t)counters[1].stat, &b);
	is_u64(a.allowed, passed, "allowed by the first limit: those that passed");
	is_u64(a.cost, passed, "... charged to it: as many");
	is_u64(b.allowed, passed, "allowed by the second: the same");
	is_u64(b.cost, 2 * passed, "... charged to it: two each");
	ok(a.refused + b.refused >= refused && a.refused <= refused && b.refused <= refused && a.refused &&
		   b.refused,
	   "each refusal was at least one limit's");
	world_close(&world);
}

int main(void)
{
	against_the_book();
	shadows_change_nothing();
	sums();
	return done_testing();
}
