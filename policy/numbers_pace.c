/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers_pace: how fast responses may be sent: each by itself, and all of a key. */
#include "policy/bytes.h"
#include "policy/numbers.h"
#include "policy/value.h"

#define KIB		  UINT64_C(1024)
#define TOTAL_AT_ONCE_KIB 64u /* at least: what a server hands on in one piece */

/* A bandwidth in range; false after a finding. */
static bool read_bytes(struct numbers *n, const struct node *node, const char *word, uint64_t *bytes_per_s,
		       uint64_t *free_bytes)
{
	struct text text;
	char why[256];

	if (!value_line(n->load, node, word, &text))
		return false;
	if (!bytes_rate_parse(text, bytes_per_s, free_bytes, why, sizeof why))
		diag_error(n->load, node->mark, "%s", why);
	else if (*bytes_per_s < IMAGE_BYTES_MIN)
		diag_error(n->load, node->mark,
			   "'%s' is at least 1KiB/s; to send nothing at all, refuse with concurrent: 0",
			   word);
	else if (!free_bytes && *bytes_per_s > IMAGE_TOTAL_MAX)
		diag_error(n->load, node->mark, "'%s' is at most 1000000KiB/s", word);
	else
		return true;
	return false;
}

/* A bucket of KiB. A whole number of them in a few seconds is exact; where that is more than a bucket takes, a
 * little less than was said is. */
static bool build_total(uint64_t bytes_per_s, struct algo_numbers *out)
{
	uint64_t seconds = 1, at_once = (bytes_per_s + KIB - 1) / KIB;

	while (bytes_per_s * seconds % KIB != 0 && bytes_per_s * seconds * 2 / KIB <= ALGO_BURST_MAX)
		seconds *= 2;
	if (at_once < TOTAL_AT_ONCE_KIB)
		at_once = TOTAL_AT_ONCE_KIB;
	return algo_token_bucket((uint32_t)(bytes_per_s * seconds / KIB), seconds * RATE_NS_S,
				 (uint32_t)at_once, out);
}

void numbers_pace_read(struct numbers *n)
{
	struct model_limit *limit = n->limit;
	struct model_rate each = {.unit = TEXT("bandwidth"), .what = IMAGE_BANDWIDTH},
			  all = {.unit = TEXT("total"), .what = IMAGE_TOTAL};

	if (n->total && read_bytes(n, n->total, "total", &all.bytes_per_s, NULL) &&
	    build_total(all.bytes_per_s, &all.numbers)) {
		all.mark = n->total->mark;
		limit->rates[limit->rate_count++] = all;
	}
	/* last, so that it finds its limit's statistics before it (publish.c) */
	if (n->bandwidth && read_bytes(n, n->bandwidth, "bandwidth", &each.bytes_per_s, &each.free_bytes)) {
		each.mark = n->bandwidth->mark;
		limit->rates[limit->rate_count++] = each;
	}
	if (limit->rate_count > 1 && n->bandwidth && n->total && each.mark.file && all.mark.file &&
	    all.bytes_per_s < each.bytes_per_s &&
	    !(numbers_inherited(n, n->bandwidth) && numbers_inherited(n, n->total)))
		diag_warning(n->load, all.mark,
			     "'bandwidth' is more than 'total', which holds for a single response too: it "
			     "never acts");
}
