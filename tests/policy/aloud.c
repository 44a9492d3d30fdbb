/* SPDX-License-Identifier: BSD-2-Clause */
/* read_aloud: what is said of each kind of limit, and that the worst case that is named is the worst case. */
#include "algo/zone.h"
#include "policy/policy.h"
#include "tests/policy/models.h"
#include "tests/tap.h"

#define S   UINT64_C(1000000000)
#define MIN (60 * S)
#define DAY (86400 * S)

enum kind { TOKEN, LEAKY, WINDOW, SLIDING, LOG, NGINX };

/* numbers as a policy writes them; what is said; the most that a client that never tires gets in any
 * `period_ns`, 0: not simulated */
static const struct {
	enum kind kind;
	uint32_t count;
	uint64_t period_ns;
	uint32_t burst; /* token: burst; leaky, nginx: queue; window: alignment */
	uint32_t at_once;
	uint64_t wait_ns;
	uint32_t cost;
	const char *words;
	uint32_t worst;
} numbers[] = {
	{TOKEN, 5, MIN, 5, 0, 0, 1, "5 at once, then one every 12 s; at most 9 in any minute", 9},
	{TOKEN, 5, MIN, 1, 0, 0, 1, "one every 12 s; at most 5 in any minute", 5},
	{TOKEN, 50, S, 100, 0, 0, 1, "100 at once, then one every 20 ms; at most 149 in any second", 149},
	{TOKEN, 1, 2 * S, 1, 0, 0, 1, "one every 2 s", 1},
	{TOKEN, 100, 15 * MIN, 100, 0, 0, 1, "100 at once, then one every 9 s; at most 199 in any 15 minutes",
	 199},
	{TOKEN, 1000, 60 * MIN, 1000, 0, 0, 1, "1000 at once, then one every 3.6 s; at most 1999 in any hour",
	 1999},
	{TOKEN, 100, MIN, 100, 0, 0, 5,
	 "20 at once, then one every 3 s; at most 39 in any minute; each request costs 5", 39},
	{TOKEN, 7, MIN, 3, 0, 0, 2, "one every 17.14 s; at most 4 in any minute; each request costs 2", 4},
	{TOKEN, 1000000, S, 1, 0, 0, 1, "one every 1 us; at most 1000000 in any second", 0},
	{TOKEN, 0, MIN, 5, 0, 0, 1, "every request is refused", 0},
	{TOKEN, 5, MIN, 5, 0, 0, 9,
	 "every request is refused: it costs 9 and at most 5 fit; each request costs 9", 0},
	{TOKEN, 5, MIN, 5, 0, 0, 0, "never refused: a request costs nothing", 0},
	{LEAKY, 2, S, 5, 0, 0, 1, "one every 0.5 s, up to 5 waiting at most 2.5 s; at most 2 in any second",
	 0},
	{LEAKY, 2, S, 5, 2, 0, 1,
	 "3 at once, then one every 0.5 s, up to 3 waiting at most 1.5 s; at most 4 in any second", 0},
	{LEAKY, 2, S, 5, 5, 0, 1, "6 at once, then one every 0.5 s; at most 7 in any second", 0},
	{LEAKY, 2, S, 0, 0, 0, 1, "one every 0.5 s; at most 2 in any second", 0},
	{LEAKY, 2, S, 50, 0, 3 * S, 1,
	 "one every 0.5 s, up to 6 waiting at most 3 s; at most 2 in any second", 0},
	/* from the end of one ms to the beginning of another a period later there are more than a period's ticks */
	{NGINX, 10, S, 0, 0, 0, 1, "one every 0.1 s; at most 11 in any second", 11},
	{NGINX, 2, S, 5, 5, 0, 1, "6 at once, then one every 0.5 s; at most 8 in any second", 8},
	{NGINX, 100, S, 9, 9, 0, 5,
	 "2 at once, then one every 50 ms; at most 22 in any second; each request costs 5", 22},
	{NGINX, 1000, S, 0, 0, 0, 1, "one every 1 ms; at most 1001 in any second", 1001},
	{NGINX, 1, MIN, 0, 0, 0, 1, "one every 62.5 s", 1},
	{NGINX, 7, MIN, 3, 3, 0, 1, "4 at once, then one every 8.621 s; at most 10 in any minute", 10},
	{NGINX, 2, S, 5, 0, 0, 1, "one every 0.5 s, up to 5 waiting at most 2.5 s; at most 3 in any second",
	 0},
	{NGINX, 2, S, 5, 2, 0, 1,
	 "3 at once, then one every 0.5 s, up to 3 waiting at most 1.5 s; at most 5 in any second", 0},
	{NGINX, 0, S, 5, 0, 0, 1, "every request is refused", 0},
	{WINDOW, 10, MIN, ALGO_FIRST_REQUEST, 0, 0, 1,
	 "at most 10 in the minute from the first request; around its end at most 19 in any minute", 19},
	{WINDOW, 1, MIN, ALGO_FIRST_REQUEST, 0, 0, 1, "at most 1 in the minute from the first request", 1},
	{WINDOW, 10, 15 * MIN, ALGO_CLOCK, 0, 0, 1,
	 "at most 10 in each 15 minutes of the clock (UTC); around its edges at most 20 in any 15 minutes",
	 20},
	{WINDOW, 10, DAY, ALGO_CALENDAR_DAY, 0, 0, 1,
	 "at most 10 in a day (UTC); around midnight at most 20 in any 24 hours", 20},
	{WINDOW, 10, DAY, ALGO_CALENDAR_DAY, 0, 0, 3,
	 "at most 3 in a day (UTC); around midnight at most 6 in any 24 hours; each request costs 3", 6},
	{WINDOW, 10, 7 * DAY, ALGO_CALENDAR_WEEK, 0, 0, 1,
	 "at most 10 in a week (from Monday, UTC); around Monday at most 20 in any 7 days", 20},
	{WINDOW, 10, 28 * DAY, ALGO_CALENDAR_MONTH, 0, 0, 1,
	 "at most 10 in a month (UTC); around its end at most 20 in any 28 days", 20},
	{WINDOW, 10, 365 * DAY, ALGO_CALENDAR_YEAR, 0, 0, 1,
	 "at most 10 in a year (UTC); around New Year at most 20 in any 365 days", 20},
	{SLIDING, 100, MIN, 0, 0, 0, 1, "about 100 in any minute; where two windows meet at most 199", 199},
	{SLIDING, 10, 15 * MIN, 0, 0, 0, 1, "about 10 in any 15 minutes; where two windows meet at most 19",
	 19},
	{SLIDING, 1, MIN, 0, 0, 0, 1, "at most 1 in any minute", 1},
	{SLIDING, 10, MIN, 0, 0, 0, 3,
	 "about 3 in any minute; where two windows meet at most 6; each request costs 3", 6},
	{SLIDING, 9, MIN, 0, 0, 0, 3,
	 "about 3 in any minute; where two windows meet at most 5; each request costs 3", 5},
	{SLIDING, 0, MIN, 0, 0, 0, 1, "every request is refused", 0},
	/* what a log lets through only the table can say: tests/table */
	{LOG, 100, MIN, 0, 0, 0, 1,
	 "at most 100 in any minute, exactly; up to 101 slots of 16 bytes a key, 4 KB at the recommended "
	 "filling",
	 0},
	{LOG, 5, 60 * MIN, 0, 0, 0, 2,
	 "at most 2 in any hour, exactly; up to 6 slots of 16 bytes a key, 240 bytes at the recommended "
	 "filling; "
	 "each request costs 2",
	 0},
	{LOG, 5, MIN, 0, 0, 0, 6,
	 "every request is refused: it costs 6 and at most 5 fit; each request costs 6", 0},
};

static bool build(size_t i, struct algo_numbers *out)
{
	if (numbers[i].kind == TOKEN)
		return algo_token_bucket(numbers[i].count, numbers[i].period_ns, numbers[i].burst, out);
	if (numbers[i].kind == LEAKY)
		return algo_leaky_bucket(numbers[i].count, numbers[i].period_ns, numbers[i].burst,
					 numbers[i].at_once, numbers[i].wait_ns, out);
	if (numbers[i].kind == NGINX)
		return algo_limit_req(numbers[i].count, numbers[i].period_ns, numbers[i].burst,
				      numbers[i].at_once, out);
	if (numbers[i].kind == SLIDING)
		return algo_sliding_window(numbers[i].count, numbers[i].period_ns, out);
	if (numbers[i].kind == LOG)
		return algo_sliding_log(numbers[i].count, numbers[i].period_ns, out);
	return algo_fixed_window(numbers[i].count, numbers[i].period_ns, (enum algo_align)numbers[i].burst,
				 out);
}

/* One who sends a single request if it helps, is quiet, and then sends without end, in steps of a 4,000th of
 * the period: the most that got through in any period. */
static uint32_t most_in_period(const struct algo_numbers *n, uint64_t period, uint32_t cost, uint64_t quiet,
			       bool first_one)
{
	static uint64_t passed[1 << 14];
	const uint64_t start = 400 * DAY;
	const int64_t wall = INT64_C(1704067200) * (int64_t)S - (int64_t)start; /* 2024-01-01, a Monday */
	uint32_t count = 0, first = 0, most = 0;
	uint64_t state = 0;

	for (uint64_t step = first_one ? 0 : 1; step < 12000 && count < sizeof passed / sizeof *passed;
	     step++) {
		uint64_t at = step == 0 ? 0 : quiet + (step - 1) * (period / 4000);
		struct algo_time t = {start + at, wall};
		struct algo_outcome outcome;

		do {
			algo_step(n, state, &t, cost, &outcome);
			if (!outcome.allowed)
				break;
			state = outcome.state;
			passed[count++] = at;
		} while (step > 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		while (passed[i] - passed[first] >= period)
			first++;
		if (i - first + 1 > most)
			most = i - first + 1;
	}
	return most;
}

static void test_numbers(struct arena *arena)
{
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct limit_spec spec = {.name = "l"};
		struct model *model = models_model(arena, &spec, 1);
		char expect[256], *aloud;
		struct image *image;
		uint32_t most = 0;

		if (!ok(build(i, &model->limits[0].rates[0].numbers), "numbers are built"))
			continue;
		model->limits[0].cost = numbers[i].cost;
		image = models_compile(model);
		if (!image)
			continue;
		aloud = policy_read_aloud(image);
		snprintf(expect, sizeof expect, "l: every request, by client address: %s\n",
			 numbers[i].words);
		is_str(aloud, expect, numbers[i].words);
		free(aloud);
		/* the worst moment to begin depends on the kind: try many */
		for (uint64_t k = 0; numbers[i].worst && k < 34; k++) {
			uint64_t period = numbers[i].period_ns, part = k / 2;
			uint64_t quiet = part < 16 ? period / 16 * (part + 1) : period - period / 4000;
			uint32_t got = most_in_period(&model->limits[0].rates[0].numbers, period,
						      numbers[i].cost, quiet, k % 2);

			most = got > most ? got : most;
		}
		if (numbers[i].worst)
			is_u64(most, numbers[i].worst, "and that is the worst that can happen");
		free(image);
	}
}

/* ---- calendars of zones ----------------------------------------------------------------------------- */

static const struct zone_day march = {.month = 3, .week = 5, .time_s = 7200},
			     october = {.month = 10, .week = 5, .time_s = 10800};
static const struct {
	const char *zone;
	int32_t standard_s, summer_s; /* the same: never changed */
	enum algo_align align;
	const char *words;
} zones[] = {
	{"Europe/Berlin", 3600, 7200, ALGO_CALENDAR_DAY,
	 "at most 10 in a day (Europe/Berlin); around midnight at most 20 in any 23 h"},
	{"Asia/Kolkata", 19800, 19800, ALGO_CALENDAR_DAY,
	 "at most 10 in a day (Asia/Kolkata); around midnight at most 20 in any 24 hours"},
	{"Europe/Berlin", 3600, 7200, ALGO_CALENDAR_HOUR,
	 "at most 10 in an hour (Europe/Berlin); around its end at most 20 in any hour"},
	{"Australia/Lord_Howe", 37800, 39600, ALGO_CALENDAR_HOUR,
	 "at most 10 in an hour (Australia/Lord_Howe); around its end at most 20 in any 30 min"},
	{"Europe/Berlin", 3600, 7200, ALGO_CALENDAR_WEEK,
	 "at most 10 in a week (from Monday, Europe/Berlin); around Monday at most 20 in any 6 days"},
	{"Europe/Berlin", 3600, 7200, ALGO_CALENDAR_MONTH,
	 "at most 10 in a month (Europe/Berlin); around its end at most 20 in any 27 days"},
	{"Europe/Berlin", 3600, 7200, ALGO_CALENDAR_YEAR,
	 "at most 10 in a year (Europe/Berlin); around New Year at most 20 in any 364 days"},
};

/* The most in any stretch of `hours`, of who sends without end from 30 March 2024 on, 23:50 in Berlin. */
static uint32_t most_in_spring(const struct algo_numbers *n, unsigned hours)
{
	static uint64_t passed[64];
	const uint64_t start = 400 * DAY, step = 10 * MIN;
	const int64_t wall = INT64_C(1711839000) * (int64_t)S - (int64_t)start;
	uint64_t state = 0;
	uint32_t count = 0, first = 0, most = 0;

	for (uint64_t at = 0; at < 3 * DAY && count < 63; at += step) {
		struct algo_time t = {start + at, wall};
		struct algo_outcome outcome;

		for (;; passed[count++] = at) {
			algo_step(n, state, &t, 1, &outcome);
			if (!outcome.allowed || count == 63)
				break;
			state = outcome.state;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		while (passed[i] - passed[first] >= hours * 60 * MIN)
			first++;
		if (i - first + 1 > most)
			most = i - first + 1;
	}
	return most;
}

static void test_zones(struct arena *arena)
{
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		struct limit_spec spec = {.name = "l"};
		struct model *model = models_model(arena, &spec, 1);
		struct model_rate *rate = &model->limits[0].rates[0];
		char expect[256], *aloud;
		struct image *image;
		uint64_t zone[2];
		bool built = zones[i].standard_s == zones[i].summer_s
				     ? zone_fixed(zones[i].standard_s, zone)
				     : zone_rule(zones[i].standard_s, zones[i].summer_s, &march, &october,
						 zone);

		if (!ok(built && algo_calendar_window(10, DAY, zones[i].align, zone, &rate->numbers),
			"a calendar"))
			continue;
		rate->zone = text_of(zones[i].zone);
		image = models_compile(model);
		aloud = image ? policy_read_aloud(image) : NULL;
		snprintf(expect, sizeof expect, "l: every request, by client address: %s\n", zones[i].words);
		is_str(aloud, expect, zones[i].words);
		if (i == 0) {
			/* the day when clocks are set forward has 23 hours: a day and night can reach into three */
			is_u64(most_in_spring(&rate->numbers, 23), 20, "20 in 23 hours");
			is_u64(most_in_spring(&rate->numbers, 24), 30, "but 30 in 24");
		}
		free(aloud);
		free(image);
	}
}

/* ---- what is no rate -------------------------------------------------------------------------------- */

static const struct {
	const char *words, *aloud;
} spoken[] = {
	{"concurrent: 2", "at most 2 at the same time"},
	{"concurrent: 2, queue: 5", "at most 2 at the same time; up to 5 wait up to 10 s"},
	{"concurrent: 2, queue: 1, wait: 1.5s", "at most 2 at the same time; up to 1 waits up to 1.5 s"},
	{"concurrent: 0", "every request is refused"},
	{"bandwidth: 1MiB/s", "1 MiB/s per response"},
	{"bandwidth: 1MiB/s after 500KiB", "1 MiB/s per response after the first 500 KiB"},
	{"bandwidth: 1500KB/s after 1234B", "1.5 MB/s per response after the first 1.234 KB"},
	{"bandwidth: 12345B/s after 12GiB", "12.345 KB/s per response after the first 12 GiB"},
	{"bandwidth: 1234567B/s", "1234.567 KB/s per response"},
	{"total: 10MiB/s", "10 MiB at once, then 10 MiB/s for all responses together"},
	{"total: 5KiB/s", "64 KiB at once, then 5 KiB/s for all responses together"},
	{"rate: 5/min, count: failures",
	 "5 at once, then one every 12 s; at most 9 in any minute; counts only failures (400 to 499)"},
	{"rate: 5/min, count: successes, failure: [401, 5xx]",
	 "5 at once, then one every 12 s; at most 9 in any minute; counts only successes (no 401, no 5xx)"},
	{"rate: 5/min, count: successes",
	 "5 at once, then one every 12 s; at most 9 in any minute; counts only successes (no 4xx, no 5xx)"},
	{"rate: 5/min, count: successes, failure: [200-204, 300, 450-510]",
	 "5 at once, then one every 12 s; at most 9 in any minute; counts only successes (no 200 to 204, no "
	 "300, no 450 to 499, no 5xx)"},
	{"rate: 5/min, on_full: allow", "5 at once, then one every 12 s; at most 9 in any minute; new keys "
					"pass uncounted while the table is full"},
	{"rate: 5/min, on_full: deny", "5 at once, then one every 12 s; at most 9 in any minute; new keys "
				       "are refused while the table is full"},
	{"rate: 5/min, concurrent: 2, bandwidth: 1KiB/s",
	 "5 at once, then one every 12 s; at most 9 in any minute; and at most 2 at the same time; and 1 "
	 "KiB/s per "
	 "response"},
};

static void test_spoken(void)
{
	for (size_t i = 0; i < sizeof spoken / sizeof *spoken; i++) {
		char text[256], expect[512], *aloud;
		struct policy policy;

		snprintf(text, sizeof text, "limits: {l: {match: POST /l, %s}}", spoken[i].words);
		snprintf(expect, sizeof expect, "l: POST /l, by client address: %s\n", spoken[i].aloud);
		policy_load(&(struct policy_options){.path = "p.yaml", .text = text, .wall = 1700000000},
			    &policy);
		aloud = policy.image ? policy_read_aloud(policy.image) : NULL;
		is_str(aloud, expect, spoken[i].words);
		free(aloud);
		policy_free(&policy);
	}
}

static void test_limits(struct arena *arena)
{
	static const struct limit_spec specs[] = {
		{.name = "login", .clauses = {"POST /login"}, .rates = {5}},
		{.name = "hourly", .rates = {20, 1000}},
		{.name = "watched", .rates = {5}, .mode = IMAGE_SHADOW},
		{.name = "off", .rates = {5}, .mode = IMAGE_DISABLED},
		{.name = "site", .rates = {5}},
		{.name = "chain", .rates = {5}},
		{.name = "pair", .rates = {5}},
		{.name = "net", .rates = {5}},
	};
	struct model *model = models_model(arena, specs, sizeof specs / sizeof *specs);
	struct image_key_part parts[] = {{.kind = IMAGE_KEY_HEADER},
					 {.kind = IMAGE_KEY_IP, .bits4 = 32, .bits6 = 64},
					 {.kind = IMAGE_KEY_PATH, .alternative = 1}};
	struct text names[] = {TEXT("x-api-key"), {"", 0}, {"", 0}};
	struct image *image;
	char *aloud;

	model->limits[0].count_denied = true;
	model->limits[4].key[0].kind = IMAGE_KEY_SITE;
	model->limits[5].key = model->limits[6].key = parts;
	model->limits[5].key_names = model->limits[6].key_names = names;
	model->limits[5].key_count = 2;
	model->limits[5].missing = IMAGE_MISSING_DENY;
	model->limits[6].key_count = 3;
	model->limits[7].key[0].bits4 = 24;
	model->limits[7].key[0].bits6 = 56;
	image = models_compile(model);
	if (!ok(image != NULL, "a policy of many kinds"))
		return;
	aloud = policy_read_aloud(image);
#define FIVE "5 at once, then one every 12 s; at most 9 in any minute"
	is_str(aloud,
	       "login: POST /login, by client address: " FIVE "; refused requests count too\n"
	       "hourly: every request, by client address: 20 at once, then one every 3 s; at most 39 in any "
	       "minute; and "
	       "1000 at once, then one every 3.6 s; at most 1999 in any hour\n"
	       "watched: every request, by client address: " FIVE "; in shadow mode: counted, never refused\n"
	       "off: every request, by client address: " FIVE "; disabled\n"
	       "site: every request, for the whole site together: " FIVE "\n"
	       "chain: every request, by header x-api-key, else client address: " FIVE
	       "; requests without a key are refused\n"
	       "pair: every request, by (header x-api-key, else client address) and path: " FIVE "\n"
	       "net: every request, by client network (IPv4 /24, IPv6 /56): " FIVE "\n",
	       "is read out line by line");
	free(aloud);
	free(image);
	image = models_compile(models_model(arena, specs, 0));
	aloud = image ? policy_read_aloud(image) : NULL;
	is_str(aloud, "no limits: every request passes\n", "and so is an empty one");
	free(aloud);
	free(image);
}

int main(void)
{
	struct arena arena = {0};

	if (setjmp(arena.out_of_memory))
		return 1;
	test_numbers(&arena);
	test_zones(&arena);
	test_spoken();
	test_limits(&arena);
	arena_free(&arena);
	return done_testing();
}
