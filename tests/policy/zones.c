/* SPDX-License-Identifier: BSD-2-Clause */
/* zones: which rates are understood, and what an image of nginx's zones says of each: who its counters are, in what
 * words. */
#include "policy/zones.h"

#include <stdlib.h>

#include "policy/match.h"
#include "table/table.h"
#include "tests/policy/zone_specs.h"

static const struct {
	const char *text;
	uint32_t count;
	uint64_t period_ns;
	bool nginx, cut;
} rates[] = {
	/* nginx's own */
	{"2r/s", 2, S, true, false},
	{"1r/m", 1, 60 * S, true, false},
	{"30r/m", 30, 60 * S, true, false},
	{"30", 30, S, true, false},
	{"007r/s", 7, S, true, false},
	{"1000r/s", 1000, S, true, false},
	{"1000", 1000, S, true, false},
	{"60000r/m", 60000, 60 * S, true, false},
	/* nginx takes them, and does not deliver them */
	{"1001r/s", 1001, S, false, false},
	{"60001r/m", 60001, 60 * S, false, false},
	{"1000000r/s", 1000000, S, false, false},
	{"60000000r/m", 60000000, 60 * S, false, false},
	/* nginx takes them, and nobody sends so many */
	{"1000001r/s", 1000000, S, false, true},
	{"60000001r/m", 60000000, 60 * S, false, true},
	{"9223372036854775807r/s", 1000000, S, false, true},
	/* nginx has no word for them */
	{"1r/h", 1, 3600 * S, false, false},
	{"100r/d", 100, DAY, false, false},
	{"5r/w", 5, 7 * DAY, false, false},
	{"10r/5s", 10, 5 * S, false, false},
	{"10r/1s", 10, S, false, false},
	{"100r/15m", 100, 15 * 60 * S, false, false},
	{"1r/2h", 1, 7200 * S, false, false},
	{"1r/366d", 1, 366 * DAY, false, false},
	{"1r/52w", 1, 364 * DAY, false, false},
	{"1000000r/1s", 1000000, S, false, false},
	{"1000000000r/1000s", 1000000000, 1000 * S, false, false},
	{"36r/13000d", 36, 13000 * DAY, false, false},
	{"1r/1000000s", 1, 1000000 * S, false, false},
};

static const char *const no_rates[] = {
	"",
	"r/s",
	"0r/s",
	"0",
	"0r/h",
	"-1r/s",
	"+1r/s",
	"1.5r/s",
	" 2r/s",
	"2r/s ",
	"2 r/s",
	"2r/S",
	"2R/s",
	"2/s",
	"2r/",
	"2r/5",
	"2r/0s",
	"2r/-1s",
	"2r/1.5h",
	"2r/y",
	"2r/min",
	"2r/hour",
	"2r/1000001s",
	"1000001r/1s",
	"9223372036854775808r/s",
	"2r/5ss",
	"2r/s5",
	"2rs",
	"1r/367d",
	"1r/53w",
	"37r/13500d",
	"1000000001r/1000000s",
	"2r/\xc2\xb5s",
	"$rate",
	"rate=2r/s",
	"2r/18446744073709551617s",
	"2r/9223372036854775807s",
};

static void test_rates(void)
{
	uint64_t period;
	uint32_t count;
	bool nginx, cut;

	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		struct algo_numbers numbers;

		cut = !rates[i].cut;
		if (!ok(zones_rate(text_of(rates[i].text), &count, &period, &nginx, &cut), rates[i].text))
			continue;
		is_u64(count, rates[i].count, "its count");
		is_u64(period, rates[i].period_ns, "its period");
		ok(nginx == rates[i].nginx, "whether it is counted as nginx does");
		ok(cut == rates[i].cut, "whether it is what was asked for");
		ok(nginx ? algo_limit_req(count, period, 0, 0, &numbers)
			 : algo_limit_req_exact(count, period, 0, 0, &numbers),
		   "can be counted");
	}
	for (size_t i = 0; i < sizeof no_rates / sizeof *no_rates; i++)
		ok(!zones_rate(text_of(no_rates[i]), &count, &period, &nginx, NULL), no_rates[i]);
	ok(!zones_rate((struct text){"2r/s\0", 5}, &count, &period, &nginx, NULL), "a NUL behind it");
	ok(!zones_rate((struct text){NULL, 0}, &count, &period, &nginx, NULL), "nothing at all");
	ok(zones_rate(TEXT("1000001r/s"), &count, &period, &nginx, NULL),
	   "whether it is cut nobody need ask");
	ok(zones_key_is_address(TEXT("$binary_remote_addr")) &&
		   zones_key_is_address(TEXT("${binary_remote_addr}")),
	   "an address in bytes");
	ok(!zones_key_is_address(TEXT("$remote_addr")) &&
		   !zones_key_is_address(TEXT("$binary_remote_addr$uri")) && !zones_key_is_address(TEXT("")),
	   "no other key is");
}

static uint64_t identity(const struct zone_spec *zone)
{
	struct image *image = image_of(zone, 1);
	uint64_t out = image_counter_at(image, 0)->identity;

	free(image);
	return out;
}

static bool text_is(const struct image *image, struct image_text text, const char *expected)
{
	return text_equal(image_text(image, text), text_of(expected));
}

/* One of each kind, with names of every byte that nginx allows. */
static const struct zone_spec several[] = {
	REQ("one", "$binary_remote_addr", "2r/s", 2, S, 5),
	EXACT("daily", "$http_x_api_key", "100r/d", 100, DAY, 0),
	EXACT("plan", "$remote_user$uri", "$plan_rate", 0, 0, 999999),
	CONN("per ip", "$binary_remote_addr", 10),
	CONN("all", "$server_name", 65535),
	REQ("tab\there \\ \x7f \xff \xc3\xa9", "a\nb\0c", "30r/m", 30, 60 * S, 0),
};

static void test_image(void)
{
	static const struct {
		const char *name, *key, *written, *sentence;
		uint32_t what, capacity, kind;
	} expected[] = {
		{"one", "$binary_remote_addr", "2r/s", "one: 2r/s, burst 5, by $binary_remote_addr",
		 IMAGE_RATE, 6, ALGO_LIMIT_REQ},
		{"daily", "$http_x_api_key", "100r/d", "daily: 100r/d, by $http_x_api_key", IMAGE_RATE, 1,
		 ALGO_LIMIT_REQ},
		{"plan", "$remote_user$uri", "$plan_rate",
		 "plan: $plan_rate, burst 999999, by $remote_user$uri", IMAGE_RATE, 1000000, ALGO_LIMIT_REQ},
		{"per ip", "$binary_remote_addr", "",
		 "per ip: 10 connections at the same time, by $binary_remote_addr", IMAGE_CONCURRENT, 10,
		 ALGO_CONCURRENT},
		{"all", "$server_name", "", "all: 65535 connections at the same time, by $server_name",
		 IMAGE_CONCURRENT, 65535, ALGO_CONCURRENT},
		{"tab\\x09here \\x5c \\x7f \xff \xc3\xa9", "a\\x0ab\\x00c", "30r/m",
		 "tab\\x09here \\x5c \\x7f \xff \xc3\xa9: 30r/m, by a\\x0ab\\x00c", IMAGE_RATE, 1,
		 ALGO_LIMIT_REQ},
	};
	size_t count = sizeof several / sizeof *several;
	struct image *image = image_of(several, count), *again = image_of(several, count);
	char why[256] = "", *aloud = policy_read_aloud(image), *line = aloud;
	const struct image_subject subject = {
		.method = IMAGE_METHOD_BIT(GET), .path_folded = TEXT("/"), .path_exact = TEXT("/")};
	struct image_hit hit;

	is_str(image_check(image, image->size, why, sizeof why) ? "sound" : why, "sound",
	       "the image passes its check");
	is_u64(image->kind, IMAGE_OF_ZONES, "it says what it is of");
	is_u64(image->hits_max, 0, "no request meets a zone through the lists");
	is_u64(image_match(image, &subject, &hit, 1), 0, "nor is one found");
	ok(text_is(image, image->source, "/etc/nginx/nginx.conf"), "the source");
	is_u64(image->compiled_at, 1780272000, "when it was made");
	is_u64(image->limits.count, count, "a limit for each zone");
	is_u64(image->counters.count, count, "a counter for each zone");
	ok(image->size == again->size && memcmp(image, again, image->size) == 0,
	   "the same zones are the same bytes");
	for (uint32_t i = 0; i < count; i++) {
		const struct image_limit *limit = image_limit_at(image, i);
		const struct image_counter *counter = image_counter_at(image, i);
		const struct image_key_part *part = image_at(image, limit->key.offset);
		char *end = line ? strchr(line, '\n') : NULL;

		ok(text_is(image, limit->name, expected[i].name), expected[i].name);
		ok(text_is(image, counter->name, expected[i].name), "its counter is called like it");
		is_u64(counter->limit, i, "counter i is of zone i");
		ok(image_at(image, limit->counters.offset) == counter && limit->counters.count == 1,
		   "and the zone's only one");
		is_u64(limit->key.count, 1, "one part of a key");
		is_u64(part->kind, IMAGE_KEY_VAR, "a variable's");
		is_u64(part->name.size, 0, "without a name");
		ok(text_is(image, limit->key_text, expected[i].key), "the key as written");
		is_u64(limit->clauses.count, 0, "no match");
		is_u64(limit->missing, IMAGE_MISSING_SKIP, "an empty key is not counted");
		is_u64(limit->cost, 1, "a request is one");
		is_u64(limit->on_full, TABLE_EVICT, "a full table makes room");
		is_u64(counter->what, expected[i].what, "what it counts");
		is_u64(counter->numbers.kind, expected[i].kind, "and how");
		is_u64(counter->capacity, expected[i].capacity, "how many pass at once");
		ok(text_is(image, counter->written, expected[i].written), "its rate as written");
		if (end)
			*end = '\0';
		is_str(line, expected[i].sentence, "read out");
		line = end ? end + 1 : NULL;
	}
	free(aloud);
	free(again);
	free(image);
}

static void test_identities(void)
{
	static const struct zone_spec base = REQ("one", "$remote_addr", "2r/s", 2, S, 5);
	static const struct {
		const char *what;
		bool same;
		struct zone_spec zone;
	} edits[] = {
		{"another rate", true, REQ("one", "$remote_addr", "3r/s", 3, S, 5)},
		{"another burst", true, REQ("one", "$remote_addr", "2r/s", 2, S, 50)},
		{"a rate that nginx does not know", true,
		 EXACT("one", "$remote_addr", "2r/h", 2, 3600 * S, 5)},
		{"a variable's rate", true, EXACT("one", "$remote_addr", "$rate", 0, 0, 5)},
		{"another line",
		 true,
		 {.name = TEXT("one"),
		  .key = TEXT("$remote_addr"),
		  .rate = TEXT("2r/s"),
		  .nginx = true,
		  .count = 2,
		  .period_ns = S,
		  .burst = 5,
		  .file = "other.conf",
		  .line = 99}},
		{"another name", false, REQ("two", "$remote_addr", "2r/s", 2, S, 5)},
		{"another key", false, REQ("one", "$binary_remote_addr", "2r/s", 2, S, 5)},
		{"connections", false, CONN("one", "$remote_addr", 6)},
		{"the name's end as the key's beginning", false, REQ("one$", "remote_addr", "2r/s", 2, S, 5)},
	};
	/* what is shown alike must not count alike */
	static const struct zone_spec raw = REQ("a\n", "$x", "2r/s", 2, S, 0),
				      escaped = REQ("a\\x0a", "$x", "2r/s", 2, S, 0);
	struct image *mine, *theirs;

	for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
		ok((identity(&base) == identity(&edits[i].zone)) == edits[i].same, edits[i].what);
	ok(identity(&raw) != identity(&escaped), "a newline and the four characters that show it");
	mine = zones_image(&base, 1, "nginx", "/a", 0, NULL, 0);
	theirs = zones_image(&base, 1, "other", "/a", 0, NULL, 0);
	ok(mine && theirs && image_counter_at(mine, 0)->identity != image_counter_at(theirs, 0)->identity,
	   "another name space");
	free(mine);
	free(theirs);
	mine = zones_image(&base, 1, "nginx", "/a", 1, NULL, 0);
	theirs = zones_image(&edits[4].zone, 1, "nginx", "/a", 1, NULL, 0);
	ok(mine && theirs && mine->size == theirs->size && memcmp(mine, theirs, mine->size) == 0,
	   "where a zone stands in the file is no part of the image");
	free(mine);
	free(theirs);
}

static void test_refusals(void)
{
	static const struct {
		const char *why;
		struct zone_spec zones[2];
		size_t count;
	} wrong[] = {
		{"nginx.conf:7: zone 'one' is there twice",
		 {CONN("one", "$a", 1), REQ("one", "$b", "2r/s", 2, S, 0)},
		 2},
		{"nginx.conf:7: zone '' has no name", {REQ("", "$a", "2r/s", 2, S, 0)}, 1},
		{"nginx.conf:7: zone 'x' has numbers that are out of range together",
		 {REQ("x", "$a", "2r/s", 2, S, ALGO_BURST_MAX)},
		 1},
		{"nginx.conf:7: zone 'x' has numbers that are out of range together",
		 {REQ("x", "$a", "1001r/s", 1001, S, 0)},
		 1},
		{"nginx.conf:9: zone 'x' has numbers that are out of range together",
		 {CONN("x", "$a", 65536)},
		 1},
		{"/etc/nginx.conf:0: zone 'x' has numbers that are out of range together",
		 {{.name = TEXT("x"), .key = TEXT("$a"), .count = 2, .period_ns = 0}},
		 1},
	};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char why[256] = "";

		ok(!zones_image(wrong[i].zones, wrong[i].count, "nginx", "/etc/nginx.conf", 0, why,
				sizeof why),
		   "refused");
		is_str(why, wrong[i].why, "and said why");
		ok(!zones_image(wrong[i].zones, wrong[i].count, "nginx", "/etc/nginx.conf", 0, NULL, 0),
		   "or not asked");
	}
}

static void test_many(void)
{
	size_t count = IMAGE_HITS_MAX + 100;
	struct zone_spec *zones = calloc(count, sizeof *zones);
	char(*names)[16] = calloc(count, sizeof *names), why[256] = "";
	struct image *image;

	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof names[i], "zone%zu", i);
		zones[i] = (struct zone_spec)CONN("", "$a", 3);
		zones[i].name = text_of(names[i]);
	}
	image = image_of(zones, count);
	ok(image_check(image, image->size, why, sizeof why),
	   "more zones than one request of a policy may meet");
	free(image);
	image = image_of(zones, 0);
	ok(image_check(image, image->size, why, sizeof why) && image->limits.count == 0, "and none at all");
	free(image);
	free(zones);
	free(names);
}

int main(void)
{
	test_rates();
	test_image();
	test_identities();
	test_refusals();
	test_many();
	return done_testing();
}
