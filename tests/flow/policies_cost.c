/* SPDX-License-Identifier: BSD-2-Clause */
/* policies_cost: the policies of tests/policies that are about how much, and about guessing: costs, quotas, logins, scrapers, trials. */
#include "tests/flow/stories.h"

static const struct story_key KEYS[] = {{.name = "acme", .billing_day = 15}, {.name = "beta"}};
#define WITH(n) " from 10.1.1.1 | X-API-Key: secret-" n

static void login(void)
{
#define FROM(ip) "POST /login from " ip FORM
	STORY("tests/policies/login.yaml", NULL, 0,
	      {0, FROM("10.1.1.1"), 8, 5, "username=name%d",
	       .answered = 401}, /* one address, many accounts */
	      {0, FROM("10.1.1.1"), 1, 0, "username=ann"},
	      {0, FROM("10.1.2.%d"), 20, 10, "username=ann",
	       .answered = 401},			       /* many addresses, one account */
	      {0, FROM("10.1.3.1"), 1, 0, "username=+ANN"},    /* however it is spelled */
	      {0, FROM("10.1.3.1"), 200, 200, "username=bob"}, /* the right password costs nothing */
	      {0, FROM("10.1.3.1"), 9, 9, "username=bob", .answered = 503},
	      {12 * SECONDS, FROM("10.1.1.1"), 2, 1, "username=eve", .answered = 401},
	      {6 * MINUTES - 12 * SECONDS, FROM("10.1.4.1"), 2, 1, "username=ann", .answered = 401});
#undef FROM
}

static void graphql(void)
{
#define QUERY "POST /graphql" WITH("1") JSON
	STORY("tests/policies/graphql.yaml", KEYS, 2,
	      {0, QUERY, 4, 4, "{\"query\":\"{a}\"}", .said = "X-Query-Cost: 240"}, /* 960 of 1000 */
	      {0, QUERY, 1, 1, "{\"query\":\"{a}\"}"}, /* it says nothing: the ten that were reserved */
	      {0, QUERY, 1, 1, "{\"query\":\"{a}\"}", .said = "X-Query-Cost: 130"}, /* 100 owed */
	      {0, QUERY, 1, 0, "{\"query\":\"{a}\"}"},
	      {395999, QUERY, 1, 0, "{\"query\":\"{a}\"}"}, /* 110 at 3.6 s each: 396 s */
	      {1, QUERY, 2, 1, "{\"query\":\"{a}\"}"},
	      {0, "POST /graphql" WITH("2") JSON, 20, 20, "[{\"query\":\"{a}\"},{},{}]",
	       .said = "X-Query-Cost: 1"}, /* three at a time: 60 queries */
	      {0, "POST /graphql" WITH("2") JSON, 1, 0, "{\"query\":\"{a}\"}"});
#undef QUERY
}

static void monthly(void)
{
	struct story story;
	const char *name = "tests/policies/monthly.yaml";
	struct flow_recorder *recorder = &story.world.recorder;

	story_open(&story, name, KEYS, 2); /* on January 1 */
	ACTS(&story, name, {0, "GET /api/x" WITH("1"), 799, 799});
	is_u64(recorder->notice_count, 0, "nobody is told of 799");
	ACTS(&story, name, {0, "GET /api/x" WITH("1"), 500, 401});
	is_u64(recorder->notice_count, 3, "80 %, 100 % and 120 % are told");
	for (uint32_t i = 0; i < recorder->notice_count; i++)
		is_u64(recorder->notices[i].percent * 10000 + recorder->notices[i].quota, 801000 + i * 200000,
		       "... of 1000");
	ACTS(&story, name, {0, "GET /api/x" WITH("2"), 1, 1},
	     {14 * DAYS - 1 * MINUTES, "GET /api/x" WITH("1"), 1, 0},
	     {2 * MINUTES, "GET /api/x" WITH("1"), 1300, 1200}, /* the fifteenth, hers */
	     {0, "GET /api/x" WITH("2"), 1300, 1199},		/* not the other one's */
	     {17 * DAYS, "GET /api/x" WITH("2"), 1300, 1200},	/* the first of February */
	     {0, "GET /api/x" WITH("1"), 1, 0}, {14 * DAYS, "GET /api/x" WITH("1"), 1300, 1200});
	story_close(&story);
}

static void tokens(void)
{
#define CHAT "POST /v1/chat/completions from 10.1.1.1 | Authorization: Bearer secret-1" JSON
#define EVENTS(n)                                                                                            \
	"data: {\"choices\":[{\"delta\":\"H\"}],\"usage\":null}\n\n"                                         \
	"data: {\"choices\":[],\"usage\":{\"total_tokens\":" n "}}\n\ndata: [DONE]\n\n"
	STORY("tests/policies/tokens.yaml", KEYS, 2,
	      {0, CHAT, 1, 1, "{\"max_tokens\":200}", .said = EVENTS("1500")}, /* 500 owed */
	      {0, CHAT, 1, 0, "{\"max_tokens\":200}"}, {41999, CHAT, 1, 0, "{\"max_tokens\":200}"},
	      {1, CHAT, 1, 1, "{\"max_tokens\":200}", .said = EVENTS("80")}, /* 120 come back */
	      {0, CHAT, 2, 2, "{\"max_tokens\":120}", .answered = 502},	     /* an outage costs nothing */
	      {0, CHAT, 2, 1, "{\"max_tokens\":120}", .said = "{\"usage\":{\"total_tokens\":120}}"},
	      {1 * MINUTES, CHAT, 3, 2,
	       "{\"max_tokens\":100000}"},	/* 500 at most; said nothing: the reserve */
	      {1 * MINUTES, CHAT, 3, 2, "{}"}); /* nothing said: as much */
#undef CHAT
}

static void batch(void)
{
#define BATCH "POST /api/batch" WITH("1") JSON
	STORY("tests/policies/batch.yaml", KEYS, 2,
	      {0, BATCH, 4, 3,
	       "{\"items\":[1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10]}"},
	      {0, BATCH, 2, 1, "{\"items\":[[1,2],{\"items\":3},3,4,5,6,7,8]}"},
	      {0, BATCH, 3, 2, "{\"items\":[]}"},
	      {1 * MINUTES, BATCH, 3, 2,
	       "{\"items\":[1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,"
	       "10,"
	       "1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10]}"}, /* sixty: fifty are charged */
	      {0, "POST /api/batch" WITH("2") JSON, 101, 2,
	       "not JSON"}); /* whoever hides the length pays fifty */
#undef BATCH
}

static void scraper(void)
{
#define SEARCH(q, sid) "GET /search?q=" q " from 10.1.1.1 | Cookie: sid=" sid
	STORY("tests/policies/scraper.yaml", NULL, 0,
	      {0, SEARCH("shoes&page=%d", "ann"), 25, 20}, /* a person, in a hurry */
	      {0, SEARCH("shoes", "new%d"), 9, 4}, /* a new session each time: five an hour, hers was one */
	      {1 * MINUTES, SEARCH("word%d", "ann"), 20, 20},
	      {1 * MINUTES, SEARCH("more%d", "ann"), 10, 10}, /* 31 words; one came back in two minutes */
	      {0, SEARCH("yet%d", "ann"), 9, 0}, {0, SEARCH("shoes", "ann"), 1, 1}, /* known ones are free */
	      {0, SEARCH("yet%d", "ann"), 1, 0},				    /* the tenth refusal */
	      {0, SEARCH("shoes", "ann"), 1, 0, .status = "BANNED"},
	      {60 * MINUTES - 1, SEARCH("shoes", "ann"), 1, 0, .status = "BANNED"},
	      {1, SEARCH("shoes", "ann"), 1, 1});
#undef SEARCH
}

/* A limit that is tried on a quarter of its keys refuses those and nobody else, and always the same ones. */
static void staged(void)
{
	struct story story;
	char line[64];
	bool enforced[1000];
	unsigned count = 0, wrong = 0;

	story_open(&story, "tests/policies/staged.yaml", NULL, 0);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 1000; i++) {
			unsigned passed = 0;

			snprintf(line, sizeof line, "POST /api/x from 10.2.%u.%u", i / 250, i % 250);
			for (unsigned k = 0; k < 35; k++)
				passed += world_ask(&story.world, line)->action == FLOW_PASS;
			wrong += passed != 30 && passed != 35;
			wrong += round && enforced[i] != (passed == 30);
			enforced[i] = passed == 30;
			count += enforced[i];
		}
		world_pass(&story.world, 120 * SECOND);
	}
	is_u64(wrong, 0, "each key is refused after exactly thirty, or never, and the same ones again");
	note("%u of 2000 keys were judged", count);
	ok(count > 360 && count < 640, "a quarter of them");
	ACTS(&story, "staged", {0, "GET /search from 10.1.1.1", 60, 60},
	     {0, "GET /search from 10.1.1.1", 50, 40, .passed = "REJECTED_SHADOW"},
	     {36 * SECONDS, "GET /search from 10.1.1.1", 2, 1, .passed = "REJECTED_SHADOW"},
	     {24 * SECONDS, "GET /search from 10.1.1.1", 1, 0}); /* its candidate would now let one through */
	story_close(&story);
}

int main(void)
{
	login();
	graphql();
	monthly();
	tokens();
	batch();
	scraper();
	staged();
	return done_testing();
}
