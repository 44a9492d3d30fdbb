/* SPDX-License-Identifier: BSD-2-Clause */
/* sketch: reading and choosing. */
#include "cli/sketch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"

static uint64_t sure(const struct top_row *row)
{
	return row->asked - row->error;
}

bool sketch_read(struct sketch *sketch, const struct live *live)
{
	struct top_row *rows = NULL;
	size_t count;
	*sketch = (struct sketch){.now = live->now.now};
	count = top_read(live->table, live->now.now, &rows, &sketch->sum);
	sketch->rows = calloc(count + 1, sizeof *sketch->rows);
	if (!sketch->rows) {
		free(rows);
		out_failure(WEIR_NO_MEMORY, NULL);
		return false;
	}
	double seconds = (double)sketch->sum.window_ns / 1e9;
	for (size_t i = 0; i < count; i++) {
		struct sketch_row *to = &sketch->rows[sketch->count++];
		to->row = rows[i];
		to->limit = rows[i].generation == (uint32_t)live->image->generation &&
					    rows[i].limit < live->image->limits.count
				    ? rows[i].limit
				    : UINT32_MAX;
		to->rate = (double)(sure(&rows[i]) + rows[i].before) / seconds;
		to->refused_rate = (double)(rows[i].refused + rows[i].before_refused) / seconds;
	}
	free(rows);
	return true;
}

void sketch_free(struct sketch *sketch)
{
	free(sketch->rows);
	sketch->rows = NULL;
	sketch->count = 0;
}

/* How many since then: in the same epoch, or over its end. */
static double between(uint64_t now, uint64_t before, uint64_t then, bool same)
{
	uint64_t total = same ? now : before + now;
	return total > then ? (double)(total - then) : 0;
}

void sketch_since(struct sketch *sketch, const struct sketch *before)
{
	double seconds = (double)(sketch->now - before->now) / 1e9;
	bool same = sketch->now / TOP_EPOCH_NS == before->now / TOP_EPOCH_NS;
	if (before->now == 0 || sketch->now <= before->now ||
	    sketch->now / TOP_EPOCH_NS > before->now / TOP_EPOCH_NS + 1)
		return;
	/* both are by slot, as they were read */
	for (size_t i = 0, k = 0; i < sketch->count && before->count; i++) {
		struct sketch_row *is = &sketch->rows[i];
		while (k < before->count && before->rows[k].row.slot < is->row.slot)
			k++;
		if (k == before->count)
			break;
		const struct top_row *was = &before->rows[k].row;
		if (was->slot != is->row.slot)
			continue;
		is->rate = between(sure(&is->row), is->row.before, sure(was), same) / seconds;
		is->refused_rate = between(is->row.refused, is->row.before_refused, was->refused, same) /
				   seconds;
	}
}

static int busiest(const void *a, const void *b)
{
	const struct sketch_row *x = a, *y = b;
	return x->rate < y->rate ? 1 : x->rate > y->rate ? -1 : 0;
}

static int limited(const void *a, const void *b)
{
	const struct sketch_row *x = a, *y = b;
	return x->refused_rate < y->refused_rate ? 1 : x->refused_rate > y->refused_rate ? -1 : busiest(a, b);
}

static int nearest(const void *a, const void *b)
{
	const struct sketch_row *x = a, *y = b;
	return x->row.share != y->row.share ? y->row.share - x->row.share : busiest(a, b);
}

void sketch_choose(struct sketch *sketch, enum sketch_order order, uint32_t limit)
{
	size_t kept = 0;
	for (size_t i = 0; i < sketch->count; i++) {
		const struct sketch_row *row = &sketch->rows[i];
		if ((limit != UINT32_MAX && row->limit != limit) ||
		    (order == SKETCH_LIMITED && row->row.refused + row->row.before_refused == 0) ||
		    (order == SKETCH_NEAREST && row->row.share < SKETCH_NEAR))
			continue;
		sketch->rows[kept++] = *row;
	}
	sketch->count = kept;
	if (kept)
		qsort(sketch->rows, kept, sizeof *sketch->rows,
		      order == SKETCH_LIMITED	? limited
		      : order == SKETCH_NEAREST ? nearest
						: busiest);
}

const char *sketch_name(const struct sketch_row *row, char *out, size_t size)
{
	if (row->row.name_size)
		out_escape((struct text){row->row.name, row->row.name_size}, out, size);
	else
		snprintf(out, size, "@%016llx", (unsigned long long)row->row.slot);
	return out;
}

struct text sketch_limit(const struct live *live, const struct sketch_row *row)
{
	return row->limit == UINT32_MAX
		       ? TEXT("(of an older policy)")
		       : image_text(live->image, image_limit_at(live->image, row->limit)->name);
}

struct text sketch_plan(const struct live *live, const struct sketch_row *row)
{
	const struct image_plan *plans = image_at(live->image, live->image->plans.offset);
	return row->limit == UINT32_MAX || row->row.plan >= live->image->plans.count
		       ? TEXT("")
		       : image_text(live->image, plans[row->row.plan].name);
}

json_t *sketch_json(const struct live *live, const struct sketch_row *row)
{
	char name[TOP_NAME_MAX * 4 + 4];
	struct text plan = sketch_plan(live, row);
	return json_pack("{s:s, s:b, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:I}", "key",
			 sketch_name(row, name, sizeof name), "named", row->row.name_size != 0, "limit",
			 out_own(sketch_limit(live, row)), "plan", plan.size ? out_own(plan) : json_null(),
			 "asked", (json_int_t)row->row.asked, "error", (json_int_t)row->row.error, "refused",
			 (json_int_t)row->row.refused, "before", (json_int_t)row->row.before,
			 "before_refused", (json_int_t)row->row.before_refused, "rate", row->rate,
			 "refused_rate", row->refused_rate, "share", (double)row->row.share / TOP_FULL,
			 "last_at", (json_int_t)live_wall_at(live, row->row.last));
}
