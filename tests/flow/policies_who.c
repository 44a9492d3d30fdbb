/* SPDX-License-Identifier: BSD-2-Clause */
/* policies_who: the policies of tests/policies that are about who it is: users, keys, tenants, partners, tiers, services. */
#include "tests/flow/stories.h"

/* A request with the token of these claims; the caller's. */
static char *with_token(const char *request, const char *claims)
{
	struct maker_key secret = maker_secret(MAKER_SECRET);
	char *token = maker_token(&secret, "{\"alg\":\"HS256\"}", claims), *line = malloc(2048);

	snprintf(line, 2048, "%s | Authorization: Bearer %s", request, token);
	free(token);
	return line;
}

static void per_user_endpoint(void)
{
	char *order = with_token("GET /api/orders/%d from 10.1.1.1", "{\"sub\":\"ann\"}");
	char *place = with_token("POST /api/orders from 10.1.1.1", "{\"sub\":\"ann\"}");
	char *report = with_token("GET /api/reports/%d from 10.1.1.1", "{\"sub\":\"ann\"}");
	char *elsewhere = with_token("GET /api/reports/%d from 10.1.1.2", "{\"sub\":\"ann\"}");
	char *other = with_token("GET /api/reports/%d from 10.1.1.1", "{\"sub\":\"bob\"}");

	STORY("tests/policies/per-user-endpoint.yaml", NULL, 0, {0, report, 8, 5}, {0, elsewhere, 1, 0},
	      {0, other, 6, 5}, {0, order, 70, 60}, {1 * SECONDS, place, 20, 20},
	      {1 * SECONDS, place, 50, 41}, {11 * SECONDS, report, 2, 1},
	      {0, "GET /api/reports/1 from 10.1.1.1", 6, 5}, {0, "GET /about from 10.1.1.9", 101, 100});
	free(order);
	free(place);
	free(report);
	free(elsewhere);
	free(other);
}

static void tenant(void)
{
	static const struct story_key keys[] = {{.name = "a", .tenant = "acme"},
						{.name = "b", .tenant = "acme"},
						{.name = "c", .tenant = "acme"},
						{.name = "d", .tenant = "beta"},
						{.name = "lone"}};
#define WITH(n) "GET /api/x from 10.1.1.1 | X-API-Key: secret-" n
	STORY("tests/policies/tenant.yaml", keys, 5, {0, WITH("1"), 120, 100}, {0, WITH("2"), 120, 100},
	      {0, WITH("3"), 80, 50}, /* the tenant's 250 */
	      {0, WITH("4"), 120, 100}, {0, WITH("5"), 120, 100}, {12 * SECONDS, WITH("3"), 60, 50},
	      {0, WITH("1"), 30, 0},		 /* what the tenant refuses is not charged to the key ... */
	      {12 * SECONDS, WITH("1"), 50, 40}, /* ... which has the 40 of these 24 seconds */
	      {0, "GET /api/x from 10.1.1.1", 1, 0, .status = "MISSING"},
	      {0, WITH("9"), 1, 0, .status = "MISSING"});
}

static void partner(void)
{
	static const struct story_key keys[] = {{.name = "acme"}, {.name = "beta"}};

	STORY("tests/policies/partner.yaml", keys, 2, {0, WITH("2"), 150, 100}, {0, WITH("1"), 1100, 1000},
	      {0, "GET /api/x from 10.1.1.1", 150, 100}, /* whoever says nothing, or invents a key */
	      {0, WITH("acme"), 1, 0}, {31 * DAYS, WITH("1"), 150, 100}, {0, WITH("2"), 150, 100});
#undef WITH
}

static void tiers(void)
{
#define AS(tier, n) "GET /api/x from 10.0.0.1 | X-Forwarded-For: 5.5.5.5 | X-Tier: " tier " | X-Customer: " n
	STORY("tests/policies/tiers.yaml", NULL, 0, {0, AS("free", "a"), 30, 20},
	      {100, AS("free", "a"), 2, 1}, {0, AS("pro", "b"), 600, 500}, {10, AS("pro", "b"), 2, 1},
	      {0, AS("enterprise", "c"), 5100, 5000}, {1, AS("enterprise", "c"), 2, 1},
	      {60 * SECONDS, AS("pro", "b"), 501, 500},
	      {0, AS("pro", "new%d"), 101, 100}, /* a hundred new customers at once, from one address */
	      {0, "GET /api/x from 9.9.9.9 | X-Tier: enterprise", 30, 20}); /* whose word does not count */
#undef AS
}

static void services(void)
{
#define CLAIMS(who) "{\"iss\":\"mesh\",\"aud\":\"internal\",\"sub\":\"" who "\"}"
	char *cart = with_token("GET /internal/stock from 10.0.0.5", CLAIMS("cart"));
	char *night = with_token("GET /internal/stock from 10.0.0.6 | X-Tier: batch", CLAIMS("night"));
	char *tier = with_token(
		"GET /internal/stock from 10.0.0.7",
		"{\"iss\":\"mesh\",\"aud\":\"internal\",\"sub\":\"bill\",\"tier\":\"batch\"}");
	char *orders = with_token("POST /internal/orders/7 from 10.0.0.6 | X-Tier: batch", CLAIMS("night"));
	char *outside = with_token("GET /internal/stock from 5.5.5.5 | X-Tier: batch", CLAIMS("spy"));
	char *forged = with_token("GET /internal/stock from 10.0.0.5",
				  "{\"iss\":\"else\",\"aud\":\"internal\",\"sub\":\"cart\"}");

	STORY("tests/policies/services.yaml", NULL, 0, {0, cart, 120, 100}, {10, cart, 2, 1},
	      {0, night, 520, 500}, {100, night, 2, 1}, {0, tier, 520, 500},
	      {10 * SECONDS, orders, 30, 20}, /* its plan's number of the orders, too */
	      {0, outside, 120, 100},	      /* the mesh alone chooses tiers */
	      {0, forged, 2, 0, .status = "UNKNOWN"},
	      {0, "GET /internal/stock from 10.0.0.5", 2, 0, .status = "MISSING"});
	free(cart);
	free(night);
	free(tier);
	free(orders);
	free(outside);
	free(forged);
#undef CLAIMS
}

static void webhooks(void)
{
#define HOOK "POST /hooks/payments from "
	STORY("tests/policies/webhooks.yaml", NULL, 0,
	      {0, HOOK "192.0.2.9 | X-Signature: t=1", 5000, 5000, .passed = "EXEMPT"},
	      {0, HOOK "2001:db8:7::1 | X-Signature: t=1", 500, 500, .passed = "EXEMPT"},
	      {0, HOOK "192.0.2.9", 12, 10},					   /* no signature */
	      {0, HOOK "9.9.9.9 | X-Signature: t=1", 12, 10},			   /* from elsewhere */
	      {0, "POST /hooks/other from 192.0.2.10 | X-Signature: t=1", 12, 10}, /* to elsewhere */
	      {0, "GET /shop from 192.0.2.11 | X-Signature: t=1", 120, 100});
#undef HOOK
}

int main(void)
{
	per_user_endpoint();
	tenant();
	partner();
	tiers();
	services();
	webhooks();
	return done_testing();
}
