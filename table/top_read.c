/* SPDX-License-Identifier: BSD-2-Clause */
/* top_read: all processes' sketches added up. Entries change while they are read: one that has changed hands is left out. */
#include <stdlib.h>

#include "table/atomic.h"
#include "table/handle.h"
#include "table/top.h"

#define SECOND UINT64_C(1000000000)

struct piece { /* of one sketch */
	struct top_row row;
	uint64_t least; /* what a key that is not in that sketch may have asked */
};

static bool read_entry(const struct top_entry *entry, bool old, struct piece *out)
{
	const uint64_t *from = (const uint64_t *)entry;
	uint64_t version = atomic_get(&entry->version);
	uint64_t words[sizeof *entry / sizeof(uint64_t)] = {0};
	struct top_entry is;
	struct top_row *row = &out->row;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = atomic_get(&from[i]);
	memcpy(&is, words, sizeof is);
	if (is.slot == 0 || atomic_get(&entry->version) != version || atomic_get(&entry->slot) != is.slot)
		return false;
	uint32_t asked = (uint32_t)is.counts, error = (uint32_t)is.further,
		 refused = (uint32_t)(is.counts >> 32), sure = asked > error ? asked - error : 0;
	uint8_t size = (uint8_t)(is.about >> 48);
	uint16_t share = (uint16_t)(is.about >> 32);
	*row = (struct top_row){
		.slot = is.slot,
		.last = is.last,
		.asked = asked,
		.error = asked - sure,
		.refused = refused < sure ? refused : sure,
		.before = is.further >> 32,
		.before_refused = (uint32_t)is.old,
		.generation = (uint32_t)(is.old >> 32),
		.limit = (uint32_t)is.about & 0xffffff,
		.plan = (uint8_t)(is.about >> 24),
		.share = share < TOP_FULL ? share : TOP_FULL,
		.name_size = size < TOP_NAME_MAX ? size : TOP_NAME_MAX,
	};
	if (row->before_refused > row->before)
		row->before_refused = row->before;
	memcpy(row->name, is.name, row->name_size);
	if (old) { /* of the epoch before: it has not been aged, since nothing was counted since */
		row->before = sure;
		row->before_refused = row->refused;
		row->asked = row->error = row->refused = 0;
	}
	return true;
}

/* Adds the entries of one sketch to `out`; returns how many. */
static size_t read_area(const struct top_area *area, uint64_t epoch, struct piece *out, struct top_sum *sum,
			uint64_t *began, uint64_t *least)
{
	uint64_t is = atomic_get(&area->epoch), requests, before, since;
	bool old = is + 1 == epoch;
	size_t count = 0;

	*least = 0;
	if (is == 0 || (is != epoch && !old))
		return 0;
	requests = atomic_get(&area->requests);
	before = old ? requests : atomic_get(&area->before);
	since = atomic_get(&area->began);
	for (size_t i = 0; i < TOP_KEYS; i++)
		count += read_entry(&area->entries[i], old, &out[count]);
	if (atomic_get(&area->epoch) != is)
		return 0;
	sum->requests += old ? 0 : requests;
	sum->before += before;
	if (since < *began)
		*began = since;
	for (size_t i = 0; count == TOP_KEYS && i < count; i++)
		*least = i == 0 || out[i].row.asked < *least ? out[i].row.asked : *least;
	for (size_t i = 0; i < count; i++)
		out[i].least = *least;
	return count;
}

static int by_slot(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	if (x->row.slot != y->row.slot)
		return x->row.slot < y->row.slot ? -1 : 1;
	return x->row.last < y->row.last ? 1 : x->row.last > y->row.last ? -1 : 0; /* the latest first */
}

static void add(struct top_row *to, const struct top_row *row)
{
	to->asked += row->asked;
	to->error += row->error;
	to->refused += row->refused;
	to->before += row->before;
	to->before_refused += row->before_refused;
	if (!to->name_size && row->name_size) {
		to->name_size = row->name_size;
		memcpy(to->name, row->name, sizeof to->name);
	}
}

bool top_there(const struct table *table)
{
	return table->tops != NULL;
}

size_t top_read(struct table *table, uint64_t now, struct top_row **out, struct top_sum *sum)
{
	uint64_t epoch = now / TOP_EPOCH_NS + 1, began = now, lost = 0, least;
	struct piece *pieces = NULL;
	size_t count = 0, room = 0, rows = 0;

	*out = NULL;
	*sum = (struct top_sum){.window_ns = SECOND};
	for (uint32_t i = 0; table->tops && i < table->process_slots; i++) {
		if (room < count + TOP_KEYS) {
			struct piece *more = realloc(pieces, 2 * (count + TOP_KEYS) * sizeof *pieces);
			if (!more)
				break;
			pieces = more;
			room = 2 * (count + TOP_KEYS);
		}
		count += read_area(&table->tops[i], epoch, pieces + count, sum, &began, &least);
		lost += least;
	}
	if (now - began > SECOND && now > began)
		sum->window_ns = now - began < 2 * TOP_EPOCH_NS ? now - began : 2 * TOP_EPOCH_NS;
	if (count)
		qsort(pieces, count, sizeof *pieces, by_slot);
	*out = count ? malloc(count * sizeof **out) : NULL;
	for (size_t i = 0, unseen = 0; *out && i < count; i++) {
		if (i == 0 || pieces[i].row.slot != pieces[i - 1].row.slot) {
			(*out)[rows++] = pieces[i].row;
			unseen = lost;
		} else {
			add(&(*out)[rows - 1], &pieces[i].row);
		}
		/* what the sketches that do not have it may have lost */
		unseen -= pieces[i].least < unseen ? pieces[i].least : unseen;
		if (i + 1 == count || pieces[i + 1].row.slot != pieces[i].row.slot) {
			(*out)[rows - 1].asked += unseen;
			(*out)[rows - 1].error += unseen;
		}
	}
	free(pieces);
	return rows;
}
