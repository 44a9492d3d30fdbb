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
/* Flags of the rows of the limit's counters. */
static inline uint16_t publish_flags(const struct image_limit *limit)
{
	return (uint16_t)(limit->on_full | LEDGER_QUOTA(limit->quota));
}
/* The places in the queue of a concurrent counter are held like those in flight, under a row of their own: who they
 * are, and how many. False: it has no queue. */
static inline bool publish_queue(const struct image_counter *counter, uint64_t *identity,
				 struct algo_numbers *numbers)
{
	uint32_t places = counter->queue < ALGO_LOG_MAX ? counter->queue : ALGO_LOG_MAX;

	*identity = counter->identity ^ UINT64_C(0x7175657565); /* "queue" */
	return counter->what == IMAGE_CONCURRENT && places && algo_concurrent(places, numbers);
}
/* Fills counts and words of the report. `old` may be NULL. `known`: which counters of `fresh` an earlier policy had, and
 * the ledger has not forgotten. Words are cut at a whole line; "": no counter is affected. */
void publish_tell(const bool *known, const struct image *old, const struct image *fresh,
		  struct publish_report *report);

#endif
