/* SPDX-License-Identifier: BSD-2-Clause */
/* refusal: an id says what it was made of, to nobody but its table; a mistyped one says nothing; where it stands in answers. */
#include "flow/refusal.h"
#include "table/top.h"
#include "tests/flow/world.h"

#define ID "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

static bool same(const struct refusal *a, const struct refusal *b)
{
	return a->at == b->at && a->wait_s == b->wait_s && a->slot == b->slot && a->stat == b->stat &&
	       a->status == b->status && a->what == b->what && a->generation == b->generation;
}

static void numbers(struct world *world, struct world *other)
{
	static const struct refusal cases[] = {
		{.at = 1704067200, .status = FLOW_REJECTED},
		{.at = 1704067200 + (INT64_C(1) << 30) - 1,
		 .status = FLOW_NEVER,
		 .wait_s = REFUSAL_NEVER,
		 .slot = UINT64_C(0xffffffffffffff),
		 .stat = 255,
		 .what = IMAGE_USAGE,
		 .generation = 255},
		{.at = 1893456000, .status = FLOW_BANNED, .wait_s = 3584, .slot = 1, .stat = 7},
		{.at = 1893456001, .status = FLOW_UNKNOWN},
		{.at = 1893456002, .status = FLOW_DENIED},
		{.at = 1893456003, .status = FLOW_MISSING, .stat = 3, .generation = 9},
	};
	char id[REFUSAL_SIZE + 1], loose[80];
	struct refusal got;
	size_t foreign = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		refusal_write(world->table, &cases[i], id);
		ok(strlen(id) == REFUSAL_SIZE && strspn(id, ID) == REFUSAL_SIZE, id);
		ok(refusal_read(world->table, text_of(id), &got) == REFUSAL_READ && same(&got, &cases[i]),
		   "what was written is read");
		snprintf(loose, sizeof loose, " %.4s-%.10s-%.20s ", id, id + 4, id + 14);
		for (char *c = loose; *c; c++)
			*c = *c == '0' ? 'o' : *c == '1' ? (i % 2 ? 'l' : 'I') : text_lower(*c);
		ok(refusal_read(world->table, text_of(loose), &got) == REFUSAL_READ && same(&got, &cases[i]),
		   "also as people copy it");
		foreign += refusal_read(other->table, text_of(id), &got) == REFUSAL_FOREIGN;
	}

	ok(foreign + 1 >= sizeof cases / sizeof *cases,
	   "not by another table (which is wrong once in 2,000 times)");

	bool near = true, exact = true;
	struct refusal wait = {.at = 1893456000, .status = FLOW_REJECTED};
	for (uint64_t s = 1; s < 400 * UINT64_C(86400); s += 1 + s / 7) {
		wait.wait_s = s;
		refusal_write(world->table, &wait, id);
		refusal_read(world->table, text_of(id), &got);
		near = near && got.wait_s >= s && got.wait_s - s <= s / 32;
		exact = exact && (s >= 64 || got.wait_s == s);
	}
	ok(near && exact, "a wait is at most 3 % longer than it was, and exact below a minute");
	wait.wait_s = REFUSAL_NEVER - 1;
	refusal_write(world->table, &wait, id);
	refusal_read(world->table, text_of(id), &got);
	ok(got.wait_s > UINT64_C(30000000000), "an absurd one is the longest there is");
	wait.wait_s = 0;
	wait.at = 0;
	refusal_write(world->table, &wait, id);
	refusal_read(world->table, text_of(id), &got);
	is_u64(got.at, 1704067200, "a clock before 2024 is 2024");
}

static void mistyped(struct world *world)
{
	struct refusal refusal = {
		.at = 1893456000, .status = FLOW_REJECTED, .slot = 12345, .stat = 1, .wait_s = 12};
	char id[REFUSAL_SIZE + 1], wrong[64];
	struct refusal got;
	unsigned passed = 0, tried = 0;

	refusal_write(world->table, &refusal, id);
	for (size_t i = 0; i < REFUSAL_SIZE; i++)
		for (const char *c = ID; *c; c++) {
			strcpy(wrong, id);
			wrong[i] = *c;
			if (wrong[i] == id[i])
				continue;
			tried++;
			passed += refusal_read(world->table, text_of(wrong), &got) != REFUSAL_MISTYPED;
		}
	ok(tried == 31 * REFUSAL_SIZE && passed == 0, "each single wrong character is noticed");
	for (size_t i = 0; i < REFUSAL_SIZE; i++)
		for (size_t k = i + 1; k < REFUSAL_SIZE; k++) {
			strcpy(wrong, id);
			wrong[i] = id[k];
			wrong[k] = id[i];
			if (wrong[i] != id[i])
				passed += refusal_read(world->table, text_of(wrong), &got) !=
					  REFUSAL_MISTYPED;
		}
	is_u64(passed, 0, "so are two that have changed places");
	static const char *const none[] = {"",
					   "-",
					   "hello",
					   "0123456789ABCDEFGHJKMNPQRS",
					   "UUUUUUUUUUUUUUUUUUUUUUUUUUU",
					   "\xff\xfe",
					   "ZZZZZZZZZZZZZZZZZZZZZZZZZZZ",
					   "0123456789ABCDEFGHJKMNPQRST0"};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		is_u64(refusal_read(world->table, text_of(none[i]), &got), REFUSAL_MISTYPED, none[i]);
	ok(refusal_read(world->table, (struct text){"A\0B", 3}, &got) == REFUSAL_MISTYPED, "a NUL");
}

/* Two refusals that differ in one bit have nothing else in common. */
static void hidden(struct world *world)
{
	struct refusal a = {.at = 1893456000, .status = FLOW_REJECTED, .slot = 7}, b = a;
	char x[REFUSAL_SIZE + 1], y[REFUSAL_SIZE + 1];
	unsigned alike = 0;

	for (b.slot = 8; b.slot < 108; b.slot++) {
		refusal_write(world->table, &a, x);
		refusal_write(world->table, &b, y);
		for (size_t i = 1; i + 1 < REFUSAL_SIZE; i++)
			alike += x[i] == y[i];
	}
	ok(alike < 160, "ids tell nothing of where counters lie");
	note("%u of 2,500 characters alike, %u expected by chance", alike, 2500 / 32);
}

#define LAST(line, n)                                                                                        \
	do {                                                                                                 \
		for (unsigned i_ = 0; i_ < (n); i_++)                                                        \
			world_ask(&world, line);                                                             \
		verdict = &world.flow->verdict;                                                              \
	} while (0)

/* What a request's id says of it. */
static void flows(void)
{
	static struct flow_answer out;
	struct world world;
	const struct flow_verdict *verdict;
	struct refusal got;

	world_open(&world, "clients: {deny: [{ip: 6.6.6.6}]}\n"
			   "limits:\n"
			   "  first: {match: /a, rate: 5/min}\n"
			   "  second: {match: /b, rate: [2/s, 3/hour]}\n"
			   "  keyed: {match: /k, key: header.x-key, missing: deny, rate: 5/min}\n"
			   "  big: {match: /c, rate: 3/s, cost: 5}\n");
	LAST("GET /a from 1.2.3.4", 5);
	is_str(verdict->refusal, "", "what passes has none");
	LAST("GET /a from 1.2.3.4", 1);
	ok(refusal_read(world.table, text_of(verdict->refusal), &got) == REFUSAL_READ,
	   "what is refused has one");
	const struct image_counter *counter = image_counter_at(world.env.image, verdict->counter_index);
	ok(got.at == WALL && got.status == FLOW_REJECTED && got.what == IMAGE_RATE && got.wait_s == 12 &&
		   got.stat == counter->stat && got.generation == 1,
	   "when, what, how long, of which limit, under which policy");
	is_u64(got.slot, REFUSAL_SLOT(top_slot(&world.flow->hits[0].key)), "and which counter");
	flow_answer(world.flow, TEXT(""), WALL, &out);
	char part[96];
	snprintf(part, sizeof part, ",\"id\":\"%s\"}\n", verdict->refusal);
	ok(out.body.size > strlen(part) &&
		   memcmp(out.body.data + out.body.size - strlen(part), part, strlen(part)) == 0,
	   "it stands in the JSON body");
	struct flow_header last = out.headers[out.header_count - 1];
	ok(text_equal(last.name, TEXT("Weir-Refusal")) && text_equal(last.value, text_of(verdict->refusal)),
	   "and in a header");
	flow_answer(world.flow, TEXT("application/problem+json"), WALL, &out);
	snprintf(part, sizeof part, ",\"instance\":\"urn:weir:%s\"}\n", verdict->refusal);
	ok(memcmp(out.body.data + out.body.size - strlen(part), part, strlen(part)) == 0,
	   "a problem's instance");
	flow_answer(world.flow, TEXT("text/html"), WALL, &out);
	snprintf(part, sizeof part, "<p><small>%s</small></p></body>\n</html>\n", verdict->refusal);
	ok(memcmp(out.body.data + out.body.size - strlen(part), part, strlen(part)) == 0, "on the page");

	LAST("GET /a from 1.2.3.4 | Origin: https://example.com", 1);
	flow_answer(world.flow, TEXT(""), WALL, &out);
	static const char shown[] = ", Weir-Refusal";
	ok(out.expose.size > sizeof shown && memcmp(out.expose.data + out.expose.size - (sizeof shown - 1),
						    shown, sizeof shown - 1) == 0,
	   "scripts may read the header");

	for (unsigned i = 0; i < 3; i++) {
		LAST("GET /b from 1.2.3.4", 1);
		world_pass(&world, SECOND);
	}
	LAST("GET /b from 1.2.3.4", 1);
	counter = image_counter_at(world.env.image, verdict->counter_index);
	refusal_read(world.table, text_of(verdict->refusal), &got);
	ok(image_text(world.env.image, counter->name).size > 7 && got.slot != 0 &&
		   got.slot != REFUSAL_SLOT(top_slot(&world.flow->hits[0].key)),
	   "of several rates the one that refused");
	LAST("GET /k from 1.2.3.4", 1);
	refusal_read(world.table, text_of(verdict->refusal), &got);
	ok(got.status == FLOW_MISSING && got.slot == 0 && got.stat != 0, "a missing key has no counter");
	flow_answer(world.flow, TEXT(""), WALL, &out);
	ok(out.header_count == 1 && text_equal(out.headers[0].name, TEXT("Weir-Refusal")), "but an id");
	LAST("GET /a from 6.6.6.6", 1);
	refusal_read(world.table, text_of(verdict->refusal), &got);
	ok(got.status == FLOW_DENIED && got.slot == 0 && got.stat == 0, "nor has a list");
	LAST("GET /c from 1.2.3.4", 1);
	refusal_read(world.table, text_of(verdict->refusal), &got);
	ok(got.status == FLOW_REJECTED && got.wait_s == REFUSAL_NEVER,
	   "a cost that never fits waits for ever");
	world_close(&world);
}

int main(void)
{
	struct world world, other;

	world_open(&world, "limits: {}\n");
	world_open(&other, "limits: {}\n");
	numbers(&world, &other);
	mistyped(&world);
	hidden(&world);
	world_close(&world);
	world_close(&other);
	flows();
	return done_testing();
}
