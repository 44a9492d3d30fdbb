/* SPDX-License-Identifier: BSD-2-Clause */
/* report_manner: what a limit does with who is over it, for comparing it with what it did: no counter changes by it, and clients feel it. */
#ifndef WEIR_POLICY_REPORT_MANNER_H
#define WEIR_POLICY_REPORT_MANNER_H

#include "policy/image.h"

/* "in force; who is over it gets no answer": mode, percent, cost, over, then, instead. The caller frees it; NULL: out of memory. */
char *report_manner(const struct image *image, const struct image_limit *limit);

#endif
