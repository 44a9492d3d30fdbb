/* SPDX-License-Identifier: BSD-2-Clause */
/* suggest: optimal string alignment distance, on short words only. */
#include "policy/suggest.h"

#define LONGEST 64

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(struct text a, struct text b)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (unsigned j = 0; j <= b.size; j++)
		last[j] = j;
	for (unsigned i = 1; i <= a.size; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= b.size; j++) {
			char x = text_lower(a.data[i - 1]), y = text_lower(b.data[j - 1]);
			row[j] = least(least(row[j - 1], last[j]) + 1, last[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == text_lower(b.data[j - 2]) &&
			    text_lower(a.data[i - 2]) == y)
				row[j] = least(row[j], before[j - 2] + 1);
		}
		unsigned *free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return last[b.size];
}

struct suggest suggest_begin(struct text wrong)
{
	size_t third = wrong.size / 3;
	return (struct suggest){wrong, {0}, third < 1 ? 2 : third < 4 ? (unsigned)third + 1 : 4};
}

/* `longer` is `shorter` and something more. */
static bool begins(struct text longer, struct text shorter, size_t least_size)
{
	return shorter.size >= least_size && longer.size > shorter.size &&
	       text_equal_folded(shorter, (struct text){longer.data, shorter.size});
}

void suggest_offer(struct suggest *suggest, struct text candidate)
{
	struct text wrong = suggest->wrong;
	size_t apart = wrong.size > candidate.size ? wrong.size - candidate.size
						   : candidate.size - wrong.size;

	if (wrong.size == 0 || wrong.size > LONGEST || candidate.size > LONGEST)
		return;
	bool extends = begins(candidate, wrong, 3) || begins(wrong, candidate, 4);
	if (apart >= suggest->distance && !extends)
		return;
	unsigned found = distance(wrong, candidate);
	if (extends && found > 1)
		found = 1;
	if (found < suggest->distance && found < candidate.size) {
		suggest->distance = found;
		suggest->best = candidate;
	}
}
