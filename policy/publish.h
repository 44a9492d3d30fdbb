/* SPDX-License-Identifier: BSD-2-Clause */
/* publish: what publisher, reader and report share. Inside the layer only. */
#ifndef WEIR_POLICY_PUBLISH_H
#define WEIR_POLICY_PUBLISH_H

#include "policy/policy.h"
#include "table/ledger.h"

/* Reads <table>.policy into memory of its own and checks it, whatever its generation and rows. */
enum weir_error publish_read(struct table *table, struct policy_image **out, char *why, size_t size);
/* Are the rows that the image names in the ledger, and those of its counters? */
bool publish_rows_stand(struct table *table, const struct image *image);
struct publish_row {	  /* that an image needs */
	uint32_t counter; /* index; UINT32_MAX: of a whole limit, or of the operator */
	struct text name; /* whose statistics it has part in */
	uint16_t flags;
	bool main;     /* the one by which the counter is known */
	uint32_t plan; /* as in the ledger */
	uint64_t identity;
	struct algo_numbers numbers;
	uint32_t *row;	/* where the image has its number */
	uint32_t *stat; /* ... and its statistics index; NULL: nowhere */
};
/* Calls `visit` for every row until it says false; false then. The image is changed only by `visit`. */
bool publish_rows_each(struct image *image, bool (*visit)(const struct publish_row *row, void *context),
		       void *context);
/* The number that rows of a plan have in the ledger, but for their billing day; never 0. */
uint32_t publish_plan(struct text name);
/* Which limits are tried from now on (table/trial.h). */
void publish_trials(struct table *table, const struct image *image);
/* Fills counts and words of the report. `old` may be NULL. `known`: which counters of `fresh` an earlier policy had, and
 * the ledger has not forgotten. Words are cut at a whole line; "": no counter is affected. */
void publish_tell(const bool *known, const struct image *old, const struct image *fresh,
		  struct publish_report *report);

#endif
