/* SPDX-License-Identifier: BSD-2-Clause */
/* plans: what plans make of limits, read back from the image: numbers, who they are, what one request can meet. */
#include <unistd.h>

#include "tests/policy/loaded.h"
#include "tests/policy/subjects.h"

/* ---- numbers ---------------------------------------------------------------------------------------- */

static const char *kind_word(uint32_t kind)
{
	return kind == ALGO_TOKEN_BUCKET     ? "token"
	       : kind == ALGO_LEAKY_BUCKET   ? "leaky"
	       : kind == ALGO_FIXED_WINDOW   ? "window"
	       : kind == ALGO_SLIDING_WINDOW ? "sliding"
	       : kind == ALGO_CONCURRENT     ? "places"
	       : kind == ALGO_NONE	     ? "pace"
					     : "other";
}

/* "a=5 per .. " as "plan: name kind capacity, …; plan: unlimited". `key`: the plan is part of the key. */
static void dump(const struct image *image, const struct image_limit *got, char *out, size_t size)
{
	const struct image_variant *variants = image_at(image, got->variants.offset);
	const struct image_plan *plans = image_at(image, image->plans.offset);
	size_t used = (size_t)snprintf(out, size, "%s", got->plan_in_key ? "key" : "");

	for (uint32_t i = 0; i < got->variants.count; i++) {
		const struct image_counter *counters = image_at(image, variants[i].counters.offset);
		struct text plan = image_text(image, plans[variants[i].plan].name);

		used += (size_t)snprintf(out + used, size - used, "%s%.*s:", used ? "; " : "", (int)plan.size,
					 plan.data);
		if (variants[i].how != IMAGE_VARIANT_NUMBERS)
			used += (size_t)snprintf(out + used, size - used, "%s",
						 variants[i].how == IMAGE_VARIANT_NEVER ? " never"
											: " unlimited");
		for (uint32_t k = 0; k < variants[i].counters.count; k++) {
			struct text name = image_text(image, counters[k].name);

			used += (size_t)snprintf(out + used, size - used, "%s %.*s %s %u", k ? "," : "",
						 (int)name.size, name.data,
						 kind_word(counters[k].numbers.kind), counters[k].capacity);
		}
	}
}

#define KEY   "match: POST /a, key: api-key | ip, "
#define SHARE "match: POST /a, "
static const struct {
	const char *limit, *plans, *dump;
	uint32_t hits;
} numbers[] = {
	/* what a plan says, and what it takes from the limit */
	{KEY "rate: 20/min", "p: {a: 100/min}", "p: a token 100", 1},
	{KEY "rate: 20/min, burst: 5", "p: {a: 100/min}", "p: a token 5", 1},
	{KEY "rate: 20/min, burst: 5", "p: {a: {burst: 50}}", "p: a token 50", 1},
	{KEY "rate: 20/min, burst: 5", "p: {a: {rate: 100/min, burst: 7}}", "p: a token 7", 1},
	{KEY "rate: 20/min, algorithm: sliding-window", "p: {a: 100/min}", "p: a sliding 100", 1},
	{KEY "rate: 20/min, burst: 5", "p: {a: {rate: 100/min, algorithm: fixed-window}}", "p: a window 100",
	 1},
	{KEY "rate: 20/min, burst: 5", "p: {a: 1000/day}", "p: a window 1000", 1},
	{KEY "rate: 2/s, algorithm: leaky-bucket, queue: 5, at_once: 4", "p: {a: {queue: 1}}", "p: a leaky 2",
	 1},
	{KEY "rate: 20/min, burst: 5", "p: {a: [10/s, 100/min]}", "p: a/s token 10, a/min token 100", 2},
	{KEY "rate: [10/s, 100/min]", "p: {a: 1000/min}", "p: a/min token 1000", 2},
	{KEY "rate: 20/min, concurrent: 2", "p: {a: 100/min}", "p: a/min token 100, a/concurrent places 2",
	 2},
	{KEY "rate: 20/min, concurrent: 2", "p: {a: {concurrent: 9}}",
	 "p: a/min token 20, a/concurrent places 9", 2},
	{KEY "concurrent: 2, queue: 5, bandwidth: 1MiB/s", "p: {a: {concurrent: 9}}",
	 "p: a/concurrent places 9, a/bandwidth pace 0", 2},
	{KEY "concurrent: 2", "p: {a: 5/s}", "p: a/s token 5, a/concurrent places 2", 2},
	/* like: limit by limit */
	{KEY "rate: 20/min", "p: {a: 100/min}; q: {like: p}; r: {like: q}",
	 "p: a token 100; q: a token 100; r: a token 100", 1},
	{KEY "rate: 20/min", "r: {like: q}; q: {like: p, a: 50/min}; p: {a: 100/min}",
	 "r: a token 50; q: a token 50; p: a token 100", 1},
	{KEY "rate: 20/min", "p: {}; q: {like: p}; r:", "", 1},
	/* unlimited and never */
	{KEY "rate: 20/min", "p: {a: unlimited}; q: {a: never}; r: {like: q}",
	 "p: unlimited; q: never; r: never", 1},
	{KEY "rate: 20/min", "p: unlimited; q: {like: p}; r: {like: p, a: 90/min}",
	 "p: unlimited; q: unlimited; r: a token 90", 1},
	{KEY "rate: [5/s, 20/min], concurrent: 2, bandwidth: 1MiB/s", "p: unlimited",
	 "p: a/concurrent places 2, a/bandwidth pace 0", 4},
	{KEY "concurrent: 2", "p: unlimited", "", 1},
	{KEY "concurrent: 2", "p: {a: unlimited}", "p: unlimited", 1},
	{KEY "rate: 5/min, count: failures", "p: unlimited; q: {a: unlimited}", "q: unlimited", 1},
	{KEY "rate: 5/min, count: successes", "p: unlimited", "p: unlimited", 1},
	/* who can be in several plans under one key */
	{SHARE "rate: 20/min", "p: {a: 100/min}", "key; p: a token 100", 1},
	{SHARE "key: site, rate: 20/min", "p: {a: never}", "key; p: never", 1},
	{SHARE "key: api-key.tenant | ip, rate: 20/min", "p: {a: 100/min}", "key; p: a token 100", 1},
	{SHARE "key: api-key.owner | ip, rate: 20/min", "p: {a: 100/min}", "p: a token 100", 1},
	{SHARE "key: [user, route], missing: ip, rate: 20/min", "p: {a: 100/min}", "p: a token 100", 1},
	{SHARE "key: session | ip, new_keys: 30/min, rate: 20/min", "p: {a: 100/min}", "p: a token 100", 2},
	{SHARE "rate: 20/min", "q: {}", "", 1},
};

static const struct image *load_plans(const char *limit_words, const char *plans)
{
	char text[1024], list[512];

	snprintf(list, sizeof list, "%s", plans);
	for (char *at = list; *at; at++)
		if (*at == ';')
			*at = '\n';
	snprintf(text, sizeof text,
		 "clients: {api_keys: {}, session: cookie.sid}\nlimits: {a: {%s}, ip: {match: POST /a, rate: "
		 "9/s, "
		 "paths: exact}}\nplans:\n %s\n",
		 limit_words, list);
	return load(text);
}

static void check_numbers(void)
{
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		const struct image *image = load_plans(numbers[i].limit, numbers[i].plans);
		const struct image_limit *got = image_limit_at(image, 0);
		char said[512], why[128] = "";

		dump(image, got, said, sizeof said);
		is_str(said, numbers[i].dump, numbers[i].plans);
		is_u64(image->hits_max, numbers[i].hits + 1,
		       "one request meets so many, and the limit by ip");
		if (!ok(image_check(image, image->size, why, sizeof why), "a sound image"))
			printf("# %s\n", why);
	}
}

/* ---- identities --------------------------------------------------------------------------------------- */

static uint64_t identity_of(const struct image *image, struct image_span span, uint32_t index)
{
	const struct image_counter *counters = image_at(image, span.offset);

	return index < span.count ? counters[index].identity : 0;
}

static const struct image_variant *variant(const struct image *image, uint32_t index)
{
	return (const struct image_variant *)image_at(image, image_limit_at(image, 0)->variants.offset) +
	       index;
}

static void check_identities(void)
{
	const struct image *image = load_plans(KEY "rate: 20/min", "");
	uint64_t alone = identity_of(image, image_limit_at(image, 0)->counters, 0);

	image = load_plans(KEY "rate: 20/min", "p: {a: 100/min}; q: {a: {rate: 7/min}}");
	ok(identity_of(image, image_limit_at(image, 0)->counters, 0) == alone,
	   "a plan leaves the counter alone");
	ok(identity_of(image, variant(image, 0)->counters, 0) == alone &&
		   identity_of(image, variant(image, 1)->counters, 0) == alone,
	   "and converts it");

	/* of other periods: one counter would recover as fast as whoever asked last says */
	image = load_plans(KEY "rate: 20/min", "p: {a: 100/hour}; q: {a: {rate: 7/min}}");
	ok(identity_of(image, variant(image, 0)->counters, 0) !=
		   identity_of(image, variant(image, 1)->counters, 0),
	   "what has another period is another counter");
	ok(identity_of(image, variant(image, 1)->counters, 0) ==
		   identity_of(image, image_limit_at(image, 0)->counters, 0),
	   "... and what has the same one is the same");

	image = load_plans(KEY "rate: [10/s, 100/min]", "");
	uint64_t second = identity_of(image, image_limit_at(image, 0)->counters, 0);
	uint64_t minute = identity_of(image, image_limit_at(image, 0)->counters, 1);

	image = load_plans(KEY "rate: 20/min", "p: {a: 100/min}; q: {a: [90/min, 7/s]}; r: unlimited");
	ok(identity_of(image, image_limit_at(image, 0)->counters, 0) == minute &&
		   identity_of(image, variant(image, 0)->counters, 0) == minute &&
		   identity_of(image, variant(image, 1)->counters, 0) == minute &&
		   identity_of(image, variant(image, 1)->counters, 1) == second,
	   "where one has several rates, each is known by its unit");
	ok(variant(image, 0)->counters.offset ==
			   image_limit_at(image, 0)->counters.offset + sizeof(struct image_counter) &&
		   variant(image, 1)->counters.offset ==
			   variant(image, 0)->counters.offset + sizeof(struct image_counter),
	   "the counters of plans follow the limit's own");
	ok(image->clients.ban_identity && image->clients.grant_identity &&
		   image->clients.ban_identity != image->clients.grant_identity,
	   "bans and grants have identities");
}

/* ---- who the clients are --------------------------------------------------------------------------------- */

static void check_clients(void)
{
	const struct image *image = load("limits: {a: 50/s}\n");
	const struct image_clients *c = &image->clients;
	char folder[512], path[600];

	ok(c->keys_database.size == 0 && c->keys_from.count == 0 && c->jwt_algorithms == 0 &&
		   c->session.count == 0 && c->plan_from.count == 0 && c->plan_none == IMAGE_PLAN_NONE &&
		   c->plan_unknown == IMAGE_PLAN_NONE && c->privacy_hash == 0,
	   "nobody is known where nothing is said");
	ok(c->ban_row == TABLE_ROW_NONE && c->grant_row == TABLE_ROW_NONE, "no rows yet");

	image = load("clients: {api_keys: {}, plan: {none: b}}\nplans: {a: {}, b: {}}\nlimits: {a: 50/s}\n");
	c = &image->clients;
	const struct image_where *from = image_at(image, c->keys_from.offset);
	ok(c->keys_from.count == 2 && from[0].said == IMAGE_SAID_HEADER &&
		   text_equal(image_text(image, from[0].name), TEXT("x-api-key")) &&
		   from[1].said == IMAGE_SAID_BEARER && c->keys_unknown == IMAGE_UNKNOWN_IP,
	   "API keys by default");
	if (!getcwd(folder, sizeof folder))
		abort();
	snprintf(path, sizeof path, "%s/keys.db", folder);
	ok(text_equal(image_text(image, c->keys_database), text_of(path)), "in keys.db beside the policy");
	from = image_at(image, c->plan_from.offset);
	ok(c->plan_from.count == 1 && from[0].said == IMAGE_SAID_KEY && c->plan_none == 1 &&
		   c->plan_unknown == IMAGE_PLAN_NONE,
	   "plans by default");

	image = load(
		"clients:\n"
		"  api_keys: {from: query.key, unknown: deny, database: /k/../keys.db}\n"
		"  jwt: {jwks_file: /dev/null, algorithms: [ES256, HS256], leeway: 1500ms, audience: [x, y], "
		"issuer: 'https://i/', from: [cookie.t], invalid: deny}\n"
		"  session: header.X-Session\n"
		"privacy: hash\n"
		"limits: {a: 50/s}\n");
	c = &image->clients;
	from = image_at(image, c->session.offset);
	ok(c->keys_unknown == IMAGE_UNKNOWN_DENY && c->jwt_invalid == IMAGE_UNKNOWN_DENY &&
		   c->jwt_algorithms == (IMAGE_JWT_ES256 | IMAGE_JWT_HS256) && c->jwt_leeway_s == 2 &&
		   c->jwt_audiences.count == 2 && c->privacy_hash == 1,
	   "what is said");
	ok(text_equal(image_text(image, c->keys_database), TEXT("/keys.db")) &&
		   text_equal(image_text(image, c->jwks_file), TEXT("/dev/null")) &&
		   text_equal(image_text(image, c->jwt_issuer), TEXT("https://i/")),
	   "where it lies");
	ok(from[0].said == IMAGE_SAID_HEADER &&
		   text_equal(image_text(image, from[0].name), TEXT("x-session")),
	   "a header's name in lower case");
}

/* ---- for whom --------------------------------------------------------------------------------------------- */

static const struct {
	const char *request;
	unsigned matched; /* mask of limits, of their matches: `for` of a limit is the flow's */
	bool exempt, denied;
} subjects[] = {
	{"GET /a ip=10.0.0.1", 1 | 2 | 8, false, false},
	{"GET /a who=1", 1 | 2 | 8, false, false},
	{"GET /a who=2", 1 | 8, false, false},
	{"GET /a who=6", 1 | 4, false, false},
	{"GET /a who=5", 1 | 2 | 4, false, false},
	{"GET /a who=10 key=acme", 1 | 8, true, false},
	{"GET /a who=10 key=acm", 1 | 8, false, false},
	{"GET /a who=10 key=b ip=192.0.2.1", 1 | 8, false, false},
	{"GET /a who=10 key=b ip=10.0.0.1", 1 | 8, true, false},
	{"GET /a who=10 key=evil", 1 | 8, false, true},
};

static void check_subjects(void)
{
	const struct image *image = load(
		"clients:\n"
		"  api_keys: {}\n"
		"  exempt: [{key: acme}, {key: [a, b], ip: 10.0.0.0/8}, {key: evil, until: 2026-01-01}]\n"
		"  deny: [{key: evil}]\n"
		"plans: {pro: {}, free: {}}\n"
		"limits:\n"
		"  all: {for: identified, rate: 50/s, burst: 100}\n"
		"  guests: {match: {for: anonymous}, rate: 50/s, burst: 100}\n"
		"  pro: {match: {for: plan pro}, rate: 50/s, burst: 100}\n"
		"  not-pro: {match: {not: {for: plan pro}}, rate: 50/s, burst: 100}\n");

	is_u64(image_limit_at(image, 0)->who, IMAGE_WHO_IDENTIFIED, "a limit's own `for`");
	for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
		struct subject_store store;
		struct image_hit hits[8];
		unsigned matched = 0;
		size_t count;

		subjects_read(&store, subjects[i].request);
		count = image_match(image, &store.subject, hits, 8);
		for (size_t k = 0; k < count; k++)
			matched |= 1u << hits[k].limit;
		is_u64(matched, subjects[i].matched, subjects[i].request);
		ok((image_exception(image, image->exempt, &store.subject, 1780272000) != NULL) ==
				   subjects[i].exempt &&
			   (image_exception(image, image->deny, &store.subject, 1780272000) != NULL) ==
				   subjects[i].denied,
		   "exempt or denied");
	}
}

static void check_aloud(void)
{
	const struct image *image = load(
		"clients:\n"
		"  api_keys: {unknown: deny}\n"
		"  jwt: {jwks_file: /dev/null, algorithms: [RS256, EdDSA], from: [bearer, cookie.t]}\n"
		"  plan: {from: [api-key, jwt.tier], unknown: free, none: guest}\n"
		"plans:\n"
		"  guest: {a: 5/min, b: never}\n"
		"  free: {a: 5/min}\n"
		"  pro: {like: free, a: 100/min, b: {concurrent: 4}}\n"
		"  staff: unlimited\n"
		"limits:\n"
		"  a: {match: POST /a, key: api-key.tenant | ip, rate: 20/min}\n"
		"  b: {match: POST /b, key: user | ip, concurrent: 2, for: [anonymous, plan pro]}\n");
	char *aloud = policy_read_aloud(image);

	is_str(aloud,
	       "a: POST /a, by tenant of the API key, else client address: 20 at once, then one every 3 s; "
	       "at most "
	       "39 in any minute\n"
	       "  for plans guest, free: 5 at once, then one every 12 s; at most 9 in any minute\n"
	       "  for plan pro: 100 at once, then one every 0.6 s; at most 199 in any minute\n"
	       "  for plan staff: unlimited\n"
	       "b: POST /b, for anonymous clients or plan pro, by user, else client address: at most 2 at "
	       "the same "
	       "time\n"
	       "  for plan guest: every request is refused\n"
	       "  for plan pro: at most 4 at the same time\n"
	       "API keys: from header x-api-key, else Authorization: Bearer; an unknown one is refused with "
	       "401\n"
	       "tokens: RS256, EdDSA, from Authorization: Bearer, else cookie t; one that is not believed is "
	       "its "
	       "client's address\n"
	       "plans: from the API key's record, else token claim tier; who is known without one has free; "
	       "who is "
	       "not known has guest\n",
	       "plans and clients are read aloud");
	free(aloud);

	image = load("clients: {api_keys: {}}\nplans: {p: {a: 90/min}, q: {}}\n"
		     "limits: {a: {match: POST /a, rate: 20/min, candidate: 5/min}}\n");
	char said[256];
	dump(image, image_limit_at(image, 1), said, sizeof said);
	is_str(said, "key; p: unlimited", "a candidate judges nobody who has numbers of a plan");
	aloud = policy_read_aloud(image);
	ok(aloud && strstr(aloud, "refused\n  for plan p: not judged\n"), "which is said");
	free(aloud);
}

int main(void)
{
	check_numbers();
	check_identities();
	check_clients();
	check_subjects();
	check_aloud();
	policy_free(&policy);
	return done_testing();
}
