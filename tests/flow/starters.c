/* SPDX-License-Identifier: BSD-2-Clause */
/* starters: the numbers that the starter policies of examples/ promise in their comments, in virtual time. The same sites through a
 * real nginx are in tests/examples. */
#include "tests/flow/stories.h"

static const struct story_key KEYS[] = {{.name = "hobby"},
					{.name = "product", .plan = "pro", .billing_day = 15},
					{.name = "large", .plan = "enterprise"},
					{.name = "team", .plan = "paid"}};
#define WITH(n) " from 10.1.1.1 | X-API-Key: secret-" n

/* Pages load whole, and nobody guesses at the forms. */
static void blog(void)
{
	STORY("examples/blog.yaml", NULL, 0, {0, "GET /assets/%d.png from 10.1.1.1", 150, 100}, /* at once */
	      {1 * SECONDS, "GET /assets/%d.png from 10.1.1.1", 80, 50}, /* and a second later */
	      {1 * MINUTES, "GET /assets/%d.png from 10.1.1.1", 31, 31}, /* a page loads whole */
	      {0, "POST /login from 10.1.1.2", 7, 5, .answered = 401},
	      {12 * SECONDS, "POST /login from 10.1.1.2", 2, 1, .answered = 401},
	      {0, "POST /login from 10.1.1.2", 17, 0}, /* with the three before: the twentieth refusal */
	      {14 * MINUTES, "POST /login from 10.1.1.2", 2, 0, .status = "BANNED"},
	      {2 * MINUTES, "POST /login from 10.1.1.2", 6, 5, .answered = 401},
	      {0, "POST /login from 10.1.1.3", 30, 30, .answered = 200},
	      {0, "POST /comments from 10.1.1.4", 5, 3}, {20 * SECONDS, "POST /comments from 10.1.1.4", 2, 1},
	      {0, "POST /contact from 10.1.1.5", 2, 2}, {0, "POST /password/reset from 10.1.1.5", 2, 1},
	      {0, "GET /search?q=%d from 10.1.1.6", 12, 10}, {6 * SECONDS, "GET /search from 10.1.1.6", 2, 1},
	      {0, "GET /healthz from 10.1.1.6", 500, 500, .passed = "EXEMPT"});
}

/* A copying program that keeps below the pace of the whole site still meets its level's number of pages. */
static void levels(void)
{
	static const struct {
		const char *level;
		unsigned pages;
	} levels[] = {{NULL, 1000}, {"member", 2000}, {"author", 3000}, {"nonsense", 2000}};

	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		struct maker_key secret = maker_secret(MAKER_SECRET);
		char claims[64], line[512], *token;
		struct story story;
		unsigned passed = 0;

		snprintf(claims, sizeof claims, "{\"sub\":\"ann\",\"level\":\"%s\"}",
			 levels[i].level ? levels[i].level : "");
		token = maker_token(&secret, "{\"alg\":\"HS256\"}", claims);
		snprintf(line, sizeof line, "GET /post/7 from 10.1.1.1%s%s",
			 levels[i].level ? " | Cookie: token=" : "", levels[i].level ? token : "");
		story_open(&story, "examples/blog.yaml", NULL, 0);
		for (unsigned k = 0; k < 4000; k++) {
			world_pass(&story.world, 20 * MS);
			passed += world_ask(&story.world, line)->action == FLOW_PASS;
		}
		is_u64(passed, levels[i].pages, levels[i].level ? levels[i].level : "a guest");
		world_pass(&story.world, 2 * 3600 * SECOND);
		is_str(world_says(&story.world, line), "PASSED", "... and two hours later all is well");
		story_close(&story);
		free(token);
	}
}

static void news(void)
{
	STORY("examples/news.yaml", NULL, 0, {0, "GET /a.css from 10.1.1.1", 250, 200},
	      {0, "GET /articles/war from 10.1.2.1 | Cookie: sid=ann", 30, 30}, /* the same one */
	      {0, "GET /articles/n%d from 10.1.2.1 | Cookie: sid=ann", 12, 9},	/* ten, and then the offer */
	      {0, "GET /articles/war from 10.1.2.1 | Cookie: sid=ann", 1, 1},	/* the ten are hers */
	      {0, "GET /articles/m%d from 10.1.3.1 | Cookie: sid=ann", 1, 0},	/* wherever she goes */
	      {32 * DAYS, "GET /articles/o%d from 10.1.2.1 | Cookie: sid=ann", 12, 10},
	      {0, "GET /articles/war from 10.1.4.1 | Cookie: sid=bob%d", 70, 60}, /* sixty in tabs */
	      {0, "GET /articles/war from 10.1.4.2 | Cookie: sid=joe", 70, 60},
	      {12 * SECONDS, "GET /articles/war from 10.1.4.2 | Cookie: sid=joe", 2, 1},
	      {0, "GET /articles/p%d from 192.0.2.7", 150, 150, .passed = "PASSED"}, /* a crawler */
	      {0, "GET /articles/war from 2001:db8:5:%d::1", 700, 600},		     /* one network */
	      {0, "GET /feeds/all from 10.1.6.1", 15, 12},
	      {5 * MINUTES, "GET /feeds/all from 10.1.6.1", 2, 1});
}

static void shop(void)
{
	STORY("examples/shop.yaml", NULL, 0, {0, "GET /products/%d from 10.1.1.1", 100, 100},
	      {1 * SECONDS, "GET /products/%d from 10.1.1.1", 20, 20},
	      {0, "GET /products/%d from 10.1.1.1", 10, 10, .passed = "SLOWED"}, /* 120 have gone */
	      {0, "GET /search from 10.1.1.2", 35, 30},
	      {0, "POST /cart/add from 10.1.1.3 | Cookie: sid=ann", 70, 60},
	      {0, "POST /cart/add from 10.1.1.4 | Cookie: sid=bot%d", 30, 20},
	      {0, "POST /coupon from 10.1.1.5" FORM, 10, 10, "code=SUMMER"},
	      {0, "POST /coupon from 10.1.1.5" FORM, 14, 4,
	       "code=TRY%d"}, /* five different ones; ten refusals */
	      {0, "POST /coupon from 10.1.1.5" FORM, 1, 0, "code=SUMMER", "BANNED"},
	      {0, "POST /checkout from 10.1.1.6 | Cookie: sid=thief", 7, 5, .answered = 402},
	      {0, "POST /checkout from 10.1.1.7 | Cookie: sid=ann", 9, 9},
	      {0, "POST /hooks/paid from 192.0.2.1", 1000, 1000, .passed = "EXEMPT"});
}

static void public_api(void)
{
	STORY("examples/public-api.yaml", KEYS, 4, {0, "GET /v1/x from 10.1.2.1", 70, 60},
	      {0, "GET /v1/x" WITH("1"), 150, 150}, {1 * SECONDS, "GET /v1/search" WITH("1"), 25, 20},
	      {0, "GET /v1/x from 10.1.2.2 | X-API-Key: invented", 5, 0, .status = "UNKNOWN"},
	      {0, "POST /v1/export from 10.1.2.3", 1, 0, .status = "MISSING"},
	      {0, "POST /v1/export" WITH("1"), 12, 10}, {2 * SECONDS, "POST /v1/export" WITH("2"), 110, 100},
	      {0, "GET /v1/limits" WITH("1"), 5, 0, .status = "OWN_LIMITS"});

	struct story story;
	unsigned passed = 0;
	story_open(&story, "examples/public-api.yaml", KEYS, 4);
	for (unsigned k = 0; k < 12000;
	     k++) { /* the hobby, evenly over ten hours: the month's 10,000 and a tenth */
		world_pass(&story.world, 4 * SECOND);
		passed += world_ask(&story.world, "GET /v1/x" WITH("1"))->action == FLOW_PASS;
	}
	is_u64(passed, 11000, "a free month: 10,000, and a tenth more");
	is_u64(story.world.recorder.notice_count, 2, "of which its end was told twice");
	passed = 0;
	for (unsigned k = 0; k < 11000; k++) {
		world_pass(&story.world, 20 * MS);
		passed += world_ask(&story.world, "GET /v1/x" WITH("2"))->action == FLOW_PASS;
	}
	is_u64(passed, 10000, "a pro's hour");
	story_close(&story);
}

static void login(void)
{
#define FROM(ip) "POST /login from " ip FORM
	STORY("examples/login.yaml", NULL, 0, {0, FROM("10.1.1.1"), 7, 5, "username=ann", .answered = 401},
	      {0, FROM("10.1.1.1"), 17, 0, "username=ann"}, /* the nineteenth refusal */
	      {0, FROM("10.1.1.1"), 1, 0, "username=ann"},
	      {0, FROM("10.1.1.1"), 1, 0, "username=ann", "BANNED"},
	      {15 * MINUTES, FROM("10.1.1.1"), 25, 5, "username=ann", .answered = 401},
	      {15 * MINUTES, FROM("10.1.1.1"), 1, 0, "username=ann", "BANNED"}, /* twice as long */
	      {15 * MINUTES, FROM("10.1.1.1"), 1, 1, "username=ann"},
	      {0, FROM("10.1.2.1"), 40, 10,
	       "username=u%d"}, /* right each time; still ten accounts. Thirty refusals */
	      {0, FROM("10.1.2.1"), 1, 0, "username=u1", "BANNED"},
	      {0, FROM("10.1.%d.1"), 20, 10, "username=eve",
	       .answered = 401}, /* one account: ten, then the challenge */
	      {0, FROM("10.2.1.%d"), 80, 60, "username=n%d", .answered = 401}, /* one network */
	      {0, "POST /login/code from 10.3.1.1 | Cookie: sid=s", 7, 5, .answered = 401},
	      {0, "POST /password/reset from 10.3.1.2" FORM, 5, 3, "email=ann@example.com"},
	      {0, "POST /password/reset from 10.3.1.2" FORM, 12, 9, "email=u%d@example.com"},
	      {0, "POST /users from 10.3.1.3", 9, 9, .answered = 422},
	      {0, "POST /users from 10.3.1.3", 5, 3});
#undef FROM
}

static void model_gateway(void)
{
#define CHAT(n) "POST /v1/chat/completions from 2001:db8:5:%d::1 | Authorization: Bearer secret-" n JSON
#define SAID(n) "data: {\"usage\":{\"total_tokens\":" n "}}\n\ndata: [DONE]\n\n"
	STORY("examples/model-gateway.yaml", KEYS, 4,
	      {0, CHAT("1"), 12, 10, "{\"max_tokens\":100}", .said = SAID("50")}, /* ten questions a day */
	      {1 * DAYS + 1 * MINUTES, CHAT("1"), 3, 3, "{\"max_tokens\":1}",
	       .said = SAID("4000")}, /* 10,000 tokens a minute: 2,000 owed */
	      {0, CHAT("1"), 1, 0, "{\"max_tokens\":1}"},
	      {12 * SECONDS, CHAT("1"), 1, 0, "{\"max_tokens\":1}"},
	      {6, CHAT("1"), 2, 1, "{\"max_tokens\":1}", .said = SAID("1")},
	      {0, CHAT("4"), 1002, 1000, "{\"max_tokens\":50}", .said = SAID("80")},
	      {0, "POST /v1/chat/completions from 10.1.9.1" JSON, 1, 0, "{}", "MISSING"},
	      {0, CHAT("9"), 3, 0, "{}", "UNKNOWN"});
#undef CHAT
#undef SAID
}

static void downloads(void)
{
	STORY("examples/downloads.yaml", NULL, 0, {0, "GET /files/%d from 10.1.1.1", 100, 100},
	      {3 * SECONDS, "GET /files/%d from 10.1.1.1", 100, 100},
	      {3 * SECONDS, "GET /files/%d from 10.1.1.1", 20, 20, .passed = "SLOWED"},
	      {24 * HOURS, "GET /files/%d from 10.1.1.1", 50, 50},
	      {0, "GET /files/%d from 192.0.2.1", 3000, 3000, .passed = "EXEMPT"});
}

int main(void)
{
	blog();
	levels();
	news();
	shop();
	public_api();
	login();
	model_gateway();
	downloads();
	return done_testing();
}
