/* SPDX-License-Identifier: BSD-2-Clause */
/* publish: what publisher, reader and report share. Inside the layer only. */
#ifndef WEIR_POLICY_PUBLISH_H
#define WEIR_POLICY_PUBLISH_H

#include "policy/policy.h"

/* Reads <table>.policy into memory of its own and checks it, whatever its generation and rows. */
enum weir_error publish_read(struct table *table, struct policy_image **out, char *why, size_t size);
/* Are the rows that the image names in the ledger, and those of its counters? */
bool publish_rows_stand(struct table *table, const struct image *image);
/* Fills counts and words of the report. `old` may be NULL. Words are cut at a whole line. */
void publish_tell(const struct image *old, const struct image *fresh, struct publish_report *report);

#endif
