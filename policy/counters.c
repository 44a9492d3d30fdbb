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
static uint64_t hash_parts(struct arena *arena, const struct text *parts, size_t count)
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

struct image_span compile_counters(struct compiler *c, const struct model_limit *limit, uint32_t number)
{
	const struct image *image = builder_at(&c->builder, 0);
	size_t rates = 0,
	       own = 0; /* what stands behind its own counters does not make the limit one of several */
	struct image_span span = {image->counters.offset +
					  c->next_counter * (uint32_t)sizeof(struct image_counter),
				  (uint32_t)limit->rate_count};

	for (size_t i = 0; i < limit->rate_count; i++) {
		rates += limit->rates[i].what == IMAGE_RATE;
		own += limit->rates[i].what != IMAGE_NEW_KEYS && limit->rates[i].what != IMAGE_USAGE;
	}
	for (size_t i = 0; i < limit->rate_count; i++) {
		const struct model_rate *rate = &limit->rates[i];
		/* a lone rate is the limit itself, whatever stands beside it; the others say what they are */
		struct text unit = rate->what != IMAGE_RATE || rates > 1 ? rate->unit
									 : (struct text){NULL, 0};
		bool extra = rate->what == IMAGE_NEW_KEYS || rate->what == IMAGE_USAGE;
		struct text name = own > 1 || extra ? arena_format(&c->arena, "%.*s/%.*s",
								   (int)limit->name.size, limit->name.data,
								   (int)rate->unit.size, rate->unit.data)
						    : limit->name;
		struct text parts[] = {text_of(c->name_space), limit->was.size ? limit->was : limit->name,
				       unit, limit->key_text};
		struct image_counter counter = {
			.identity = hash_parts(&c->arena, parts, sizeof parts / sizeof *parts),
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
		};

		((struct image_counter *)builder_at(&c->builder, span.offset))[i] = counter;
	}
	c->next_counter += span.count;
	return span;
}

struct owner {
	uint64_t identity;
	size_t limit, rate;
};

static int by_identity(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;

	if (a->identity != b->identity)
		return a->identity < b->identity ? -1 : 1;
	if (a->limit != b->limit)
		return a->limit < b->limit ? -1 : 1;
	return a->rate < b->rate ? -1 : a->rate > b->rate;
}

void compile_check_identities(struct compiler *c)
{
	const struct image *image = builder_at(&c->builder, 0);
	const struct image_counter *counters = builder_at(&c->builder, image->counters.offset);
	uint32_t count = image->counters.count;
	struct owner *owners = arena_alloc(&c->arena, (count + 1) * sizeof *owners);

	for (uint32_t i = 0; i < count; i++) {
		const struct image_limit *limit = image_limit_at(image, counters[i].limit);

		owners[i] = (struct owner){counters[i].identity, counters[i].limit,
					   i - (limit->counters.offset - image->counters.offset) /
							   sizeof(struct image_counter)};
	}
	if (count > 1)
		qsort(owners, count, sizeof *owners, by_identity);
	for (uint32_t i = 1; i < count; i++) {
		const struct model_limit *first = &c->model->limits[owners[i - 1].limit];
		const struct model_limit *second = &c->model->limits[owners[i].limit];
		const struct model_rate *rate = &second->rates[owners[i].rate];

		if (owners[i].identity != owners[i - 1].identity)
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
