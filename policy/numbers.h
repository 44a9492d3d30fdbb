/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers: what the files share that read how much a limit lets through. Inside the layer only. */
#ifndef WEIR_POLICY_NUMBERS_H
#define WEIR_POLICY_NUMBERS_H

#include "policy/load.h"
#include "policy/rate.h"

struct numbers {
	struct load *load;
	struct model_limit *limit;
	const struct node *
		base; /* NULL; or the limit that these numbers take the place of: what they do not say is its */
	/* the words of the limit; NULL where one is not said */
	const struct node *rate, *algorithm, *burst, *queue, *at_once, *wait, *align;
	const struct node *concurrent, *bandwidth, *total;
	bool words_known;	     /* no word of the limit is misspelt */
	int kind;		     /* ALGO_NONE: each rate's own default */
	int alignment;		     /* -1: each rate's own default */
	struct text zone;	     /* of `align: calendar ZONE`, "" UTC */
	uint64_t clocks[2];	     /* of the zone */
	bool kinds[ALGO_KIND_COUNT]; /* that occur */
};

/* Does it hold from the base? Then it gives way where it does not go with the rest. */
static inline bool numbers_inherited(const struct numbers *numbers, const struct node *word)
{
	for (size_t i = 0; word && numbers->base && i < numbers->base->count; i++)
		if (word == &numbers->base->pairs[i].value)
			return true;
	return false;
}

/* alignment, zone and clocks, from `align`. */
void numbers_align_read(struct numbers *numbers);
/* How windows of this rate are aligned; false after a finding. */
bool numbers_align(struct numbers *numbers, const struct rate *rate, enum algo_align *out);

/* The numbers of one rate, counted in this way, that stands at `mark`; false after a finding. */
bool numbers_build(struct numbers *numbers, const struct rate *rate, enum algo_kind kind,
		   struct model_mark mark, struct model_rate *out);

/* "10 distinct body.username/hour": is it such a rate? Then *text is what is left, "10/hour", and the limit knows of what. */
bool distinct_read(struct numbers *numbers, const struct node *item, struct text *text);
/* `seen` of such a rate, whose numbers are built; false after a finding. */
bool distinct_build(struct numbers *numbers, const struct rate *rate, struct model_mark mark,
		    struct model_rate *out);
/* Appends what `concurrent` (with queue and wait), `bandwidth` and `total` say to the limit's rates. */
void numbers_concurrent_read(struct numbers *numbers);
void numbers_pace_read(struct numbers *numbers);

#endif
