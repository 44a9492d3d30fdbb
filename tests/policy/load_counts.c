/* SPDX-License-Identifier: BSD-2-Clause */
/* load_counts: what is in flight, how fast answers go and which of them count: read back from the image. */
#include "tests/policy/loaded.h"

#define S UINT64_C(1000000000)

static const struct {
	const char *words;
	uint32_t what, capacity, queue;
	uint64_t wait_ns, bytes_per_s, free_bytes;
	const char *name;
} places[] = {
	{"concurrent: 2", IMAGE_CONCURRENT, 2, 0, 0, 0, 0, "a"},
	{"concurrent: 2, queue: 5", IMAGE_CONCURRENT, 2, 5, 10 * S, 0, 0, "a"},
	{"concurrent: 2, queue: 5, wait: 1.5s", IMAGE_CONCURRENT, 2, 5, 3 * S / 2, 0, 0, "a"},
	{"concurrent: 2, queue: 5, wait: 1hour", IMAGE_CONCURRENT, 2, 5, 3600 * S, 0, 0, "a"},
	{"rate: 5/s, concurrent: 2, queue: 5", IMAGE_CONCURRENT, 2, 5, 10 * S, 0, 0, "a/concurrent"},
	{"bandwidth: 1MiB/s", IMAGE_BANDWIDTH, 0, 0, 0, 1 << 20, 0, "a"},
	{"bandwidth: 1MiB/s after 500KiB", IMAGE_BANDWIDTH, 0, 0, 0, 1 << 20, 500 << 10, "a"},
	{"bandwidth: 1.5MB/s after 1.5KB", IMAGE_BANDWIDTH, 0, 0, 0, 1500000, 1500, "a"},
	{"bandwidth: 1m after 500k", IMAGE_BANDWIDTH, 0, 0, 0, 1 << 20, 500 << 10, "a"},
	{"bandwidth: 2g", IMAGE_BANDWIDTH, 0, 0, 0, UINT64_C(2) << 30, 0, "a"},
	{"bandwidth: 1M/s", IMAGE_BANDWIDTH, 0, 0, 0, 1 << 20, 0, "a"},
	{"bandwidth: 3 kB per second", IMAGE_BANDWIDTH, 0, 0, 0, 3000, 0, "a"},
	{"concurrent: 3, bandwidth: 1024B/s", IMAGE_BANDWIDTH, 0, 0, 0, 1024, 0, "a/bandwidth"},
	{"total: 2MB/s", IMAGE_TOTAL, 1954, 0, 0, 2000000, 0, "a"},
	{"rate: 5/s, total: 1KiB/s", IMAGE_TOTAL, 64, 0, 0, 1024, 0, "a/total"},
};

static void check_places(void)
{
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const struct image_limit *got = limit(places[i].words);
		const struct image_counter *counter = (const struct image_counter *)image_at(
							      policy.image, got->counters.offset) +
						      got->counters.count - 1;
		ok(counter->what == places[i].what && counter->capacity == places[i].capacity &&
			   counter->queue == places[i].queue && counter->wait_ns == places[i].wait_ns &&
			   counter->bytes_per_s == places[i].bytes_per_s &&
			   counter->free_bytes == places[i].free_bytes &&
			   text_equal(image_text(policy.image, counter->name), text_of(places[i].name)),
		   places[i].words);
	}
}

/* A total is never faster than it says, and slower by less than one part in a thousand. */
static void check_totals(void)
{
	static const uint64_t rates[] = {1024,	   1025,      1000000,	  1234567,
					 99999999, 123456789, 1000000000, 1023999999};
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		char words[64];
		snprintf(words, sizeof words, "total: %" PRIu64 "B/s", rates[i]);
		const struct image_limit *got = limit(words);
		const struct image_counter *counter = image_at(policy.image, got->counters.offset);
		const struct algo_numbers *n = &counter->numbers;
		/* scale is units per ns, Q64; a token is a KiB */
		double per_s = (double)n->scale / 18446744073709551616.0 * 1e9 * 1024 /
			       (double)(UINT64_C(1) << n->shift);
		ok(per_s <= (double)rates[i] * 1.000001 && per_s >= (double)rates[i] * 0.999, words);
	}
}

static const struct {
	const char *words;
	uint16_t count, on_full;
	const char *failures;
} answers[] = {
	{"rate: 5/s", IMAGE_COUNT_ALL, TABLE_EVICT, ""},
	{"rate: 5/s, count: all, on_full: allow", IMAGE_COUNT_ALL, TABLE_ALLOW, ""},
	{"rate: 5/s, count: failures, on_full: deny", IMAGE_COUNT_FAILURES, TABLE_DENY, "400-499"},
	{"rate: 5/s, count: successes", IMAGE_COUNT_SUCCESSES, TABLE_EVICT, "400-499"},
	{"rate: 5/s, count: failures, failure: 401", IMAGE_COUNT_FAILURES, TABLE_EVICT, "401-401"},
	{"rate: 5/s, count: failures, failure: [5xx, 401, 403]", IMAGE_COUNT_FAILURES, TABLE_EVICT,
	 "401-401 403-403 500-599"},
	{"rate: 5/s, count: failures, failure: [402, 401, 400-401]", IMAGE_COUNT_FAILURES, TABLE_EVICT,
	 "400-402"},
	{"rate: 5/s, count: failures, failure: [1xx, 2xx, 3xx, 4xx, 5xx, 404]", IMAGE_COUNT_FAILURES,
	 TABLE_EVICT, "100-599"},
};

static void check_answers(void)
{
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
		const struct image_limit *got = limit(answers[i].words);
		const struct image_statuses *list = image_at(policy.image, got->failures.offset);
		char failures[256] = "";
		for (uint32_t k = 0; k < got->failures.count; k++)
			snprintf(failures + strlen(failures), sizeof failures - strlen(failures), "%s%u-%u",
				 k ? " " : "", list[k].from, list[k].to);
		is_str(failures, answers[i].failures, answers[i].words);
		ok(got->count == answers[i].count && got->on_full == answers[i].on_full, answers[i].words);
	}
}

/* Several numbers have names of their own; a zone's is kept for reading out. */
static void check_names(void)
{
	static const char *const names[] = {"a/s", "a/day", "a/concurrent", "a/total", "a/bandwidth"};
	const struct image_limit *got = limit(
		"rate: [5/s, 100/day], align: calendar Europe/Berlin, concurrent: "
		"2, bandwidth: 1MiB/s, total: 2MiB/s");
	const struct image_counter *own = image_at(policy.image, got->counters.offset);
	is_u64(got->counters.count, 5, "five counters");
	for (uint32_t i = 0; i < 5 && i < got->counters.count; i++)
		ok(text_equal(image_text(policy.image, own[i].name), text_of(names[i])), names[i]);
	ok(own[0].zone.size == 0 && own[0].numbers.align == 0 &&
		   text_equal(image_text(policy.image, own[1].zone), TEXT("Europe/Berlin")),
	   "the window's zone");
	ok(own[1].numbers.zone[0] != 0, "and its clocks");
	got = limit("rate: 5/day, align: calendar UTC");
	own = image_at(policy.image, got->counters.offset);
	ok(own->zone.size == 0 && own->numbers.zone[0] == 0 && own->numbers.zone[1] == 0, "UTC needs none");
}

int main(void)
{
	check_places();
	check_totals();
	check_answers();
	check_names();
	policy_free(&policy);
	return done_testing();
}
