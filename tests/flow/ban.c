/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ban: who is refused often is banned, each time longer; an operator bans whom he likes. In virtual time: at each moment
 * somebody asks, and is told.
 */
#include "algo/ban.h"
#include "flow/ban.h"
#include "table/given.h"
#include "table/ledger.h"
#include "table/roster.h"
#include "table/snapshot.h"
#include "tests/flow/given.h"
#include "tests/flow/world.h"
#include "tests/identity/jwt_maker.h"

#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

#define LOGIN  "limits:\n  login: {match: /login, key: ip, rate: 1/min, burst: 1}\n"
#define A      "GET /login from 1.2.3.4"
#define B      "GET /login from 5.6.7.8"
#define OTHER  "GET /other from 1.2.3.4"
#define PASSED "PASSED"
#define FREE   "UNLIMITED"
#define NO     "REJECTED"
#define BAN    "BANNED"

struct step {
	uint64_t at; /* since the beginning */
	const char *request, *expect;
	uint64_t retry_s; /* 0: not asked */
	const char *what;
};

/* Three refusals within ten minutes: banned for 15 minutes, then 30, at most an hour. */
static const struct step story[] = {
	{0, A, PASSED, 0, "one a minute"},
	{1 * SECOND, A, NO, 59, "a refusal"},
	{2 * SECOND, A, NO, 58, "and another"},
	{2 * SECOND, B, PASSED, 0, "somebody else asks, too"},
	{3 * SECOND, A, NO, 57, "the third"},
	{3 * SECOND, A, BAN, 900, "is the last: 15 minutes"},
	{3 * SECOND, OTHER, FREE, 0, "of what the limit is for, and nothing else"},
	{3 * SECOND, B, NO, 59, "who else asks is not banned"},
	{10 * MINUTE, A, BAN, 303, "trying makes it no longer"},
	{10 * MINUTE, A, BAN, 303, "however often"},
	{15 * MINUTE + 2 * SECOND, A, BAN, 1, "to its last second"},
	{15 * MINUTE + 4 * SECOND, A, PASSED, 0, "over: the limit's own numbers again"},
	{15 * MINUTE + 5 * SECOND, A, NO, 0, "strikes begin anew: one"},
	{15 * MINUTE + 6 * SECOND, A, NO, 0, "two"},
	{15 * MINUTE + 7 * SECOND, A, NO, 0, "three"},
	{15 * MINUTE + 8 * SECOND, A, BAN, 1799, "and twice as long"},
	{46 * MINUTE, A, PASSED, 0, "over"},
	{46 * MINUTE, A, NO, 0, "one"},
	{46 * MINUTE, A, NO, 0, "two"},
	{46 * MINUTE, A, NO, 0, "three"},
	{46 * MINUTE, A, BAN, 3600, "an hour"},
	{107 * MINUTE, A, PASSED, 0, "over"},
	{107 * MINUTE, A, NO, 0, "one"},
	{107 * MINUTE, A, NO, 0, "two"},
	{107 * MINUTE, A, NO, 0, "three"},
	{107 * MINUTE, A, BAN, 3600, "and never longer than an hour"},
	{227 * MINUTE + SECOND, A, PASSED, 0, "an hour after that all is forgotten"},
	{227 * MINUTE + SECOND, A, NO, 0, "one"},
	{227 * MINUTE + SECOND, A, NO, 0, "two"},
	{227 * MINUTE + SECOND, A, NO, 0, "three"},
	{227 * MINUTE + SECOND, A, BAN, 900, "15 minutes"},
	{243 * MINUTE, A, PASSED, 0, "over"},
	{243 * MINUTE, A, NO, 0, "one"},
	{253 * MINUTE + 2 * SECOND, A, PASSED, 0, "good again"},
	{253 * MINUTE + 2 * SECOND, A, NO, 0, "ten minutes later it is the first"},
	{253 * MINUTE + 2 * SECOND, A, NO, 0, "two"},
	{253 * MINUTE + 3 * SECOND, A, NO, 0, "three"},
	{253 * MINUTE + 3 * SECOND, A, BAN, 1800, "within 15 minutes after the last ban: twice as long"},
};

static void tell(struct world *world, uint64_t begin, const struct step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		world->time.now = begin + steps[i].at;
		const struct flow_verdict *verdict = world_ask(world, steps[i].request);
		is_str(flow_status_word(verdict->status), steps[i].expect, steps[i].what);
		if (steps[i].retry_s)
			is_u64(verdict->retry_after_s, steps[i].retry_s, "  Retry-After");
	}
}
#define TELL(world, begin, steps) tell(world, begin, steps, sizeof(steps) / sizeof *(steps))

static void check_story(void)
{
	struct world world;
	world_open(&world, LOGIN);
	given_then(&world, "login", 3, 10 * MINUTE, 15 * MINUTE, HOUR);
	TELL(&world, world.time.now, story);
	is_u64(table_bans_until(world.table), 0, "nobody else is looked for");
	world_close(&world);
}

/* ---- refusals that are no strikes, and bans that are not asked ---- */

static void check_kinds(void)
{
	struct world world;
	world_open(&world,
		   "limits:\n"
		   "  twice: {match: /twice, key: ip, rate: [1/min, 2/hour]}\n"
		   "  shadow: {match: /shadow, key: ip, rate: 1/min, burst: 1, mode: shadow}\n"
		   "  keyed: {match: /keyed, key: header.x-key, missing: deny, rate: 5/min}\n"
		   "  free: {match: /free, key: ip, rate: 1/min, burst: 1, exempt: [{ip: 9.9.9.9}]}\n");
	given_then(&world, "twice", 2, HOUR, 10 * MINUTE, HOUR);
	given_then(&world, "shadow", 1, HOUR, 10 * MINUTE, HOUR);
	given_then(&world, "keyed", 1, HOUR, 10 * MINUTE, HOUR);
	given_then(&world, "free", 1, HOUR, 10 * MINUTE, HOUR);
	static const struct step steps[] = {
		{0, "GET /twice from 1.2.3.4", PASSED, 0, "two rates"},
		{61 * SECOND, "GET /twice from 1.2.3.4", PASSED, 0, "the hour's are used up"},
		{61 * SECOND, "GET /twice from 1.2.3.4", NO, 0, "both refuse: one strike"},
		{61 * SECOND, "GET /twice from 1.2.3.4", NO, 0, "the second one"},
		{61 * SECOND, "GET /twice from 1.2.3.4", BAN, 600, "both are banned"},
		{62 * SECOND, "GET /shadow from 1.2.3.4", PASSED, 0, "shadow"},
		{62 * SECOND, "GET /shadow from 1.2.3.4", "REJECTED_SHADOW", 0, "would refuse"},
		{62 * SECOND, "GET /shadow from 1.2.3.4", "REJECTED_SHADOW", 0, "and bans nobody"},
		{63 * SECOND, "GET /keyed from 1.2.3.4", "MISSING", 0, "without a key"},
		{63 * SECOND, "GET /keyed from 1.2.3.4", "MISSING", 0, "there is nobody to ban"},
		{64 * SECOND, "GET /free from 1.2.3.4", PASSED, 0, "once"},
		{64 * SECOND, "GET /free from 1.2.3.4", NO, 0, "one strike is enough here"},
		{64 * SECOND, "GET /free from 1.2.3.4", BAN, 600, "banned at once"},
		{64 * SECOND, "GET /free from 9.9.9.9", "EXEMPT", 0, "who is exempt"},
		{64 * SECOND, "GET /free from 9.9.9.9", "EXEMPT", 0, "strikes nothing"},
	};
	TELL(&world, world.time.now, steps);
	world_close(&world);
}

/* explain strikes nobody, but sees the ban. */
static void check_dry(void)
{
	struct world world;
	struct door door;
	char room[200];
	world_open(&world, LOGIN);
	given_then(&world, "login", 1, HOUR, 10 * MINUTE, HOUR);
	is_str(world_says(&world, A), PASSED, "one");
	world_read(A, &door, room, sizeof room);
	for (unsigned i = 0; i < 3; i++)
		is_str(flow_status_word(world_decide(&world, &door, true, true)->status), NO,
		       "looked at: refused, and no strike");
	is_str(world_says(&world, A), NO, "asked: a strike");
	is_str(flow_status_word(world_decide(&world, &door, true, true)->status), BAN, "looked at: banned");
	world_end(&world);
	world_close(&world);
}

/* ---- an edit of the policy, a reboot ---- */

static void check_edit(void)
{
	struct world world;
	world_open(&world, LOGIN);
	given_then(&world, "login", 1, 10 * MINUTE, 15 * MINUTE, HOUR);
	uint64_t begin = world.time.now;
	static const struct step before[] = {
		{0, A, PASSED, 0, "one"}, {0, A, NO, 0, "a strike"}, {0, A, BAN, 900, "15 minutes"}};
	static const struct step after[] = {
		{MINUTE, A, BAN, 840, "an edit: who is banned stays so as long"},
		{16 * MINUTE, A, PASSED, 0, "over"},
		{16 * MINUTE, A, PASSED, 0, "two at once now"},
		{16 * MINUTE, A, NO, 0, "one"},
		{16 * MINUTE, A, NO, 0, "two strikes now"},
		{16 * MINUTE, A, BAN, 240, "and the second ban by the new numbers: twice two minutes"}};
	TELL(&world, begin, before);
	world_publish(&world, "limits:\n  login: {match: /login, key: ip, rate: 2/min, burst: 2}\n");
	given_then(&world, "login", 2, 10 * MINUTE, 2 * MINUTE, HOUR);
	TELL(&world, begin, after);
	world_close(&world);
}

static void check_reboot(void)
{
	struct world world;
	struct snapshot snapshot;
	struct table_options options = {0};
	world_open(&world, LOGIN);
	given_then(&world, "login", 1, 10 * MINUTE, 15 * MINUTE, HOUR);
	static const struct step before[] = {
		{0, A, PASSED, 0, "one"}, {0, A, NO, 0, "a strike"}, {0, A, BAN, 900, "15 minutes"}};
	TELL(&world, world.time.now, before);
	given_ban(&world, BAN_ADDRESS, "5.6.7.8", HOUR);
	is_str(world_says(&world, B), BAN, "and the operator bans another");
	world_end(&world);
	is_u64(snapshot_take(world.table, true, &snapshot), WEIR_OK, "what lies on disk");
	table_close(&world.table);
	options.path = world.path;
	options.size = UINT64_C(1) << 20;
	is_u64(snapshot_make_table(&snapshot, &options, true, NULL, 0), WEIR_OK, "another table of it");
	snapshot_free(&snapshot);
	options.create = true;
	is_u64(table_open(&options, &world.table, NULL, 0), WEIR_OK, "opened");
	world_publish(&world, LOGIN);
	given_then(&world, "login", 1, 10 * MINUTE, 15 * MINUTE, HOUR);
	given_hand(&world);
	is_str(world_says(&world, A), BAN, "who was banned is banned");
	is_str(world_says(&world, B), BAN, "and so is the other");
	world_close(&world);
}

/* An address has counters under each plan, since the plan is part of the key; but one ban. */
static void check_plans(void)
{
	struct world world;
	world_open(&world, "clients:\n  address: {from: x-forwarded-for, trusted: [127.0.0.1]}\n"
			   "  plan: {from: [header.x-plan], unknown: free, none: guest}\n"
			   "plans: {guest: {login: 1/hour}, free: {login: 2/min}}\n" LOGIN);
	given_then(&world, "login", 2, 10 * MINUTE, 15 * MINUTE, HOUR);
#define AS(plan) "GET /login from 127.0.0.1 | X-Forwarded-For: 1.2.3.4 | X-Plan: " plan
	static const struct step steps[] = {
		{0, AS("guest"), PASSED, 0, "one as a guest"},
		{0, AS("free"), PASSED, 0, "under another plan another one"},
		{0, AS("guest"), NO, 0, "a strike as a guest"},
		{0, AS("free"), NO, 0, "a strike of the same client's: the second"},
		{0, AS("free"), BAN, 900, "banned"},
		{0, AS("guest"), BAN, 900, "... as a guest, too"},
		{0, "GET /login from 127.0.0.1 | X-Forwarded-For: 5.6.7.8 | X-Plan: free", PASSED, 0,
		 "nobody else is"}};
#undef AS
	TELL(&world, world.time.now, steps);
	world_close(&world);
}

/* ---- the operator's ---- */

/* Whoever is banned by his address costs no signature. */
static void check_early(void)
{
	char folder[] = "/tmp/weir-test-XXXXXX", secret[64], policy[256];
	struct maker_key key = maker_secret(MAKER_SECRET);
	struct people people;
	struct world world;

	maker_must(mkdtemp(folder) != NULL);
	snprintf(secret, sizeof secret, "%s/secret", folder);
	maker_write(secret, MAKER_SECRET, 0600, false);
	snprintf(policy, sizeof policy,
		 "clients: {jwt: {secret_file: %s, algorithms: HS256}}\n"
		 "limits: {a: {key: user | ip, rate: 9/min}}\n",
		 secret);
	world_open(&world, policy);
	maker_must(people_open(&people, world.env.image));
	world.env.people = &people;
	given_ban(&world, BAN_ADDRESS, "1.2.3.4", HOUR);
	for (int i = 0; i < 6; i++) {
		char claims[64], line[2048], *token;

		snprintf(claims, sizeof claims, "{\"sub\":\"u%d\"}", i);
		token = maker_token(&key, "{\"alg\":\"HS256\"}", claims);
		snprintf(line, sizeof line, "GET / from %s | Authorization: Bearer %s",
			 i < 3 ? "5.6.7.8" : "1.2.3.4", token);
		free(token);
		is_str(world_says(&world, line), i < 3 ? PASSED : BAN,
		       i < 3 ? "a token" : "from a banned address");
		is_u64(jwt_checks(people.jwt), i < 3 ? (uint64_t)i + 1 : 3, "  signatures checked until now");
	}
	world_close(&world);
	people_close(&people);
	unlink(secret);
	rmdir(folder);
}

static void check_operator(void)
{
	struct world world;
	world_open(&world, LOGIN);
	given_then(&world, "login", 3, 10 * MINUTE, 15 * MINUTE, HOUR);
	uint64_t begin = world.time.now;
	is_str(world_says(&world, OTHER), FREE, "nobody is banned");
	given_ban(&world, BAN_ADDRESS, "1.2.3.4", HOUR);
	static const struct step first[] = {
		{0, OTHER, BAN, 3600, "banned from everything"},
		{MINUTE, A, BAN, 3540, "from limited paths, too"},
		{MINUTE, "GET /other from 1.2.3.5", FREE, 0, "his neighbour is not"},
		{HOUR, OTHER, FREE, 0, "an hour later he is not any more"}};
	TELL(&world, begin, first);
	is_str(world_says(&world, A), PASSED, "and what he was refused was no strike, nor charged");

	given_ban(&world, BAN_ADDRESS, "2001:db8:1:2::1", HOUR);
	is_str(world_says(&world, "GET /other from 2001:db8:1:2:ffff::9"), BAN,
	       "an IPv6 client with its network");
	is_str(world_says(&world, "GET /other from 2001:db8:1:3::1"), FREE, "and no other");
	given_ban(&world, BAN_ADDRESS, "2001:db8:1:2::77", 2 * HOUR);
	is_u64(world_ask(&world, "GET /other from 2001:db8:1:2::1")->retry_after_s, 7200,
	       "banned anew: from now");
	ok(given_lift(&world, BAN_ADDRESS, "2001:db8:1:2::1"), "lifted");
	is_str(world_says(&world, "GET /other from 2001:db8:1:2::1"), FREE, "he may");
	ok(!given_lift(&world, BAN_ADDRESS, "2001:db8:1:2::1"), "not twice");
	world_close(&world);
}

/* The three of them are told apart: an address is no key's name. */
static void check_whom(void)
{
	struct world world;
	world_open(&world, LOGIN);
	uint8_t bytes[16] = {'n', 'a', 'm', 'e'};
	struct text name = {(const char *)bytes, sizeof bytes};
	struct table_key keys[3];
	for (int whom = BAN_ADDRESS; whom <= BAN_USER; whom++)
		keys[whom] = ban_key(world.table, world.env.image, (enum ban_whom)whom, name);
	ok(memcmp(&keys[0], &keys[1], sizeof keys[0]) && memcmp(&keys[1], &keys[2], sizeof keys[0]) &&
		   memcmp(&keys[0], &keys[2], sizeof keys[0]),
	   "an address, an API key and a user of the same bytes are three");
	world_close(&world);
}

/* ---- names ---- */

static void check_names(void)
{
	struct world world;
	struct roster_entry *entries;
	size_t count;
	world_open(&world, LOGIN);
	given_then(&world, "login", 1, 10 * MINUTE, 15 * MINUTE, HOUR);
	world_says(&world, A);
	world_says(&world, A);
	is_str(world_says(&world, A), BAN, "banned");
	is_u64(roster_read(world.table, world.time.now, &entries, &count, &(struct why){0}), WEIR_OK, "read");
	if (ok(count == 1, "one name")) {
		is_str(entries[0].name, "1.2.3.4", "  his");
		is_str(entries[0].limit, "login", "  the limit's");
		is_u64(entries[0].level, 1, "  the first ban");
		is_u64(entries[0].until, (world.time.now + 15 * MINUTE) / 32 * 32, "  until then");
		is_u64(entries[0].made_at, WALL, "  since then");
		struct table_look look;
		const struct image_limit *limit = image_limit_at(world.env.image, 0);
		table_peek(world.table, &entries[0].key, limit->then.ban_row, &world.time, 1, &look);
		ok(look.found && !look.allowed, "  and it says where the ban is");
	}
	free(entries);
	world_close(&world);
}

int main(void)
{
	check_story();
	check_kinds();
	check_dry();
	check_edit();
	check_reboot();
	check_plans();
	check_early();
	check_operator();
	check_whom();
	check_names();
	return done_testing();
}
