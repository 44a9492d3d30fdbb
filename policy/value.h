/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value: scalars as what a word needs. Each returns false after a finding (or if the node already had one)
 * and leaves *out alone. `what` names the word in the message. Numbers, dates and flags may stand in quotes.
 */
#ifndef WEIR_POLICY_VALUE_H
#define WEIR_POLICY_VALUE_H

#include "policy/yaml.h"

bool value_text(struct load *load, const struct node *node, const char *what, struct text *out);
/* One line for people: line ends and tabs become blanks. */
bool value_line(struct load *load, const struct node *node, const char *what, struct text *out);
/* A name: 1 to 64 letters, digits, '-', '_', '.', beginning with a letter or digit. `mark` is where it
 * stands. */
bool value_name(struct load *load, struct text text, struct model_mark mark, const char *what);
bool value_number(struct load *load, const struct node *node, const char *what, uint32_t min, uint32_t max,
		  uint32_t *out);
/* 1000000 as "1,000,000", in the arena. */
const char *value_grouped(struct load *load, uint32_t number);
/* yes no on off true false, as YAML 1.1 has them; `y` and `n` are not taken. */
bool value_flag(struct load *load, const struct node *node, const char *what, bool *out);
bool value_duration(struct load *load, const struct node *node, const char *what, uint64_t *ns);
/* 2027-01-01, 2027-01-01T18:30:00Z (a blank for the T; seconds may be left out): seconds since 1970, UTC. */
bool value_date(struct load *load, const struct node *node, const char *what, int64_t *out);

/* A scalar, or each item of a list: calls `visit` for every scalar. Something else is a finding. An empty
 * list too. */
void value_each(struct load *load, const struct node *node, const char *what,
		void (*visit)(struct load *load, const struct node *item, void *context), void *context);

/* Without blanks at its ends. */
struct text value_trim(struct text text);

#endif
