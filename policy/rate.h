/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rate: how a policy writes rates and durations.
 *
 *   rate      N/unit  N/Munit  N per unit        N: up to three decimals; also "5r/s", "5 requests/s"
 *   duration  Nunit                              "3s", "15min", "500ms"
 *   unit      ms · s sec second · min minute · h hour · d day · w week · month · y year, and their plurals
 *
 * A month and a year have their mean Gregorian length (30.436875 and 365.2425 days) wherever a length is
 * needed: in a bucket's refill and in reading out. A window of one month or year ends with the calendar's.
 */
#ifndef WEIR_POLICY_RATE_H
#define WEIR_POLICY_RATE_H

#include "algo/algo.h"
#include "policy/arena.h"

#define RATE_NS_S   UINT64_C(1000000000)
#define RATE_NS_DAY (UINT64_C(86400) * RATE_NS_S)

enum rate_unit { RATE_MS, RATE_S, RATE_MIN, RATE_HOUR, RATE_DAY, RATE_WEEK, RATE_MONTH, RATE_YEAR };

struct rate {
	uint32_t count; /* "0.5/s" is 1 per 2 s: lowest terms */
	uint64_t period_ns;
	uint32_t at_once; /* N as written, rounded up: what a reader expects to pass at once */
	enum rate_unit unit;
	bool single;	  /* the period is exactly one unit */
	struct text name; /* "s", "15min" */
};

/* Reads `text`. False with a sentence in why: what is wrong and what to write. */
bool rate_parse(struct arena *arena, struct text text, struct rate *out, char *why, size_t size);
/* Reads a duration of 1 ms to 400 days. */
bool duration_parse(struct text text, uint64_t *ns, char *why, size_t size);
/* Digits with at most three decimals from the beginning of *rest, as thousandths; *rest is then what follows. False:
 * none, too many, or too large. */
bool rate_decimal(struct text *rest, uint64_t *thousandths);

#endif
