/* SPDX-License-Identifier: BSD-2-Clause */
/* sketch: who asks most (table/top.h), with the limits' names and rates, for `weir top` and `weir shadow report`. */
#ifndef WEIR_CLI_SKETCH_H
#define WEIR_CLI_SKETCH_H

#include <jansson.h>

#include "cli/live.h"
#include "table/top.h"

#define SKETCH_NEAR 800u /* thousandths of a limit: `near` begins here */

enum sketch_order { SKETCH_BUSIEST, SKETCH_LIMITED, SKETCH_NEAREST };
struct sketch_row {
	struct top_row row;
	uint32_t limit;		   /* index; UINT32_MAX: an older policy's, whose limits have other numbers */
	double rate, refused_rate; /* a second, at least; over the window */
};
struct sketch {
	struct sketch_row *rows;
	size_t count;
	struct top_sum sum;
	uint64_t now; /* table time */
};
/* False: out of memory, after saying so. sketch_free is needed either way. */
bool sketch_read(struct sketch *sketch, const struct live *live);
void sketch_free(struct sketch *sketch);
/* The rates since an earlier look, where both know the key. */
void sketch_since(struct sketch *sketch, const struct sketch *before);
/* Only keys of this limit (UINT32_MAX: all) that are limited, or near it, by the order; sorted. */
void sketch_choose(struct sketch *sketch, enum sketch_order order, uint32_t limit);

/* The key as it may be shown: escaped; without a name its digest. At least TOP_NAME_MAX * 4 + 1 bytes; returns `out`. */
const char *sketch_name(const struct sketch_row *row, char *out, size_t size);
struct text sketch_limit(const struct live *live, const struct sketch_row *row);
/* Its plan; "" none, or not known any more. */
struct text sketch_plan(const struct live *live, const struct sketch_row *row);
/* {key, named, limit, plan, asked, error, refused, before, before_refused, rate, refused_rate, share, last_at} */
json_t *sketch_json(const struct live *live, const struct sketch_row *row);

#endif
