/* SPDX-License-Identifier: BSD-2-Clause */
/* index: where a request finds the clauses that may hold (the lists and tries of image.h), built once while
 * compiling. */
#ifndef WEIR_POLICY_INDEX_H
#define WEIR_POLICY_INDEX_H

#include "policy/builder.h"
#include "policy/pattern.h"

struct index_entry { /* one clause of one enabled limit */
	struct image_candidate candidate;
	uint32_t counters;	    /* of its limit */
	struct text host;	    /* exact host, or "" */
	const struct pattern *path; /* NULL: none */
};

/* Sorts `entries` and fills always, hosts, candidates, folded and exact of the image at offset 0. Returns an
 * upper bound of the counters that one request can meet. */
uint64_t index_build(struct builder *builder, struct index_entry *entries, size_t count);

#endif
