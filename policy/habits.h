/* SPDX-License-Identifier: BSD-2-Clause */
/* habits: the words of other limiters. Inside the layer only. */
#ifndef WEIR_POLICY_HABITS_H
#define WEIR_POLICY_HABITS_H

#include "policy/words.h"

/* What to write instead of that word of a section; NULL: it is nobody's habit. */
const char *habits_word(enum word_section section, struct text name);
/* What to say of that value of the word `of`, as the end of a sentence; NULL as above. */
const char *habits_value(const char *of, struct text text);

#endif
