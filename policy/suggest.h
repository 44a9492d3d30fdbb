/* SPDX-License-Identifier: BSD-2-Clause */
/* suggest: which word was probably meant. */
#ifndef WEIR_POLICY_SUGGEST_H
#define WEIR_POLICY_SUGGEST_H

#include "policy/text.h"

struct suggest {
	struct text wrong;
	struct text best;
	unsigned distance; /* of `best` */
};

/* Begin with the misspelt word, offer the candidates, read `best`: empty if none is near enough. Near is: at
 * most a third of the letters differ (counting insertions, deletions, substitutions and swaps of neighbours,
 * with case folded), or one word is the beginning of the other. */
struct suggest suggest_begin(struct text wrong);
void suggest_offer(struct suggest *suggest, struct text candidate);

#endif
