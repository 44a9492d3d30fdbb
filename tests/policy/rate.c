/* SPDX-License-Identifier: BSD-2-Clause */
/* rate: every spelling of a rate and a duration, and what they come to. */
#include "policy/rate.h"

#include <stdlib.h>

#include "tests/tap.h"

#define S   RATE_NS_S
#define DAY RATE_NS_DAY

static const struct {
	const char *text;
	uint32_t count;
	uint64_t period_ns;
	uint32_t at_once;
	bool single;
	const char *name;
} rates[] = {
	{"50/s", 50, S, 50, true, "s"},
	{"5r/s", 5, S, 5, true, "s"},
	{"5R/S", 5, S, 5, true, "s"},
	{"5r/m", 5, 60 * S, 5, true, "min"},
	{"10/sec", 10, S, 10, true, "s"},
	{"10 / seconds", 10, S, 10, true, "s"},
	{"5 per minute", 5, 60 * S, 5, true, "min"},
	{"5 per 1 minute", 5, 60 * S, 5, true, "min"},
	{"5 requests per minute", 5, 60 * S, 5, true, "min"},
	{"5 req/min", 5, 60 * S, 5, true, "min"},
	{"100/15min", 100, 900 * S, 100, false, "15min"},
	{"100/15mins", 100, 900 * S, 100, false, "15min"},
	{"10/5s", 10, 5 * S, 10, false, "5s"},
	{"10/500ms", 10, S / 2, 10, false, "500ms"},
	{"1000/hour", 1000, 3600 * S, 1000, true, "hour"},
	{"24/24h", 24, DAY, 24, false, "24hour"},
	{"10/day", 10, DAY, 10, true, "day"},
	{"10/2day", 10, 2 * DAY, 10, false, "2day"},
	{"1/week", 1, 7 * DAY, 1, true, "week"},
	{"1/w", 1, 7 * DAY, 1, true, "week"},
	{"7/month", 7, UINT64_C(2629746) * S, 7, true, "month"},
	{"1/year", 1, UINT64_C(31556952) * S, 1, true, "year"},
	{"12 years of nothing", 0, 0, 0, false, NULL},
	/* fractions, in lowest terms; at once: the next whole number */
	{"0.5/s", 1, 2 * S, 1, false, "s"},
	{"1.5/s", 3, 2 * S, 2, false, "s"},
	{"2.0/s", 2, S, 2, true, "s"},
	{"0.001/s", 1, 1000 * S, 1, false, "s"},
	{"0.125/s", 1, 8 * S, 1, false, "s"},
	{"333.333/s", 333333, 1000 * S, 334, false, "s"},
	{"0/s", 0, S, 0, true, "s"},
	{"0.000/s", 0, S, 0, true, "s"},
	{"1000000000/year", 1000000000, UINT64_C(31556952) * S, 1000000000, true, "year"},
	/* what is none */
	{"", 0, 0, 0, false, NULL},
	{"5", 0, 0, 0, false, NULL},
	{"5/", 0, 0, 0, false, NULL},
	{"/s", 0, 0, 0, false, NULL},
	{"5//s", 0, 0, 0, false, NULL},
	{"5/0s", 0, 0, 0, false, NULL},
	{"5/m", 0, 0, 0, false, NULL},
	{"5/mo", 0, 0, 0, false, NULL},
	{"5/x", 0, 0, 0, false, NULL},
	{"5.0001/s", 0, 0, 0, false, NULL},
	{"5./s", 0, 0, 0, false, NULL},
	{".5/s", 0, 0, 0, false, NULL},
	{"1e3/s", 0, 0, 0, false, NULL},
	{"0x10/s", 0, 0, 0, false, NULL},
	{"1_000/s", 0, 0, 0, false, NULL},
	{"-5/s", 0, 0, 0, false, NULL},
	{"+5/s", 0, 0, 0, false, NULL},
	{"5/-1s", 0, 0, 0, false, NULL},
	{"5 per", 0, 0, 0, false, NULL},
	{"5 permin", 0, 0, 0, false, NULL},
	{"5/s/s", 0, 0, 0, false, NULL},
	{"unlimited", 0, 0, 0, false, NULL},
	{"10 distinct ip/s", 0, 0, 0, false, NULL},
	{"1000000001/s", 0, 0, 0, false, NULL},
	{"99999999999999999999/s", 0, 0, 0, false, NULL},
	{"5/1000001s", 0, 0, 0, false, NULL},
	{"5/99999999999999999999s", 0, 0, 0, false, NULL},
	{"1/1000000year", 0, 0, 0, false, NULL},
	{"0.001/300year", 0, 0, 0, false, NULL},
};

static const struct {
	const char *text;
	uint64_t ns; /* 0: none */
} durations[] = {
	{"3s", 3 * S},
	{"500ms", S / 2},
	{"15min", 900 * S},
	{"1.5 s", S + S / 2},
	{"0.001s", S / 1000},
	{"2 hours", 7200 * S},
	{"400d", 400 * DAY},
	{"401d", 0},
	{"0s", 0},
	{"0.5ms", 0},
	{"3", 0},
	{"3m", 0},
	{"s", 0},
	{"", 0},
	{"3s4", 0},
	{"99999999999999999999s", 0},
};

int main(void)
{
	struct arena arena = {0};
	char why[320], what[128];

	if (setjmp(arena.out_of_memory))
		abort();
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
		struct rate rate = {0};
		why[0] = '\0';
		bool good = rate_parse(&arena, text_of(rates[i].text), &rate, why, sizeof why);
		snprintf(what, sizeof what, "'%s' is %s", rates[i].text, rates[i].name ? "a rate" : "none");
		ok(good == (rates[i].name != NULL), what);
		if (!rates[i].name) {
			ok(why[0] != '\0', "and it is said why");
			continue;
		}
		snprintf(what, sizeof what, "'%s': count, period, at once, unit", rates[i].text);
		ok(rate.count == rates[i].count && rate.period_ns == rates[i].period_ns &&
			   rate.at_once == rates[i].at_once && rate.single == rates[i].single &&
			   text_equal(rate.name, text_of(rates[i].name)),
		   what);
	}
	for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
		uint64_t ns = 0;
		duration_parse(text_of(durations[i].text), &ns, why, sizeof why);
		snprintf(what, sizeof what, "the duration '%s'", durations[i].text);
		is_u64(ns, durations[i].ns, what);
	}
	arena_free(&arena);
	return done_testing();
}
