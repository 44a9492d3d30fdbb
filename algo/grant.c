/* SPDX-License-Identifier: BSD-2-Clause */
/* grant: a window begun by whoever gives. */
#include "algo/grant.h"

#include "algo/window.h"

bool grant_numbers(struct algo_numbers *out)
{
	return algo_fixed_window(ALGO_COUNT_MAX, GRANT_NS_MAX, ALGO_FIRST_REQUEST, out);
}

bool grant_is(const struct algo_numbers *n)
{
	return n->kind == ALGO_FIXED_WINDOW && n->align == ALGO_FIRST_REQUEST && n->scale == GRANT_NS_MAX &&
	       n->capacity == ALGO_COUNT_MAX;
}

uint64_t grant_word(const struct algo_numbers *n, uint64_t units, uint64_t until)
{
	if (units > GRANT_UNITS_MAX)
		units = GRANT_UNITS_MAX;
	return window_word(n, until, n->capacity - units);
}

uint64_t grant_left(const struct algo_numbers *n, uint64_t word, uint64_t now)
{
	if (now >= window_end(n, word))
		return 0;
	uint64_t spent = window_count(n, word);
	return spent < n->capacity ? n->capacity - spent : 0;
}
