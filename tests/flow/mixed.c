/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mixed: limits of every kind on one request, many requests open at once, ending in every way: all or none (D1).
 * Random policies over virtual time, against a book that keeps what a kind means: words by the arithmetic alone, logs as
 * lists of times, what is held as a number.
 */
#include "tests/flow/visit.h"

#define ROUNDS 40
#define STEPS  600
#define BOOK   512
#define OPEN   12
#define LOG    64
#define WINDOW (10 * SECOND)

static struct entry {
	struct table_key key;
	bool used;
	uint64_t state;	     /* of a word */
	uint32_t held;	     /* reserved, or in flight */
	uint64_t times[LOG]; /* of a log */
	size_t count;
} book[BOOK];

static struct entry *entry_of(struct table_key key)
{
	size_t at = (size_t)(key.tag_word ^ key.line_word) % BOOK;

	while (book[at].used &&
	       (book[at].key.tag_word != key.tag_word || book[at].key.line_word != key.line_word))
		at = (at + 1) % BOOK;
	book[at].key = key;
	book[at].used = true;
	return &book[at];
}

static void random_policy(char *out)
{
	static const char *const keys[] = {"ip", "site", "path", "[ip, path]", "header.x-key | ip"};
	static const char *const matches[] = {"", "match: /a/*, ", "match: /a/b, "};
	size_t used = (size_t)sprintf(out, "limits:\n"), limits = 2 + pick(5);

	for (size_t i = 0; i < limits; i++) {
		used += (size_t)sprintf(out + used, "  l%zu: {%skey: %s, ", i, matches[pick(3)],
					keys[pick(5)]);
		switch (pick(6)) {
		case 0:
			used += (size_t)sprintf(out + used, "rate: %u/s, burst: %u", 1 + pick(20),
						1 + pick(20));
			break;
		case 1:
			used += (size_t)sprintf(out + used, "rate: %u/10s, algorithm: sliding-log",
						1 + pick(LOG - 1));
			break;
		case 2:
			used += (size_t)sprintf(out + used, "rate: %u/s, burst: %u, count: failures",
						1 + pick(5), 1 + pick(10));
			break;
		case 3:
			used += (size_t)sprintf(out + used,
						"algorithm: sliding-window, rate: %u/5s, count: successes",
						1 + pick(20));
			break;
		case 4:
			used += (size_t)sprintf(out + used, "rate: %u/5s, concurrent: %u", 5 + pick(20),
						1 + pick(6));
			break;
		default:
			used += (size_t)sprintf(out + used, "concurrent: %u", 1 + pick(8));
		}
		if (pick(6) == 0)
			used += (size_t)sprintf(out + used, ", mode: shadow");
		used += (size_t)sprintf(out + used, "}\n");
	}
}

static bool fits(const struct world *world, const struct flow_hit *hit, struct entry *entry)
{
	const struct algo_numbers *numbers = &image_counter_at(world->env.image, hit->counter)->numbers;
	struct algo_outcome outcome;
	size_t live = 0;

	if (hit->what == IMAGE_CONCURRENT)
		return entry->held + 1 <= numbers->capacity;
	if (numbers->kind == ALGO_SLIDING_LOG) {
		for (size_t i = 0; i < entry->count; i++)
			if (world->time.now < entry->times[i] + WINDOW)
				entry->times[live++] = entry->times[i];
		entry->count = live;
		return live + hit->cost <= numbers->capacity;
	}
	algo_step(numbers, entry->state, &world->time, entry->held + hit->cost, &outcome);
	return outcome.allowed;
}

static void put(const struct world *world, const struct flow_hit *hit, struct entry *entry)
{
	const struct algo_numbers *numbers = &image_counter_at(world->env.image, hit->counter)->numbers;
	struct algo_outcome outcome;

	if (hit->what == IMAGE_CONCURRENT || hit->count != IMAGE_COUNT_ALL) {
		entry->held += hit->cost;
	} else if (numbers->kind == ALGO_SLIDING_LOG) {
		entry->times[entry->count++] = world->time.now;
	} else {
		algo_step(numbers, entry->state, &world->time, hit->cost, &outcome);
		entry->state = outcome.state;
	}
}

/* What should come of the request, and the book brought up to it. */
static bool expect(struct world *world, const struct flow *flow)
{
	bool pass = true;

	for (size_t i = 0; i < flow->hit_count; i++)
		if (flow->hits[i].role == FLOW_ROLE_ENFORCED)
			pass = pass && fits(world, &flow->hits[i], entry_of(flow->hits[i].key));
	for (size_t i = 0; pass && i < flow->hit_count; i++)
		if (fits(world, &flow->hits[i], entry_of(flow->hits[i].key)))
			put(world, &flow->hits[i], entry_of(flow->hits[i].key));
	return pass;
}

/* It ends as `status` says; 0: the client hung up. */
static void finish(struct world *world, struct visit *visit, unsigned status)
{
	bool failure = status >= 400 && status <= 499;

	for (size_t i = 0; i < visit->flow->hit_count; i++) {
		const struct flow_hit *hit = &visit->flow->hits[i];
		struct entry *entry = entry_of(hit->key);
		if (!hit->held)
			continue;
		entry->held -= hit->cost;
		if (hit->what != IMAGE_CONCURRENT &&
		    (!status || (hit->count == IMAGE_COUNT_FAILURES ? failure : !failure && status < 500)))
			entry->state = algo_settle(&image_counter_at(world->env.image, hit->counter)->numbers,
						   entry->state, &world->time, hit->cost);
	}
	if (status)
		flow_responded(visit->flow, &world->time, &status, 1);
	visit_close(world, visit);
}

static size_t differences(struct world *world, const struct flow *flow)
{
	size_t wrong = 0;

	for (size_t i = 0; i < flow->hit_count; i++) {
		const struct flow_hit *hit = &flow->hits[i];
		const struct image_counter *counter = image_counter_at(world->env.image, hit->counter);
		struct entry *entry = entry_of(hit->key);
		struct table_look look;

		fits(world, hit, entry); /* forgets what has ended in a log */
		table_peek_held(world->table, &hit->key, counter->row, &world->time, hit->cost, &look);
		wrong += look.held != entry->held;
		if (counter->numbers.kind == ALGO_SLIDING_LOG)
			wrong += look.used != entry->count;
		else if (counter->what == IMAGE_RATE)
			wrong += look.state != entry->state &&
				 !algo_recovered(&counter->numbers, entry->state, world->time.now);
	}
	return wrong;
}

int main(void)
{
	static const unsigned statuses[] = {200, 401, 0, 302, 503, 404};
	static const char *const paths[] = {"/", "/a/b", "/a/c"};
	size_t wrong = 0, words = 0, passed = 0, refused = 0, held = 0, dry_wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct visit *open[OPEN];
		size_t count = 0;
		struct world world;
		char policy[2048];

		random_policy(policy);
		memset(book, 0, sizeof book);
		world_open(&world, policy);
		for (int step = 0; step < STEPS; step++) {
			char line[128];
			static struct door door;
			static char room[256];

			world_pass(&world, pick(3) ? pick(60) * MS + pick(1000) : 0);
			while (count && (count == OPEN || pick(3) == 0)) {
				size_t at = pick((unsigned)count);
				finish(&world, open[at], statuses[pick(6)]);
				open[at] = open[--count];
			}
			int used = snprintf(line, sizeof line, "GET %s from 10.0.0.%u", paths[pick(3)],
					    pick(3));
			if (pick(2))
				snprintf(line + used, sizeof line - (size_t)used, " | X-Key: k%u", pick(3));
			world_read(line, &door, room, sizeof room);
			enum flow_action said = world_decide(&world, &door, true, true)->action;
			struct visit *visit = visit_open(&world, line, true);
			bool pass = visit->flow->verdict.action == FLOW_PASS;
			dry_wrong += said != visit->flow->verdict.action;
			wrong += expect(&world, visit->flow) != pass;
			words += differences(&world, visit->flow);
			passed += pass;
			refused += !pass;
			open[count++] = visit;
		}
		while (count)
			finish(&world, open[--count], statuses[pick(6)]);
		held += table_held(world.table);
		world_close(&world);
	}
	is_u64(wrong, 0, "a request passes if every limit lets it, and only then");
	is_u64(words, 0, "... each counter holds, and has counted, what it should");
	is_u64(dry_wrong, 0, "... explaining it beforehand says so, and takes nothing");
	is_u64(held, 0, "... and in the end nothing is held");
	ok(passed > 2000 && refused > 2000, "... over thousands of both");
	note("%zu passed, %zu refused", passed, refused);
	return done_testing();
}
