/* SPDX-License-Identifier: BSD-2-Clause */
/* counter: a look at the table, charging nothing. */
#include "cli/counter.h"

#include "cli/out.h"

static json_t *duration(uint64_t ns)
{
	return ns == ALGO_NEVER ? json_null() : json_integer((json_int_t)ns);
}

json_t *counter_name_json(const struct live *live, const struct flow_hit *hit)
{
	const struct image_counter *counter = image_counter_at(live->image, hit->counter);
	return json_pack("{s:o}", "name", out_own(image_text(live->image, counter->name)));
}

json_t *counter_json(const struct live *live, const struct flow_hit *hit)
{
	const struct image_counter *counter = image_counter_at(live->image, hit->counter);
	json_t *out = counter_name_json(live, hit);
	struct table_look look;
	struct algo_report now;
	table_peek(live->table, &hit->key, counter->row, &live->now, hit->cost, &look);
	algo_describe(&look.numbers, look.state, &live->now, hit->cost, false, &now);
	json_object_update_new(out, json_pack("{s:b, s:I, s:I, s:I, s:o, s:o}", "fits", look.allowed, "limit",
					      (json_int_t)now.limit, "remaining", (json_int_t)now.remaining,
					      "cost", (json_int_t)hit->cost, "wait_ns", duration(now.wait_ns),
					      "full_ns", duration(now.full_ns)));
	return out;
}
