/* SPDX-License-Identifier: BSD-2-Clause */
/* counter: a look at the table, charging nothing. */
#include "cli/counter.h"

#include <stdio.h>
#include <string.h>

#include "cli/out.h"

static json_t *duration(uint64_t ns)
{
	return ns == ALGO_NEVER ? json_null() : json_integer((json_int_t)ns);
}

static void add(json_t *out, const char *name, uint64_t number)
{
	json_object_set_new(out, name, json_integer((json_int_t)number));
}

json_t *counter_name_json(const struct live *live, const struct flow_hit *hit)
{
	static const char *const WHAT[] = {
		[IMAGE_RATE] = "rate",	 [IMAGE_CONCURRENT] = "concurrent", [IMAGE_BANDWIDTH] = "bandwidth",
		[IMAGE_TOTAL] = "total", [IMAGE_NEW_KEYS] = "new_keys",	    [IMAGE_USAGE] = "usage"};
	const struct image_counter *counter = image_counter_at(live->image, hit->counter);
	return json_pack("{s:o, s:s}", "name", out_own(image_text(live->image, counter->name)), "what",
			 WHAT[counter->what]);
}

/* Of what a variable says nobody knows the figures that follow from it. */
static void varied(json_t *out, const struct image_counter *counter, const struct table_look *look,
		   const struct algo_report *now, const struct live *live)
{
	json_t *by = json_array();
	if (counter->asker & IMAGE_ASKER_RATE)
		json_array_append_new(by, json_string("rate"));
	if (counter->asker & IMAGE_ASKER_BURST)
		json_array_append_new(by, json_string("burst"));
	json_object_set_new(out, "by_variable", by);
	if (!(counter->asker & IMAGE_ASKER_RATE)) /* in thousandths of a request */
		add(out, "used",
		    (algo_excess(&look->numbers, look->state, live->now.now, false) + 999) / 1000);
	json_object_set_new(out, "full_ns", duration(now->full_ns));
}

json_t *counter_json(const struct live *live, const struct flow *flow, const struct flow_hit *hit)
{
	const struct image_counter *counter = image_counter_at(live->image, hit->counter);
	bool holds = counter->what == IMAGE_CONCURRENT || hit->count != IMAGE_COUNT_ALL;
	uint32_t cost = counter->what == IMAGE_RATE ? hit->cost : 1;
	json_t *out = counter_name_json(live, hit);
	uint32_t row = hit->row != TABLE_ROW_NONE ? hit->row : counter->row; /* for its plan, billing day */
	struct table_look look;
	struct algo_report now;
	if (counter->what == IMAGE_BANDWIDTH || counter->what == IMAGE_TOTAL)
		add(out, "bytes_per_s", counter->bytes_per_s);
	if (counter->what == IMAGE_BANDWIDTH) { /* of each response by itself: no counter */
		add(out, "free_bytes", counter->free_bytes);
		return out;
	}
	if (holds)
		table_peek_held(live->table, &hit->key, row, &live->now, cost, &look);
	else
		table_peek(live->table, &hit->key, row, &live->now, cost, &look);
	table_describe(&look, &live->now, cost, false, &now);
	if (counter->asker) {
		varied(out, counter, &look, &now, live);
		return out;
	}
	json_object_update_new(out, json_pack("{s:b, s:I, s:I, s:I, s:o, s:o}", "fits", look.allowed, "limit",
					      (json_int_t)now.limit, "remaining", (json_int_t)now.remaining,
					      "cost", (json_int_t)cost, "wait_ns", duration(now.wait_ns),
					      "full_ns", duration(now.full_ns)));
	if (holds)
		add(out, "held", look.held);
	else if (look.allowed && !table_peek_room(live->table, &hit->key, row, &live->now))
		json_object_set_new(
			out, "no_room",
			json_string(table_on_full(live->table, row) == TABLE_DENY ? "deny" : "allow"));
	if (counter->queue) {
		add(out, "queue", counter->queue);
		add(out, "waiting", flow_hit_waiting(flow, hit));
	}
	return out;
}

static unsigned long long number(const json_t *counter, const char *name)
{
	return (unsigned long long)json_integer_value(json_object_get(counter, name));
}

static bool is(const json_t *counter, const char *what)
{
	const char *is = json_string_value(json_object_get(counter, "what"));
	return is && strcmp(is, what) == 0;
}

bool counter_has_time(const json_t *counter)
{
	return !is(counter, "bandwidth") && !is(counter, "concurrent");
}

const char *counter_words(const json_t *counter, char *out, size_t size)
{
	unsigned long long limit = number(counter, "limit"), held = number(counter, "held");
	int used;
	if (is(counter, "bandwidth")) {
		used = snprintf(out, size, "%llu bytes a second, each response",
				number(counter, "bytes_per_s"));
		if (number(counter, "free_bytes"))
			snprintf(out + used, size - (size_t)used, ", after %llu bytes",
				 number(counter, "free_bytes"));
	} else if (is(counter, "concurrent")) {
		used = snprintf(out, size, "%llu of %llu in flight", held, limit);
		if (number(counter, "queue"))
			snprintf(out + used, size - (size_t)used, ", %llu of %llu waiting",
				 number(counter, "waiting"), number(counter, "queue"));
	} else if (json_object_get(counter, "by_variable")) {
		if (json_object_get(counter, "used"))
			snprintf(out, size, "%llu used, burst by variable", number(counter, "used"));
		else
			snprintf(out, size, "%s, rate by variable",
				 number(counter, "full_ns") ? "in use" : "nothing used");
	} else {
		used = snprintf(out, size, "%llu of %llu%s left", number(counter, "remaining"), limit,
				is(counter, "total") ? " KiB" : "");
		const char *no_room = json_string_value(json_object_get(counter, "no_room"));
		if (held)
			snprintf(out + used, size - (size_t)used, ", %llu reserved", held);
		else if (no_room)
			snprintf(out + used, size - (size_t)used, ", but no room in the table: %s",
				 strcmp(no_room, "deny") == 0 ? "refused" : "passes uncounted");
	}
	return out;
}
