/* SPDX-License-Identifier: BSD-2-Clause */
/* include: the files a policy names, and one tree of all of them. */
#ifndef WEIR_POLICY_INCLUDE_H
#define WEIR_POLICY_INCLUDE_H

#include "policy/yaml.h"

/* Reads the source and everything it includes, and joins them into *root (a mapping, maybe without words).
 * What could not be read is missing in it, with a finding each. */
void include_all(struct load *load, const struct source *source, struct node *root);

#endif
