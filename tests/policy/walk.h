/* SPDX-License-Identifier: BSD-2-Clause */
/* walk: read everything an image that passed image_check says, as doors do. For hostile images: it must end,
 * and stay inside. */
#ifndef WEIR_TESTS_POLICY_WALK_H
#define WEIR_TESTS_POLICY_WALK_H

#include "algo/zone.h"
#include "policy/policy.h"
#include "tests/policy/subjects.h"

static inline uint64_t walk_text(const struct image *image, struct image_text text)
{
	struct text bytes = image_text(image, text);
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes.size; i++)
		sum += (unsigned char)bytes.data[i];
	return sum;
}

static inline uint64_t walk_counters(const struct image *image)
{
	const struct algo_time t = {UINT64_C(1) << 40, 1700000000};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < image->counters.count; i++) {
		const struct image_counter *counter = image_counter_at(image, i);
		struct algo_outcome outcome;
		struct algo_report report;

		sum += walk_text(image, counter->name) + walk_text(image, counter->zone) +
		       walk_text(image, image_limit_at(image, counter->limit)->name);
		if (counter->what == IMAGE_BANDWIDTH)
			continue;
		algo_step(&counter->numbers, 0, &t, 1, &outcome);
		algo_describe(&counter->numbers, outcome.state, &t, 1, outcome.allowed, &report);
		sum += report.remaining;
	}
	return sum;
}

static inline uint64_t walk_limits(const struct image *image)
{
	const struct image_respond *responds = image_at(image, image->responds.offset);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		const struct image_key_part *parts = image_at(image, limit->key.offset);
		const struct image_respond *respond = &responds[limit->respond];
		const struct image_statuses *failures = image_at(image, limit->failures.offset);

		for (uint32_t k = 0; k < limit->failures.count; k++)
			sum += failures[k].from + failures[k].to;
		for (uint32_t k = 0; k < limit->key.count; k++)
			sum += walk_text(image, parts[k].name);
		sum += walk_text(image, limit->key_text) + walk_text(image, limit->match_text) +
		       walk_text(image, respond->file_type) + walk_text(image, respond->file_text);
	}
	return sum;
}

static inline uint64_t walk_wheres(const struct image *image, struct image_span span)
{
	const struct image_where *wheres = image_at(image, span.offset);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < span.count; i++)
		sum += wheres[i].said + walk_text(image, wheres[i].name);
	return sum;
}

static inline uint64_t walk_clients(const struct image *image)
{
	const struct image_clients *clients = &image->clients;
	const struct image_text *audiences = image_at(image, clients->jwt_audiences.offset);
	const struct image_plan *plans = image_at(image, image->plans.offset);
	uint64_t sum = walk_wheres(image, clients->keys_from) + walk_wheres(image, clients->jwt_from) +
		       walk_wheres(image, clients->session) + walk_wheres(image, clients->user_from) +
		       walk_wheres(image, clients->plan_from) + walk_text(image, clients->keys_database) +
		       walk_text(image, clients->jwks_file) + walk_text(image, clients->jwt_secret_file) +
		       walk_text(image, clients->jwt_issuer) + walk_text(image, clients->own_limits);

	for (uint32_t i = 0; i < clients->jwt_audiences.count; i++)
		sum += walk_text(image, audiences[i]);
	if (clients->plan_unknown != IMAGE_PLAN_NONE)
		sum += walk_text(image, plans[clients->plan_unknown].name);
	if (clients->plan_none != IMAGE_PLAN_NONE)
		sum += walk_text(image, plans[clients->plan_none].name);
	for (uint32_t i = 0; i < image->limits.count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		const struct image_variant *variants = image_at(image, limit->variants.offset);

		for (uint32_t k = 0; k < limit->variants.count; k++) {
			const struct image_counter *counters = image_at(image, variants[k].counters.offset);

			sum += walk_text(image, plans[variants[k].plan].name);
			for (uint32_t n = 0; n < variants[k].counters.count; n++)
				if (counters[n].limit != i)
					abort();
		}
	}
	return sum;
}

/* Returns something that depends on all of it, so that nothing is optimised away. */
static inline uint64_t walk_image(const struct image *image)
{
	static const char *const requests[] = {
		"GET /a/b/c host=www.example.com ip=10.1.2.3 header.k=v",
		"POST /api/users/7 host=h ip=2001:db8::1",
		"HEAD /",
		"GET /A/b/",
		"GET /api/x who=5 key=evil ip=10.0.0.1",
	};
	const struct image_text *listens = image_at(image, image->gateway.listens.offset);
	const struct image_route *routes = image_at(image, image->gateway.routes.offset);
	uint64_t sum = image_checksum(image) + walk_counters(image) + walk_limits(image) +
		       walk_clients(image);
	char *aloud = policy_read_aloud(image);

	sum += aloud ? strlen(aloud) : 0;
	free(aloud);
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		struct image_hit hits[IMAGE_HITS_MAX];
		struct subject_store store;
		size_t count;

		subjects_read(&store, requests[i]);
		count = image_match(image, &store.subject, hits, IMAGE_HITS_MAX);
		for (size_t k = 0; k < count; k++) {
			const struct image_limit *limit = image_limit_at(image, hits[k].limit);

			if (k > 0 && hits[k - 1].limit >= hits[k].limit)
				abort();
			if (hits[k].clause != UINT32_MAX)
				sum += walk_text(image, image_clause_at(image, hits[k].clause)->text);
			sum += image_exception(image, limit->exempt, &store.subject, 0) != NULL;
		}
		sum += image_exception(image, image->exempt, &store.subject, 0) != NULL;
		sum += image_exception(image, image->deny, &store.subject, 0) != NULL;
		sum += networks_contain(image_at(image, image->trusted.offset), image->trusted.count,
					&store.subject.client);
	}
	for (uint32_t i = 0; i < image->gateway.listens.count; i++)
		sum += walk_text(image, listens[i]);
	for (uint32_t i = 0; i < image->gateway.routes.count; i++)
		sum += walk_text(image, routes[i].match) + walk_text(image, routes[i].to);
	return sum + walk_text(image, image->source) + walk_text(image, image->address_header);
}

/* A limit of every kind of counter: its own rate, a log, a sliding window, places, and bandwidths. */
static inline void walk_flight(struct arena *arena, struct model_limit *limit)
{
	const struct zone_day day = {.month = 3, .week = 5, .time_s = 7200}, back = {.month = 10, .week = 5};
	struct model_rate rates[] = {
		limit->rates[0],
		{.count = 10, .unit = TEXT("log")},
		{.count = 10, .unit = TEXT("sliding")},
		{.count = 10, .unit = TEXT("zone"), .zone = TEXT("Europe/Berlin")},
		{.count = 2,
		 .unit = TEXT("concurrent"),
		 .what = IMAGE_CONCURRENT,
		 .queue = 5,
		 .wait_ns = 1000000},
		{.unit = TEXT("bandwidth"), .what = IMAGE_BANDWIDTH, .bytes_per_s = 1024, .free_bytes = 5},
		{.unit = TEXT("total"), .what = IMAGE_TOTAL, .bytes_per_s = 2048},
	};
	const uint64_t minute = UINT64_C(60000000000);
	uint64_t zone[2];

	if (!algo_sliding_log(10, minute, &rates[1].numbers) ||
	    !algo_sliding_window(10, minute, &rates[2].numbers) ||
	    !zone_rule(3600, 7200, &day, &back, zone) ||
	    !algo_calendar_window(10, minute, ALGO_CALENDAR_DAY, zone, &rates[3].numbers) ||
	    !algo_concurrent(2, &rates[4].numbers) ||
	    !algo_token_bucket(2, UINT64_C(1000000000), 64, &rates[6].numbers))
		abort();
	limit->rate_count = sizeof rates / sizeof *rates;
	limit->rates = arena_alloc(arena, sizeof rates);
	memcpy(limit->rates, rates, sizeof rates);
	limit->on_full = TABLE_DENY;
}

/* Clients known in every way, and plans of which one has numbers of its own for a limit. */
static inline void walk_people(struct arena *arena, struct model *model)
{
	static struct text plans[] = {{"guest", 5}, {"pro", 3}, {"root", 4}}, audiences[] = {{"a", 1}};
	static struct model_where keys[] = {{IMAGE_SAID_HEADER, {"x-api-key", 9}},
					    {IMAGE_SAID_BEARER, {"", 0}}},
				  sources[] = {{IMAGE_SAID_KEY, {"", 0}}, {IMAGE_SAID_CLAIM, {"tier", 4}}},
				  session[] = {{IMAGE_SAID_COOKIE, {"sid", 3}}},
				  user[] = {{IMAGE_SAID_HEADER, {"x-user", 6}}};
	static struct model_variant variants[] = {{.plan = 0, .how = IMAGE_VARIANT_NUMBERS},
						  {.plan = 1, .how = IMAGE_VARIANT_UNLIMITED},
						  {.plan = 2, .how = IMAGE_VARIANT_NEVER}};
	struct model_limit *limit = &model->limits[1];

	model->plans = plans;
	model->plan_count = sizeof plans / sizeof *plans;
	model->clients = (struct model_clients){
		.keys_database = TEXT("/k.db"),
		.jwks_file = TEXT("/k.json"),
		.jwt_issuer = TEXT("i"),
		.keys_from = keys,
		.keys_from_count = 2,
		.jwt_from = keys,
		.jwt_from_count = 2,
		.plan_from = sources,
		.plan_from_count = 2,
		.session = session,
		.session_count = 1,
		.user_from = user,
		.user_from_count = 1,
		.audiences = audiences,
		.audience_count = 1,
		.jwt_algorithms = IMAGE_JWT_ES256,
		.jwt_leeway_s = 60,
		.plan_unknown = 1,
		.plan_none = IMAGE_PLAN_NONE,
	};
	variants[0].rates = model->limits[0].rates;
	variants[0].rate_count = 2;
	limit->variants = arena_alloc(arena, sizeof variants);
	memcpy(limit->variants, variants, sizeof variants);
	limit->variant_count = sizeof variants / sizeof *variants;
	limit->plan_in_key = true;
	limit->who = IMAGE_WHO_ANONYMOUS | IMAGE_WHO_PLAN(2);
	limit->clauses[0].who = IMAGE_WHO_PLAN(0);
}

/* A policy with something of everything. */
static inline struct image *walk_sample(void)
{
	static const struct limit_spec specs[] = {
		{.name = "all", .rates = {1, 2, 3}},
		{.name = "api", .clauses = {"GET,POST /api/* !/api/health", "/api/users/{id}", "host=h"}},
		{.name = "abc", .clauses = {"/a/b/c header.k=v*", "/a/*/c host=*.example.com", "/a/{x}"}},
		{.name = "exact", .clauses = {"/A/b/", "/A/*"}, .exact = true},
		{.name = "office",
		 .clauses = {"ip=10.0.0.0/8,2001:db8::/32 !header.x=*"},
		 .mode = IMAGE_SHADOW},
		{.name = "off", .clauses = {"/off"}, .mode = IMAGE_DISABLED},
		{.name = "hosts", .clauses = {"host=a", "host=h /b", "host=www.example.com"}},
		{.name = "flight", .clauses = {"/flight"}},
	};
	static struct image_statuses failures[] = {{401, 401}, {403, 409}};
	static struct text names[] = {{"acme", 4}, {"evil", 4}};
	static struct text listens[] = {{"0.0.0.0:8080", 12}};
	static struct model_route routes[] = {{.match = {"", 0}, .to = {"http://127.0.0.1:3000", 21}}};
	struct arena arena = {0};
	struct model_exception exception = {.reason = TEXT("ours"), .until = 5},
			       bare = {.reason = TEXT("theirs")};
	struct model_clause clause;
	struct model *model;
	struct image *image;

	if (setjmp(arena.out_of_memory))
		abort();
	model = models_model(&arena, specs, sizeof specs / sizeof *specs);
	clause = models_clause(&arena, "GET /health host=h !/health/x");
	exception.clauses = &clause;
	exception.clause_count = 1;
	models_networks(&arena, TEXT("10.0.0.0/8,192.0.2.0/24"), &bare.networks, &bare.network_count);
	model->exempt = model->limits[1].exempt = &exception;
	model->exempt_count = model->limits[1].exempt_count = 1;
	bare.keys = names;
	bare.key_count = 2;
	model->deny = &bare;
	model->deny_count = 1;
	model->trusted = bare.networks;
	model->trusted_count = bare.network_count;
	model->listens = listens;
	model->routes = routes;
	model->listen_count = model->route_count = 1;
	model->limits[2].respond = (struct model_respond){.status = 503,
							  .body = IMAGE_BODY_FILE,
							  .file_type = TEXT("text/html"),
							  .file_text = TEXT("<p>\n")};
	walk_flight(&arena, &model->limits[7]);
	walk_people(&arena, model);
	model->limits[6].count = IMAGE_COUNT_FAILURES;
	model->limits[6].failures = failures;
	model->limits[6].failure_count = 2;
	image = models_compile(model);
	arena_free(&arena);
	return image;
}

#endif
