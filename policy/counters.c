/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters: compile the rates of limits, and say who each counter is.
 *
 * An identity is a hash of what a counter must keep through an edit: name space, name of the limit, its key,
 * and the unit where a limit has several rates, or the word (concurrent) if it is none. Numbers are not part of
 * it, so counters outlive any edit of them. The hash key is public and fixed: identities are compared across
 * processes and publications, and whoever could steer them writes the policy anyway.
 */
#include <stdlib.h>

#include "policy/compile.h"
#include "table/siphash.h"
#include "table/table.h"

static const struct siphash_key identity_key = {UINT64_C(0x7765697220706f6c), UINT64_C(0x6963792076310000)};

/* Each part with its length before it, so that no two lists of parts are the same bytes. */
uint64_t compile_identity(struct arena *arena, const struct text *parts, size_t count)
{
	size_t size = 0, used = 0;
	char *bytes;

	for (size_t i = 0; i < count; i++)
		size += sizeof(uint64_t) + parts[i].size;
	bytes = arena_alloc(arena, size);
	for (size_t i = 0; i < count; i++) {
		uint64_t length = parts[i].size;

		memcpy(bytes + used, &length, sizeof length);
		used += sizeof length;
		if (parts[i].size > 0)
			memcpy(bytes + used, parts[i].data, parts[i].size);
		used += parts[i].size;
	}
	return siphash_2_4(&identity_key, bytes, size).lo;
}

uint64_t compile_key_identity(struct text key_text)
{
	return siphash_2_4(&identity_key, key_text.data, key_text.size).lo;
}

/* How the counters of a limit are told apart, those of all its plans together: so the same unit is the same counter. */
struct naming {
	bool units; /* one of its plans, or the limit itself, has several rates, or one of another period than the others:
		     * in one counter, a share used would recover as fast as whoever asked last says */
	bool words; /* ... or several counters */
};

/* What stands behind a limit's own counters does not make it one of several. */
static bool stands_behind(uint32_t what)
{
	return what == IMAGE_NEW_KEYS || what == IMAGE_USAGE;
}

static void look_at(struct naming *naming, uint64_t *period_ns, const struct model_rate *rates, size_t count)
{
	size_t several = 0, own = 0;

	for (size_t i = 0; i < count; i++) {
		several += rates[i].what == IMAGE_RATE;
		if (rates[i].what == IMAGE_RATE) {
			naming->units |= *period_ns != 0 && *period_ns != rates[i].period_ns;
			*period_ns = rates[i].period_ns;
		}
		own += !stands_behind(rates[i].what);
	}
	naming->units |= several > 1;
	naming->words |= own > 1;
}

static struct image_span put_counters(struct compiler *c, const struct model_limit *limit,
				      const struct model_rate *rates, size_t count,
				      const struct naming *naming, uint32_t number)
{
	const struct image *image = builder_at(&c->builder, 0);
	struct image_span span = {image->counters.offset +
					  c->next_counter * (uint32_t)sizeof(struct image_counter),
				  (uint32_t)count};

	for (size_t i = 0; i < count; i++) {
		const struct model_rate *rate = &rates[i];
		/* a lone rate is the limit itself, whatever stands beside it; the others say what they are */
		struct text unit = rate->what != IMAGE_RATE || naming->units ? rate->unit
									     : (struct text){NULL, 0};
		struct text name = naming->words || stands_behind(rate->what)
					   ? arena_format(&c->arena, "%.*s/%.*s", (int)limit->name.size,
							  limit->name.data, (int)rate->unit.size,
							  rate->unit.data)
					   : limit->name;
		struct text parts[] = {text_of(c->name_space), limit->was.size ? limit->was : limit->name,
				       unit, limit->key_text};
		struct image_span days = builder_span(&c->builder, rate->by_day ? ALGO_BILLING_DAYS : 0,
						      sizeof(uint32_t));
		struct image_counter counter = {
			.identity = compile_identity(&c->arena, parts, sizeof parts / sizeof *parts),
			.row = TABLE_ROW_NONE,
			.queue_row = TABLE_ROW_NONE,
			.limit = number,
			.numbers = rate->numbers,
			.name = builder_text(&c->builder, name),
			.window_ns = rate->what == IMAGE_CONCURRENT || rate->what == IMAGE_BANDWIDTH
					     ? 0
					     : algo_window_ns(&rate->numbers),
			.capacity = rate->most ? rate->most : model_capacity(&rate->numbers),
			.what = rate->what,
			.queue = rate->queue,
			.wait_ns = rate->wait_ns,
			.bytes_per_s = rate->bytes_per_s,
			.free_bytes = rate->free_bytes,
			.zone = builder_text(&c->builder, rate->zone),
			.written = builder_text(&c->builder, rate->written),
			.asker = rate->asker,
			.seen_row = TABLE_ROW_NONE,
			.new_bits4 = rate->new_bits4,
			.new_bits6 = rate->new_bits6,
			.seen = rate->seen,
			.soft = rate->soft,
			.day_rows = days,
		};

		((struct image_counter *)builder_at(&c->builder, span.offset))[i] = counter;
		for (uint32_t day = 0; day < days.count; day++)
			((uint32_t *)builder_at(&c->builder, days.offset))[day] = TABLE_ROW_NONE;
	}
	c->next_counter += span.count;
	return span;
}

struct image_span compile_counters(struct compiler *c, const struct model_limit *limit, uint32_t number,
				   struct image_span *variants)
{
	struct naming naming = {false, false};
	struct image_span own;
	uint64_t period_ns = 0;

	look_at(&naming, &period_ns, limit->rates, limit->rate_count);
	for (size_t i = 0; i < limit->variant_count; i++)
		look_at(&naming, &period_ns, limit->variants[i].rates, limit->variants[i].rate_count);
	own = put_counters(c, limit, limit->rates, limit->rate_count, &naming, number);
	*variants = builder_span(&c->builder, limit->variant_count, sizeof(struct image_variant));
	for (size_t i = 0; i < limit->variant_count; i++) {
		const struct model_variant *from = &limit->variants[i];
		struct image_variant out = {.plan = from->plan, .how = from->how};

		if (from->how == IMAGE_VARIANT_NUMBERS)
			out.counters = put_counters(c, limit, from->rates, from->rate_count, &naming, number);
		((struct image_variant *)builder_at(&c->builder, variants->offset))[i] = out;
	}
	return own;
}

size_t compile_counter_count(const struct model_limit *limit)
{
	size_t count = limit->rate_count;

	for (size_t i = 0; i < limit->variant_count; i++)
		if (limit->variants[i].how == IMAGE_VARIANT_NUMBERS)
			count += limit->variants[i].rate_count;
	return count;
}

uint32_t compile_hits(const struct model_limit *limit)
{
	size_t most = limit->rate_count, behind = 0;

	for (size_t i = 0; i < limit->rate_count; i++)
		behind += stands_behind(limit->rates[i].what);
	for (size_t i = 0; i < limit->variant_count; i++)
		if (limit->variants[i].rate_count + behind > most)
			most = limit->variants[i].rate_count + behind;
	return (uint32_t)most;
}

struct owner {
	uint64_t identity;
	uint32_t limit;
	uint32_t set; /* 0: the limit's own counters; else of a plan, which has the same identities */
	const struct model_rate *rate;
};

static int by_identity(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;

	if (a->identity != b->identity)
		return a->identity < b->identity ? -1 : 1;
	if (a->limit != b->limit)
		return a->limit < b->limit ? -1 : 1;
	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	return a->rate < b->rate ? -1 : a->rate > b->rate;
}

static size_t own(struct owner *owners, size_t used, const struct image_counter *counters,
		  const struct model_rate *rates, size_t count, uint32_t set)
{
	for (size_t i = 0; i < count; i++)
		owners[used + i] = (struct owner){counters[used + i].identity, counters[used + i].limit, set,
						  &rates[i]};
	return used + count;
}

void compile_check_identities(struct compiler *c)
{
	const struct model *model = c->model;
	const struct image *image = builder_at(&c->builder, 0);
	const struct image_counter *counters = builder_at(&c->builder, image->counters.offset);
	struct owner *owners = arena_alloc(&c->arena, (image->counters.count + 1) * sizeof *owners);
	size_t count = 0;

	/* as compile_counters put them down */
	for (size_t i = 0; i < model->limit_count; i++) {
		const struct model_limit *limit = &model->limits[i];

		count = own(owners, count, counters, limit->rates, limit->rate_count, 0);
		for (uint32_t k = 0; k < limit->variant_count; k++)
			if (limit->variants[k].how == IMAGE_VARIANT_NUMBERS)
				count = own(owners, count, counters, limit->variants[k].rates,
					    limit->variants[k].rate_count, k + 1);
	}
	if (count > 1)
		qsort(owners, count, sizeof *owners, by_identity);
	for (size_t i = 1; i < count; i++) {
		const struct model_limit *first = &model->limits[owners[i - 1].limit];
		const struct model_limit *second = &model->limits[owners[i].limit];
		const struct model_rate *rate = owners[i].rate;

		if (owners[i].identity != owners[i - 1].identity ||
		    (first == second && owners[i].set != owners[i - 1].set))
			continue;
		if (first == second)
			compile_refuse(
				c, rate->mark,
				"limit '%.*s' has two rates with the unit '%.*s'; one of them is enough",
				(int)second->name.size, second->name.data, (int)rate->unit.size,
				rate->unit.data);
		compile_refuse(c, second->mark,
			       "limit '%.*s' would share its counters with limit '%.*s'; they have the same "
			       "name (or former "
			       "name) and key",
			       (int)second->name.size, second->name.data, (int)first->name.size,
			       first->name.data);
	}
}
